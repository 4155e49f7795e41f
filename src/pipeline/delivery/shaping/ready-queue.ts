/**
 * Ready queue of one egress path: deliveries that are claimed and wait for a slot. Transactional mail goes
 * first, with a share left for other mail. Accounts take turns, so that nobody waits for all that is claimed
 * for one account.
 */
import { type Id, idKey, sameId } from '../../../lib/ids.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import { DELIVERY_CLASS } from '../../../store/model/schema.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'

export interface ReadyQueue {
  readonly length: number
  /** @param deliveries have the same class */
  put(deliveries: readonly ClaimedDelivery[]): void
  /** Whether a delivery of a class that may start is waiting. */
  has(mayBegin: (isTransactional: boolean) => boolean): boolean
  /** Removes and returns the next delivery whose class may start and whose account has a free slot. */
  next(
    mayBegin: (isTransactional: boolean) => boolean,
    mayGo: (accountId: Id) => boolean,
  ): ClaimedDelivery | undefined
  /** The deliveries that are likely to start next. They stay in the queue. */
  first(count: number): ClaimedDelivery[]
  /** Number of further deliveries that fit when the queue holds `most`. */
  capacity(max: number): Capacity
  /** Removes and returns the deliveries that match; all of them without `isMeant`. */
  clear(isMeant?: (delivery: ClaimedDelivery, isTransactional: boolean) => boolean): ClaimedDelivery[]
}

/** Transactional deliveries that may start in a row while other mail is waiting. */
const CONSECUTIVE_TRANSACTIONAL_MAX = 2

/** Deliveries of one class. Accounts take turns; those of one account keep their order. */
class AccountTurns {
  #deliveries: ClaimedDelivery[] = []
  /** Accounts with deliveries; the account whose turn it is comes first. */
  readonly #accounts = new Map<string, { id: Id; count: number }>()

  get length(): number {
    return this.#deliveries.length
  }

  put(deliveries: readonly ClaimedDelivery[]): void {
    this.#deliveries.push(...deliveries)
    for (const { accountId: id } of deliveries) {
      const account = this.#accounts.get(idKey(id))
      if (account) account.count++
      else this.#accounts.set(idKey(id), { id, count: 1 })
    }
  }

  take(mayGo: (accountId: Id) => boolean): ClaimedDelivery | undefined {
    const isAlone = this.#accounts.size === 1
    for (const [key, account] of this.#accounts) {
      if (!mayGo(account.id)) continue
      const at = isAlone ? 0 : this.#deliveries.findIndex(({ accountId }) => sameId(accountId, account.id))
      account.count--
      this.#accounts.delete(key)
      if (account.count > 0) this.#accounts.set(key, account)
      return this.#deliveries.splice(at, 1)[0]
    }
    return undefined
  }

  first(count: number): ClaimedDelivery[] {
    return this.#deliveries.slice(0, count)
  }

  /** Removes and returns the deliveries that match. */
  clear(isMeant: (delivery: ClaimedDelivery) => boolean): ClaimedDelivery[] {
    const taken: ClaimedDelivery[] = []
    const rest: ClaimedDelivery[] = []
    for (const delivery of this.#deliveries) (isMeant(delivery) ? taken : rest).push(delivery)
    this.#deliveries = []
    this.#accounts.clear()
    this.put(rest)
    return taken
  }
}

/** @param waiting counts the deliveries in all ready queues of the thread */
export function createReadyQueue(waiting: { count: number }): ReadyQueue {
  const transactional = new AccountTurns()
  const others = new AccountTurns()
  let passed = 0

  return {
    get length() {
      return transactional.length + others.length
    },
    put(deliveries) {
      const queue = deliveries[0]?.class === DELIVERY_CLASS.transactional ? transactional : others
      queue.put(deliveries)
      waiting.count += deliveries.length
    },
    has: mayBegin => (transactional.length > 0 && mayBegin(true)) || (others.length > 0 && mayBegin(false)),
    next(mayBegin, mayGo) {
      const othersFirst = passed >= CONSECUTIVE_TRANSACTIONAL_MAX
      const queues = othersFirst ? [others, transactional] : [transactional, others]
      for (const queue of queues) {
        const isTransactional = queue === transactional
        const delivery = queue.length > 0 && mayBegin(isTransactional) ? queue.take(mayGo) : undefined
        if (!delivery) continue
        waiting.count--
        passed = isTransactional ? passed + 1 : 0
        return delivery
      }
      return undefined
    },
    first(count) {
      const ahead = transactional.first(count)
      return ahead.length < count ? [...ahead, ...others.first(count - ahead.length)] : ahead
    },
    capacity: max => ({
      any: Math.max(0, max - transactional.length - others.length),
      transactional: Math.max(0, max - transactional.length),
    }),
    clear(isMeant = () => true) {
      const taken = [
        ...transactional.clear(delivery => isMeant(delivery, true)),
        ...others.clear(delivery => isMeant(delivery, false)),
      ]
      waiting.count -= taken.length
      return taken
    },
  }
}
