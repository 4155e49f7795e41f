/** One destination, and the paths to it: one from each of our sources. */

import type { ClaimedDelivery } from '../../../store/command.ts'
import { DELIVERY_CLASS } from '../../../store/schema.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import { bearsMore, capacityOf, isClosed, isIdlePath } from './admission.ts'
import type { EgressPath } from './egress-path.ts'
import { inOrderOf, type SourceIps } from './source-ips.ts'

export interface DestinationPaths {
  readonly name: string
  /** In the order of the sources; at least one. */
  readonly paths: readonly EgressPath[]
  /** There was room for transactional mail when it was last looked at. */
  hadTransactionalCapacity: boolean
}

/**
 * What all paths have together. One that is to be probed gets what prefers it among the mail for the others;
 * alone, it has room for the probe.
 */
export function capacityIn(destination: DestinationPaths, ahead: number): Capacity {
  const capacity = capacityOfAll(destination, ahead)
  const isForTransactional = destination.paths.every(({ warmupBudget }) => warmupBudget.isSpent(false))
  return isForTransactional ? { ...capacity, isForTransactional } : capacity
}

function capacityOfAll({ paths }: DestinationPaths, ahead: number): Capacity {
  if (paths.length === 1) return capacityOf(paths[0]!, ahead)
  const sound = paths.filter(({ breaker }) => !breaker.isOpen && !breaker.isHalfOpen)
  if (sound.length === 0) return capacityOf(paths.find(({ breaker }) => !breaker.isOpen) ?? paths[0]!, ahead)
  const capacities = sound.map(path => capacityOf(path, Math.ceil(ahead / sound.length)))
  return {
    any: capacities.reduce((sum, { any }) => sum + any, 0),
    transactional: capacities.reduce((sum, { transactional }) => sum + transactional, 0),
  }
}

/** Puts deliveries on their paths, one by one: each counts for the room that the next one finds. */
export function distribute(
  destination: DestinationPaths,
  deliveryClass: number,
  deliveries: readonly ClaimedDelivery[],
  sourceIps: Pick<SourceIps, 'isUsable'>,
): void {
  const [only] = destination.paths
  if (destination.paths.length === 1) only!.ready.put(deliveryClass, deliveries)
  else
    for (const delivery of deliveries)
      pathFor(destination, deliveryClass, delivery, sourceIps).ready.put(deliveryClass, [delivery])
}

/**
 * The one that its email prefers, unless its source is not wanted by the domain, or it rests or is closed for
 * today, or is full. Where none is better, it is that one all the same.
 */
function pathFor(
  { paths }: DestinationPaths,
  deliveryClass: number,
  { emailId, domain }: ClaimedDelivery,
  { isUsable }: Pick<SourceIps, 'isUsable'>,
): EgressPath {
  const isTransactional = deliveryClass === DELIVERY_CLASS.transactional
  const preferred = inOrderOf(emailId, paths)
  const awake = preferred.filter(path => !isClosed(path, isTransactional))
  const wanted = awake.filter(({ source }) => isUsable(source, domain))
  const [candidates = preferred] = [wanted, awake].filter(({ length }) => length > 0)
  return (
    candidates.find(path => bearsMore(path, isTransactional)) ??
    candidates.find(({ breaker }) => !breaker.isHalfOpen) ??
    candidates[0]!
  )
}

/** Takes back what waits on a path that is closed for today. */
export function unclaimSpent({ paths }: DestinationPaths): ClaimedDelivery[] {
  return paths.flatMap(({ ready, warmupBudget }) =>
    ready.length === 0 ? [] : ready.clear((_, isTransactional) => warmupBudget.isSpent(isTransactional)),
  )
}

export function allBreakersOpen({ paths }: DestinationPaths): boolean {
  return paths.every(({ breaker }) => breaker.isOpen || breaker.isHalfOpen)
}

export function areAllIdle({ paths }: DestinationPaths): boolean {
  return paths.every(isIdlePath)
}
