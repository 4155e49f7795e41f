/**
 * Ready queue of one egress path: deliveries that are claimed and wait for a slot. Transactional mail goes
 * first, with a share left for other mail.
 */
import type { Id } from '../../../lib/ids.ts'
import type { ClaimedDelivery } from '../../../store/command.ts'
import { DELIVERY_CLASS } from '../../../store/schema.ts'
import type { Capacity } from '../../queue/fair-scheduler.ts'

export interface ReadyDelivery {
  delivery: ClaimedDelivery
  isTransactional: boolean
}

export interface ReadyQueue {
  readonly length: number
  put(deliveryClass: number, deliveries: readonly ClaimedDelivery[]): void
  /** Whether a delivery of a class that may start is waiting. */
  has(mayBegin: (isTransactional: boolean) => boolean): boolean
  /** Removes and returns the next delivery whose class may start and whose account has a free slot. */
  next(
    mayBegin: (isTransactional: boolean) => boolean,
    mayGo: (accountId: Id) => boolean,
  ): ReadyDelivery | undefined
  /** The deliveries that are likely to start next. They stay in the queue. */
  first(count: number): ClaimedDelivery[]
  /** Number of further deliveries that fit when the queue holds `most`. */
  capacity(most: number): Capacity
  /** Removes and returns the deliveries that match; all of them without `isMeant`. */
  clear(isMeant?: (delivery: ClaimedDelivery, isTransactional: boolean) => boolean): ClaimedDelivery[]
}

/** Transactional deliveries that may start in a row while other mail is waiting. */
const CONSECUTIVE_TRANSACTIONAL_MAX = 2

/** @param waiting counts the deliveries in all ready queues of the thread */
export function createReadyQueue(waiting: { count: number }): ReadyQueue {
  const transactional: ClaimedDelivery[] = []
  const others: ClaimedDelivery[] = []
  let passed = 0

  const from = (queue: ClaimedDelivery[], mayGo: (accountId: Id) => boolean) => {
    const at = queue.findIndex(({ accountId }) => mayGo(accountId))
    if (at < 0) return undefined
    waiting.count--
    return queue.splice(at, 1)[0]
  }

  return {
    get length() {
      return transactional.length + others.length
    },
    put(deliveryClass, deliveries) {
      const queue = deliveryClass === DELIVERY_CLASS.transactional ? transactional : others
      queue.push(...deliveries)
      waiting.count += deliveries.length
    },
    has: mayBegin => (transactional.length > 0 && mayBegin(true)) || (others.length > 0 && mayBegin(false)),
    next(mayBegin, mayGo) {
      const othersFirst = passed >= CONSECUTIVE_TRANSACTIONAL_MAX
      const queues = othersFirst ? [others, transactional] : [transactional, others]
      for (const queue of queues) {
        const isTransactional = queue === transactional
        const delivery = queue.length > 0 && mayBegin(isTransactional) ? from(queue, mayGo) : undefined
        if (!delivery) continue
        passed = isTransactional ? passed + 1 : 0
        return { delivery, isTransactional }
      }
      return undefined
    },
    first(count) {
      const ahead = transactional.slice(0, count)
      return ahead.length < count ? [...ahead, ...others.slice(0, count - ahead.length)] : ahead
    },
    capacity: most => ({
      any: Math.max(0, most - transactional.length - others.length),
      transactional: Math.max(0, most - transactional.length),
    }),
    clear(isMeant = () => true) {
      const taken: ClaimedDelivery[] = []
      for (const queue of [transactional, others])
        for (const delivery of queue.splice(0))
          (isMeant(delivery, queue === transactional) ? taken : queue).push(delivery)
      waiting.count -= taken.length
      return taken
    },
  }
}
