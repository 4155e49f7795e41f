/**
 * Applies the result of an attempt to its egress path: moves the window, opens or closes the circuit breaker,
 * and gives deliveries back that another path should send.
 *
 * In: a signal per attempt, from the shaper. Out: changes of the path, and events for the worker
 * (`outages.ts` stores them).
 */
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { BreakerState } from './circuit-breaker.ts'
import { allBreakersOpen, type DestinationPaths } from './destination-paths.ts'
import type { EgressPath } from './egress-path.ts'
import type { SourceIps } from './source-ips.ts'

/**
 * `ok`: the destination answered. `congested`: it refused connections, failed or asked for fewer. `neutral`:
 * the attempt says nothing about the path.
 */
export type CongestionSignal = 'ok' | 'congested' | 'neutral'

/** Reports the signal of an attempt. @param text the last reply or error, shown to operators */
export type JudgeCongestion = (signal: CongestionSignal, text: string) => void

/** Names an egress path in the store. */
export interface PathKey {
  destination: string
  /** Source addresses, separated by spaces as in `EgressSource.name`; empty for all sources. */
  source: string
}

/** A circuit breaker that has just opened. */
export interface OpenBreaker extends PathKey {
  state: BreakerState
  /** Deliveries that were claimed for the path and not started. The caller returns them to the queue. */
  unstarted: ClaimedDelivery[]
  /** True when no other path to the destination can be used. */
  allPathsPaused: boolean
}

interface CongestionFeedbackOptions {
  sourceIps: Pick<SourceIps, 'isUsable'>
  pathsOf(name: string): DestinationPaths
  /** Takes the deliveries that wait on the path. */
  unclaim(path: EgressPath): ClaimedDelivery[]
  events: CongestionEvents
}

export interface CongestionEvents {
  onBreakerOpen(opened: OpenBreaker): void
  /**
   * Called when a path whose breaker was open or half open gets an answer. The delivery is the one that got
   * it.
   */
  onRecovery(name: PathKey, delivery: ClaimedDelivery): void
  /** Returns claimed deliveries to the queue. */
  giveBack(deliveries: readonly ClaimedDelivery[]): void
}

export type RecordFeedback = (
  path: EgressPath,
  delivery: ClaimedDelivery,
  signal: CongestionSignal,
  text: string,
) => void

export function createCongestionFeedback({
  sourceIps,
  pathsOf,
  unclaim,
  events,
}: CongestionFeedbackOptions): RecordFeedback {
  /** After a cool-off, the domains of waiting deliveries may prefer another source. */
  const giveBackUnusable = ({ paths }: DestinationPaths, path: EgressPath) => {
    const isElsewhere = ({ domain }: ClaimedDelivery) =>
      !sourceIps.isUsable(path.source, domain) &&
      paths.some(({ source, breaker }) => !breaker.isOpen && sourceIps.isUsable(source, domain))
    const unwanted = path.ready.clear(isElsewhere)
    if (unwanted.length > 0) events.giveBack(unwanted)
  }

  return (path, delivery, signal, text) => {
    if (signal === 'ok') {
      path.isProven = true
      path.parkedAt = undefined
      const isBack = path.breaker.recordSuccess()
      if (isBack) path.window.restart()
      path.window.grow()
      if (isBack) events.onRecovery(keyOf(path), delivery)
    } else if (signal === 'congested') {
      const destination = pathsOf(path.destination)
      path.window.shrink()
      const state = path.breaker.recordFailure(text)
      if (state)
        events.onBreakerOpen({
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
