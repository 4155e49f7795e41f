/**
 * Chooses which queued deliveries to claim next. Destinations with free capacity are served round robin;
 * within a destination, accounts share by deficit round robin, and each account's quantum is split between
 * delivery classes by weight (transactional 8, broadcast 3, retry 1).
 *
 * In: queue keys that are due (`due-index.ts`). Out: grants for the claim. Called by `scheduler.ts` only.
 */
import { idKey } from '../../lib/ids.ts'
import { DELIVERY_CLASS } from '../../store/model/schema.ts'
import type { IndexedQueueKey } from './due-index.ts'

/** Permission to claim at most `limit` deliveries of the queue key. */
export interface Grant {
  queueKey: IndexedQueueKey
  destination: string
  limit: number
}

/** Number of further deliveries that a destination accepts now. */
export interface Capacity {
  /** Number of further deliveries of any class. */
  any: number
  /** Number of further transactional deliveries. They do not queue behind claimed mail of other classes. */
  transactional: number
  /** Only transactional mail is granted now; an account's quantum ends without its other classes. */
  isForTransactional?: boolean
}

export interface FairScheduler {
  add(destination: string, queueKey: IndexedQueueKey): void
  /** Grants of the next round. A destination without capacity is skipped until `reopen`. */
  next(capacityOf: (destination: string) => Capacity): Grant[]
  /** Reports that the destination has capacity again. Returns false when nothing waits for it. */
  reopen(destination: string): boolean
  /** Queue keys that wait for the destination. */
  queueKeysOf(destination: string): IndexedQueueKey[]
}

/** Weights of the delivery classes within an account's quantum. */
const WEIGHTS = new Map<number, number>([
  [DELIVERY_CLASS.transactional, 8],
  [DELIVERY_CLASS.broadcast, 3],
  [DELIVERY_CLASS.retry, 1],
])
/** Deliveries that an account may claim per round while others wait for the same destination. */
const QUANTUM_DELIVERIES = 24
const GRANTS_PER_ROUND_MAX = 100

/** Queue keys of one account that wait for one destination. */
interface Waiting {
  /** Queue keys by class, in the order in which they are served. */
  queueKeys: Map<number, IndexedQueueKey[]>
  /** Remaining deliveries of the current quantum, by class. */
  shares: Map<number, number>
}

export function createFairScheduler(): FairScheduler {
  /** Accounts by destination, in round-robin order; a destination without any is removed. */
  const destinations = new Map<string, Map<string, Waiting>>()
  /** Destinations that may have capacity, in round-robin order. */
  const open = new Set<string>()

  const grantsFor = (
    destination: string,
    accounts: Map<string, Waiting>,
    capacity: Capacity,
    grantsMax: number,
  ): Grant[] => {
    const grants: Grant[] = []
    for (const [key, waiting] of accounts) {
      const isUsedUp = serve(destination, waiting, capacity, grants, grantsMax)
      if (isUsedUp) accounts.delete(key)
      // moved to the end of the map, where this loop reaches it again while there is capacity
      if (isUsedUp && waiting.queueKeys.size > 0) accounts.set(key, waiting)
      if (grants.length >= grantsMax || (capacity.any <= 0 && capacity.transactional <= 0)) break
    }
    return grants
  }

  return {
    add(destination, queueKey) {
      const accounts = entryOf(destinations, destination, () => new Map<string, Waiting>())
      const waiting = entryOf(accounts, idKey(queueKey.accountId), () => ({
        queueKeys: new Map(),
        shares: new Map(),
      }))
      entryOf(waiting.queueKeys, queueKey.class, () => []).push(queueKey)
      open.add(destination)
    },
    next(capacityOf) {
      const grants: Grant[] = []
      const isOnly = open.size === 1
      for (const destination of [...open].slice(0, GRANTS_PER_ROUND_MAX)) {
        const accounts = destinations.get(destination)!
        const capacity = { ...capacityOf(destination) }
        grants.push(...grantsFor(destination, accounts, capacity, GRANTS_PER_ROUND_MAX - grants.length))
        if (isOnly && accounts.size === 0 && grants.length === 1) takeRest(grants[0]!, capacity)
        open.delete(destination)
        if (accounts.size === 0) destinations.delete(destination)
        else if (grants.length >= GRANTS_PER_ROUND_MAX) open.add(destination)
        if (grants.length >= GRANTS_PER_ROUND_MAX) break
      }
      return grants
    },
    reopen(destination) {
      if (!destinations.has(destination)) return false
      open.add(destination)
      return true
    },
    queueKeysOf: destination =>
      [...(destinations.get(destination)?.values() ?? [])].flatMap(({ queueKeys }) =>
        [...queueKeys.values()].flat(),
      ),
  }
}

/**
 * Serves an account's quantum as far as the capacity allows; the rest is served first in the next round. A
 * class divides its share among its queue keys.
 * @param capacity is reduced by what is granted
 * @returns whether the quantum is used up
 */
function serve(
  destination: string,
  { queueKeys, shares }: Waiting,
  capacity: Capacity,
  grants: Grant[],
  grantsMax: number,
): boolean {
  let granted = 0
  for (const [deliveryClass, share] of sharesOf(queueKeys, shares)) {
    const ofClass = queueKeys.get(deliveryClass)!
    const isTransactional = deliveryClass === DELIVERY_CLASS.transactional
    const each = Math.ceil(share / ofClass.length)
    for (let left = share; left > 0 && ofClass.length > 0 && grants.length < grantsMax; ) {
      const limit = Math.min(each, left, isTransactional ? capacity.transactional : capacity.any)
      if (limit <= 0) break
      grants.push({ queueKey: ofClass.shift()!, destination, limit })
      left -= limit
      granted += limit
      shares.set(deliveryClass, left)
      capacity.any -= limit
      if (isTransactional) capacity.transactional -= limit
    }
    if (ofClass.length === 0) queueKeys.delete(deliveryClass)
  }
  const isServed = (deliveryClass: number) =>
    shares.get(deliveryClass) === 0 ||
    (capacity.isForTransactional === true && deliveryClass !== DELIVERY_CLASS.transactional)
  const isUsedUp = granted > 0 && [...queueKeys.keys()].every(isServed)
  if (isUsedUp) shares.clear()
  return isUsedUp
}

/** Extends the only grant to the whole capacity, because nothing else waits. */
function takeRest(grant: Grant, { any, transactional }: Capacity) {
  grant.limit += grant.queueKey.class === DELIVERY_CLASS.transactional ? transactional : any
}

/**
 * Shares of the waiting classes in the quantum. A class that joins during the quantum gets its share, too.
 */
function sharesOf(queueKeys: ReadonlyMap<number, unknown>, shares: Map<number, number>): [number, number][] {
  const present = [...WEIGHTS].filter(([deliveryClass]) => queueKeys.has(deliveryClass))
  const sum = present.reduce((weights, [, weight]) => weights + weight, 0)
  return present.map(([deliveryClass, weight]) => [
    deliveryClass,
    entryOf(shares, deliveryClass, () => Math.max(1, Math.floor((QUANTUM_DELIVERIES * weight) / sum))),
  ])
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const fresh = make()
  map.set(key, fresh)
  return fresh
}
