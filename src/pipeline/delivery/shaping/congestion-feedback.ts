/**
 * What an attempt tells of the path it took: the window moves, a rest begins or ends, mail turns to another
 * path.
 */
import type { ClaimedDelivery } from '../../../store/command.ts'
import type { BreakerState } from './circuit-breaker.ts'
import { allBreakersOpen, type DestinationPaths } from './destination-paths.ts'
import type { EgressPath } from './egress-path.ts'
import type { SourceIps } from './source-ips.ts'

/** What an attempt told about the path it took. */
export type CongestionSignal = 'ok' | 'congested' | 'neutral'

/** Takes note of what an attempt told. @param text its last word, for people */
export type JudgeCongestion = (signal: CongestionSignal, text: string) => void

/** As the store has it. */
export interface PathKey {
  destination: string
  /** Our addresses, as the source has them; empty for all of them. */
  source: string
}

/** What begins to rest. */
export interface OpenBreaker extends PathKey {
  state: BreakerState
  /** What was claimed for the path and not begun is given back. */
  unstarted: ClaimedDelivery[]
  /** No other path leads to the destination now. */
  allPathsPaused: boolean
}

export interface CongestionFeedbackOptions {
  sourceIps: Pick<SourceIps, 'sources' | 'isUsable'>
  pathsOf(name: string): DestinationPaths
  /** Takes back what waits on the path. */
  unclaim(path: EgressPath): ClaimedDelivery[]
  onBreakerOpen(opened: OpenBreaker): void
  /** A path that rested is good again; the delivery showed it. */
  onRecovery(name: PathKey, delivery: ClaimedDelivery): void
  /** They were claimed, and are not to be begun now. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void
}

export type RecordFeedback = (
  path: EgressPath,
  delivery: ClaimedDelivery,
  signal: CongestionSignal,
  text: string,
) => void

export function createCongestionFeedback(options: CongestionFeedbackOptions): RecordFeedback {
  const { sourceIps, pathsOf, unclaim } = options

  /** The domain of what waits there may want it from another source from now on. */
  const giveBackUnusable = ({ paths }: DestinationPaths, path: EgressPath) => {
    const isElsewhere = ({ domain }: ClaimedDelivery) =>
      !sourceIps.isUsable(path.source, domain) &&
      paths.some(({ source, breaker }) => !breaker.isOpen && sourceIps.isUsable(source, domain))
    const unwanted = path.ready.clear(isElsewhere)
    if (unwanted.length > 0) options.giveBack(unwanted)
  }

  return (path, delivery, signal, text) => {
    if (signal === 'ok') {
      path.isProven = true
      const isBack = path.breaker.recordSuccess()
      if (isBack) path.window.restart()
      path.window.grow()
      if (isBack) options.onRecovery(keyOf(path), delivery)
    } else if (signal === 'congested') {
      const destination = pathsOf(path.destination)
      path.window.shrink()
      const state = path.breaker.recordFailure(text)
      if (state)
        options.onBreakerOpen({
          ...keyOf(path),
          state,
          unstarted: unclaim(path),
          allPathsPaused: allBreakersOpen(destination),
        })
      else if (destination.paths.length > 1) giveBackUnusable(destination, path)
    }
  }
}

function keyOf({ destination, source }: EgressPath): PathKey {
  return { destination, source: source.name }
}
