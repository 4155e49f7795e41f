/** The delivery worker of one thread: claims what is due at its sites, attempts it, and has the end recorded. */
import { hashText } from '../lib/hash.ts'
import { LEASE_MS, type queueCommands } from '../queue/commands.ts'
import { createScheduler } from '../queue/scheduler.ts'
import type { ClaimedDelivery, Run } from '../store/command.ts'
import type { DueLane } from '../store/lanes.ts'
import { brokenInside, type CarryOptions, carry, failedBeforeTransfer } from './ending.ts'
import { type Ending, finishOf } from './finish.ts'
import type { MessageMaker } from './message.ts'
import { createRecorder } from './recorder.ts'
import type { Route, Router } from './route.ts'
import { createSites, type SiteSignal } from './sites.ts'
import { createSlowWatch } from './slow-watch.ts'

export interface DeliveryWorker {
  /** Lanes announced to all threads; the one at home in a domain finds out whose its site is. */
  announced(lanes: readonly DueLane[]): void
  /** A lane another thread found to belong here, by this route. */
  forwarded(lane: DueLane, route: Route): void
  /** Begins nothing more, lets attempts under way end for so long, gives unbegun leases back. */
  stop(graceMs: number): Promise<void>
}

export interface WorkerOptions extends CarryOptions {
  run: Run<typeof queueCommands>
  router: Router
  maker: MessageMaker
  /** Marks the leases of this thread's life. */
  owner: string
  /** Which of the delivery threads this is. */
  index: number
  threadCount: number
  /** Passes a lane to the thread that serves its site; with the route, so that both agree on it. */
  forward(threadIndex: number, lane: DueLane, route: Route): void
  /** Called when the end of an attempt is stored. */
  onStored(delivery: ClaimedDelivery, ending: Ending): Promise<void>
  onError(error: unknown, delivery?: ClaimedDelivery): void
}

export function createDeliveryWorker(options: WorkerOptions): DeliveryWorker {
  const { clock, run, router, maker, owner, threadCount, index, onError } = options
  const stopping = new AbortController()
  const recorder = createRecorder(run, clock, stopping.signal)
  const slow = createSlowWatch(run, clock, onError)
  const threadOf = (key: string) => hashText(key) % threadCount

  const attemptOf = async (delivery: ClaimedDelivery, startedAt: number) => {
    const message = await maker.make(delivery, startedAt)
    if ('reason' in message) return { ...failedBeforeTransfer(message.reason), message: null }
    const route = await router.routeOf(delivery.domain)
    return { ...(await carry(options, route, delivery, message)), message }
  }

  const deliver = async (delivery: ClaimedDelivery): Promise<SiteSignal> => {
    await recorder.room()
    const startedAt = clock.now()
    const watched = slow.begin(delivery, startedAt)
    try {
      const { ending, signal, message } = await attemptOf(delivery, startedAt).catch(error => {
        onError(error, delivery)
        return { ...brokenInside(), message: null }
      })
      const finish = finishOf(
        delivery,
        ending,
        { startedAt, finishedAt: clock.now(), message },
        options.random,
      )
      recorder
        .record(finish)
        .then(good => (good ? options.onStored(delivery, ending) : undefined))
        .catch(error => onError(error, delivery))
      return signal
    } finally {
      slow.end(watched)
    }
  }

  const sites = createSites({ clock, deliver, onRoom: site => scheduler.freed(site), onError })
  const scheduler = createScheduler({
    clock,
    async siteOf(lane) {
      const route = await router.routeOf(lane.domain)
      if (threadOf(route.site) === index) return route.site
      options.forward(threadOf(route.site), { ...lane, at: clock.now() }, route)
      return null
    },
    roomOf: sites.roomOf,
    claim: lanes =>
      run('claim', { lanes: [...lanes], owner, now: clock.now(), leaseUntil: clock.now() + LEASE_MS }),
    take: sites.take,
    onError,
  })

  return {
    announced: lanes => scheduler.note(lanes.filter(({ domain }) => threadOf(domain) === index)),
    forwarded(lane, route) {
      router.prime(lane.domain, route)
      scheduler.note([lane])
    },
    async stop(graceMs) {
      await scheduler.stop()
      const leases = sites.stop().map(({ accountId, emailId, ordinal, attempt }) => ({
        accountId,
        emailId,
        ordinal,
        attempt,
      }))
      await Promise.all(leases.map(lease => run('release', lease)))
      await sites.idle(graceMs)
      slow.close()
      stopping.abort(new Error('the delivery worker is stopping'))
      await recorder.drained()
      await options.pool.close()
    },
  }
}
