/**
 * One destination and its egress paths, one for each source. Adds up their capacity, and chooses a path for
 * each claimed delivery.
 *
 * In: claimed deliveries, from the shaper. Out: deliveries in the ready queues of the paths, and the capacity
 * that the scheduler sees.
 */

import type { ClaimedDelivery } from '../../../store/model/command.ts'
import { DELIVERY_CLASS } from '../../../store/model/schema.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'
import { bearsMore, capacityOf, isClosed, isIdlePath } from './admission.ts'
import type { EgressPath } from './egress-path.ts'
import { inOrderOf, type SourceIps } from './source-ips.ts'

export interface DestinationPaths {
  readonly name: string
  /** In the order of the sources; never empty. */
  readonly paths: readonly EgressPath[]
  /** Whether transactional mail had capacity when the capacity was last computed. */
  hadTransactionalCapacity: boolean
}

/**
 * Capacity of all paths together. A half-open path adds nothing beside healthy ones: its probe is taken from
 * the mail that prefers this path. When no path is healthy, the half-open one has capacity for its probe.
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

/** Puts deliveries on their paths one at a time, because each one reduces the capacity for the next. */
export function distribute(
  destination: DestinationPaths,
  deliveries: readonly ClaimedDelivery[],
  sourceIps: Pick<SourceIps, 'isUsable'>,
): void {
  const [only] = destination.paths
  if (destination.paths.length === 1) only!.ready.put(deliveries)
  else for (const delivery of deliveries) pathFor(destination, delivery, sourceIps).ready.put([delivery])
}

/**
 * Chooses the first path in the email's order of preference whose source the domain accepts and which is
 * neither closed nor full. If there is none, these conditions are dropped one after the other.
 */
function pathFor(
  { paths }: DestinationPaths,
  { emailId, domain, class: deliveryClass }: ClaimedDelivery,
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

/** Takes the deliveries that wait for a class whose warm-up budget is spent. */
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
