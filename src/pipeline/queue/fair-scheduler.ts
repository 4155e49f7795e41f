/**
 * Whose turn it is: sites take turns while they have room, at a site its accounts, and of an account its
 * classes by their weight (deficit round robin).
 */
import { idKey } from '../../lib/ids.ts'
import { DELIVERY_CLASS } from '../../store/schema.ts'
import type { IndexedQueueKey } from './due-index.ts'

/** Claim at most `limit` deliveries of the queue key, for the site. */
export interface Grant {
  queueKey: IndexedQueueKey
  site: string
  limit: number
}

/** How many more deliveries a site can take now. */
export interface Capacity {
  /** Of any class. */
  any: number
  /** Of transactional mail, which need not wait behind what else has been claimed. */
  transactional: number
  /** Other mail has no turn now, and none is kept waiting for it. */
  isForTransactional?: boolean
}

export interface FairScheduler {
  add(site: string, queueKey: IndexedQueueKey): void
  /** The next turns of all sites with room. A site without room is passed over until `reopen`. */
  next(roomOf: (site: string) => Capacity): Grant[]
  /** The site has room again. False when nothing waits for it. */
  reopen(site: string): boolean
  /** Queue keys that wait for the site. */
  queueKeysOf(site: string): IndexedQueueKey[]
}

/** Of an account's turn, by class. */
const WEIGHTS = new Map<number, number>([
  [DELIVERY_CLASS.transactional, 8],
  [DELIVERY_CLASS.broadcast, 3],
  [DELIVERY_CLASS.retry, 1],
])
/** Deliveries that an account's turn takes at most, where others wait. */
const QUANTUM_DELIVERIES = 24
const GRANTS_PER_ROUND_MAX = 100

/** What waits of one account at one site. */
interface Waiting {
  /** By class, each in the order of its turns. */
  queueKeys: Map<number, IndexedQueueKey[]>
  /** What the classes may still take in the turn that has begun. */
  shares: Map<number, number>
}

export function createFairScheduler(): FairScheduler {
  /** Accounts by site, in the order of their turns; a site with none is not listed. */
  const sites = new Map<string, Map<string, Waiting>>()
  /** Sites that may have room, in the order of their turns. */
  const open = new Set<string>()

  const grantsFor = (site: string, accounts: Map<string, Waiting>, room: Capacity, most: number): Grant[] => {
    const grants: Grant[] = []
    for (const [key, waiting] of accounts) {
      const isOver = serve(site, waiting, room, grants, most)
      if (isOver) accounts.delete(key)
      // at the end of the map, where this loop comes to it again while there is room
      if (isOver && waiting.queueKeys.size > 0) accounts.set(key, waiting)
      if (grants.length >= most || (room.any <= 0 && room.transactional <= 0)) break
    }
    return grants
  }

  return {
    add(site, queueKey) {
      const accounts = entryOf(sites, site, () => new Map<string, Waiting>())
      const waiting = entryOf(accounts, idKey(queueKey.accountId), () => ({
        queueKeys: new Map(),
        shares: new Map(),
      }))
      entryOf(waiting.queueKeys, queueKey.class, () => []).push(queueKey)
      open.add(site)
    },
    next(roomOf) {
      const grants: Grant[] = []
      const isOnly = open.size === 1
      for (const site of [...open].slice(0, GRANTS_PER_ROUND_MAX)) {
        const accounts = sites.get(site)!
        const room = { ...roomOf(site) }
        grants.push(...grantsFor(site, accounts, room, GRANTS_PER_ROUND_MAX - grants.length))
        if (isOnly && accounts.size === 0 && grants.length === 1) takeRest(grants[0]!, room)
        open.delete(site)
        if (accounts.size === 0) sites.delete(site)
        else if (grants.length >= GRANTS_PER_ROUND_MAX) open.add(site)
        if (grants.length >= GRANTS_PER_ROUND_MAX) break
      }
      return grants
    },
    reopen(site) {
      if (!sites.has(site)) return false
      open.add(site)
      return true
    },
    queueKeysOf: site =>
      [...(sites.get(site)?.values() ?? [])].flatMap(({ queueKeys }) => [...queueKeys.values()].flat()),
  }
}

/**
 * An account's turn, or as much of it as there is room for; the rest of it comes first next time. A class
 * divides its share among its queue keys.
 * @param room what is given is taken from it
 * @returns whether the turn is over
 */
function serve(
  site: string,
  { queueKeys, shares }: Waiting,
  room: Capacity,
  grants: Grant[],
  most: number,
): boolean {
  let given = 0
  for (const [deliveryClass, share] of sharesOf(queueKeys, shares)) {
    const ofClass = queueKeys.get(deliveryClass)!
    const isTransactional = deliveryClass === DELIVERY_CLASS.transactional
    const each = Math.ceil(share / ofClass.length)
    for (let left = share; left > 0 && ofClass.length > 0 && grants.length < most; ) {
      const limit = Math.min(each, left, isTransactional ? room.transactional : room.any)
      if (limit <= 0) break
      grants.push({ queueKey: ofClass.shift()!, site, limit })
      left -= limit
      given += limit
      shares.set(deliveryClass, left)
      room.any -= limit
      if (isTransactional) room.transactional -= limit
    }
    if (ofClass.length === 0) queueKeys.delete(deliveryClass)
  }
  const hasNoMore = (deliveryClass: number) =>
    shares.get(deliveryClass) === 0 ||
    (room.isForTransactional === true && deliveryClass !== DELIVERY_CLASS.transactional)
  const isOver = given > 0 && [...queueKeys.keys()].every(hasNoMore)
  if (isOver) shares.clear()
  return isOver
}

/** Nobody else waits for what is left. */
function takeRest(grant: Grant, { any, transactional }: Capacity) {
  grant.limit += grant.queueKey.class === DELIVERY_CLASS.transactional ? transactional : any
}

/** What the classes that wait may take of the turn; one that has come meanwhile gets its part, too. */
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
