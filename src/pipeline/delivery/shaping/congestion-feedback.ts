/**
 * What an attempt tells of the path it took: the window moves, a rest begins or ends, mail turns to another
 * path.
 */
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { BreakerState } from './circuit-breaker.ts'
import type { EgressPath } from './egress-path.ts'
import { allBreakersOpen, type Site } from './site.ts'
import type { SourceIps } from './source-ips.ts'

/** What an attempt told about the path it took. */
export type SiteSignal = 'ok' | 'congested' | 'neutral'

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
  state: BreakerState
  /** What was claimed for the path and not begun is given back. */
  unstarted: ClaimedDelivery[]
  /** No other path leads to the site now. */
  isWholeSite: boolean
}

export interface CongestionFeedbackOptions {
  sourceIps: Pick<SourceIps, 'sources' | 'isWanted'>
  siteOf(name: string): Site
  /** Takes back what waits on the path. */
  unclaim(path: EgressPath): ClaimedDelivery[]
  onBreakerOpen(opened: OpenBreaker): void
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
  const giveBackUnwanted = ({ paths }: Site, path: EgressPath) => {
    const isElsewhere = ({ domain }: ClaimedDelivery) =>
      !sourceIps.isWanted(path.source, domain) &&
      paths.some(({ source, breaker }) => !breaker.isOpen && sourceIps.isWanted(source, domain))
    const unwanted = path.ready.clear(isElsewhere)
    if (unwanted.length > 0) options.giveBack(unwanted)
  }

  return (path, delivery, signal, text) => {
    if (signal === 'ok') {
      path.isProven = true
      const isBack = path.breaker.recordSuccess()
      if (isBack) path.window.restart()
      path.window.grow()
      if (isBack) options.onRecovery(nameOf(path), delivery)
    } else if (signal === 'congested') {
      const site = siteOf(path.site)
      path.window.shrink()
      const state = path.breaker.recordFailure(text)
      if (state)
        options.onBreakerOpen({
          ...nameOf(path),
          state,
          unstarted: unclaim(path),
          isWholeSite: allBreakersOpen(site),
        })
      else if (site.paths.length > 1) giveBackUnwanted(site, path)
    }
  }
}

function nameOf({ site, source }: EgressPath): PathName {
  return { site, source: source.name }
}
