/** What an attempt tells of the path it took: the window moves, a rest begins or ends, mail turns to another path. */
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { BreakerState } from './circuit-breaker.ts'
import type { EgressPath } from './egress-path.ts'
import { restsWhole, type Site } from './site.ts'
import type { SourceIps } from './source-ips.ts'

/** What an attempt told about the path it took. */
export type SiteSignal = 'through' | 'trouble' | 'nothing'

/** Takes note of what an attempt told. @param text its last word, for people */
export type JudgeCongestion = (signal: SiteSignal, text: string) => void

/** As the store has it. */
export interface PathName {
  site: string
  /** Our addresses, as the source has them; empty for all of them. */
  source: string
}

/** What begins to rest. */
export interface OpenBreaker extends PathName {
  pause: BreakerState
  /** What was claimed for the path and not begun is given back. */
  unbegun: ClaimedDelivery[]
  /** No other path leads to the site now. */
  isWhole: boolean
}

export interface CongestionFeedbackOptions {
  sourceIps: Pick<SourceIps, 'sources' | 'isWanted'>
  siteOf(name: string): Site
  /** Takes back what waits on the path. */
  unclaim(path: EgressPath): ClaimedDelivery[]
  onPause(rest: OpenBreaker): void
  /** A path that rested is good again; the delivery showed it. */
  onRecovery(name: PathName, delivery: ClaimedDelivery): void
  /** They were claimed, and are not to be begun now. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void
}

export type RecordFeedback = (
  path: EgressPath,
  delivery: ClaimedDelivery,
  signal: SiteSignal,
  text: string,
) => void

export function createCongestionFeedback(options: CongestionFeedbackOptions): RecordFeedback {
  const { sourceIps, siteOf, unclaim } = options

  /** The domain of what waits there may want it from another source from now on. */
  const turnAway = ({ paths }: Site, path: EgressPath) => {
    const isElsewhere = ({ domain }: ClaimedDelivery) =>
      !sourceIps.isWanted(path.source, domain) &&
      paths.some(({ source, pause }) => !pause.isOn && sourceIps.isWanted(source, domain))
    const unwanted = path.claimed.clear(isElsewhere)
    if (unwanted.length > 0) options.giveBack(unwanted)
  }

  return (path, delivery, signal, text) => {
    if (signal === 'through') {
      path.isProven = true
      const isBack = path.pause.clear()
      if (isBack) path.window.restart()
      path.window.grow()
      if (isBack) options.onRecovery(nameOf(path), delivery)
    } else if (signal === 'trouble') {
      const site = siteOf(path.site)
      path.window.shrink()
      const pause = path.pause.trouble(text)
      if (pause)
        options.onPause({ ...nameOf(path), pause, unbegun: unclaim(path), isWhole: restsWhole(site) })
      else if (site.paths.length > 1) turnAway(site, path)
    }
  }
}

function nameOf({ site, source }: EgressPath): PathName {
  return { site, source: source.name }
}
