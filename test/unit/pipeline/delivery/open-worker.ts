/** A delivery worker over a real store, real DNS and a scripted MX. */

import { systemClock } from '../../../../src/lib/clock.ts'
import { createEventLoopUtilization } from '../../../../src/lib/event-loop-utilization.ts'
import { utcDay } from '../../../../src/lib/periods.ts'
import { destinationLimits } from '../../../../src/pipeline/delivery/destinations/providers.ts'
import { LargeMessages } from '../../../../src/pipeline/delivery/message/large-messages.ts'
import type { MessageMaker } from '../../../../src/pipeline/delivery/message/message.ts'
import { createMayReturn } from '../../../../src/pipeline/delivery/missing-domain.ts'
import { createRouter, type DeliveryRoute } from '../../../../src/pipeline/delivery/route.ts'
import { createSessionPool } from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import { createAdaptiveLimit } from '../../../../src/pipeline/delivery/shaping/adaptive-limit.ts'
import { createSlots } from '../../../../src/pipeline/delivery/shaping/slots.ts'
import { createSourceIps } from '../../../../src/pipeline/delivery/shaping/source-ips.ts'
import { createWarmupBudgets } from '../../../../src/pipeline/delivery/shaping/warmup-budget.ts'
import { createHostTlsPolicies } from '../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import { DeliveryWorker } from '../../../../src/pipeline/delivery/worker.ts'
import { RESUMED } from '../../../../src/pipeline/queue/destination-states.ts'
import { HELD } from '../../../../src/pipeline/queue/hold.ts'
import { type DueQueueKey, stepDeferredQueueKeys } from '../../../../src/pipeline/queue/queue-key-rows.ts'
import { waitingAt } from '../../../../src/pipeline/queue/waiting-mail.ts'
import { simulate } from '../../../../src/pipeline/simulator/simulate.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import type { MailSelector } from '../../../../src/store/model/schema/steering.ts'
import { type FakeMxOptions, startFakeMx } from '../../../kit/fake-mx.ts'
import { SIMULATOR } from '../../../kit/mail.ts'
import type { TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'
import { startZone } from '../../../kit/zone.ts'
import { openSigned } from './signed-domain.ts'

export const ZONE = 'there.test MX 10 mx.there.test\nmx.there.test A 127.0.0.2'

export interface OpenOptions {
  zone?: string
  threadCount?: number
  make?: (real: MessageMaker) => MessageMaker['make']
  /** Faults of the MX. */
  at?: FakeMxOptions['at']
  /** Deliveries under way at once. */
  slots?: number
  /** Our addresses. */
  ips?: readonly string[]
  /** For one packet to the name server; long enough for any machine, unless a test waits for it. */
  dnsTimeoutMs?: number
  /** Source addresses whose warm-up begins today. */
  warmup?: { addresses: readonly string[]; caps: readonly number[] }
}

/** Only the clock stands still; look-ups take real time, and are remembered by the clock. */
export async function openWorker(
  t: TestContext,
  {
    zone = ZONE,
    threadCount = 1,
    make = real => real.make,
    at = {},
    slots = 100,
    ips = [],
    dnsTimeoutMs = 10_000,
    warmup = { addresses: [], caps: [] },
  }: OpenOptions = {},
) {
  const signed = await openSigned(t)
  await signed.verifiedDomain('here.test')
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', at }))
  const server = await t.using(startZone(zone))
  const { clock } = signed
  const resolver = createResolver({
    servers: [server.server],
    clock: { ...systemClock, monotonic: clock.monotonic },
    timeoutMs: dnsTimeoutMs,
  })
  const random = () => 0.5
  const failing = new Set<string>()
  const run: typeof signed.run = (name, input) =>
    failing.has(name) ? Promise.reject(new StorageUnavailable('disk full')) : signed.run(name, input)
  const errors: string[] = []
  const stored: string[] = []
  const pauses: string[] = []
  const foreseen: number[] = []
  const forwarded: { to: number; queueKey: DueQueueKey; route: DeliveryRoute }[] = []
  const worker = new DeliveryWorker({
    clock,
    transport: {
      clock,
      resolver,
      random,
      localName: 'out.mailhorn.test',
      port: mx.port,
      allowPrivateAddresses: true,
      tlsPolicies: createHostTlsPolicies({ clock, dane: null }),
      tlsResults: null,
      sourceIps: createSourceIps(
        ips.map(address => ({ address, name: null })),
        clock,
      ),
      pool: createSessionPool(clock, { messagesPerConnection: () => 100 }),
      smartHostOf: () => undefined,
      simulate,
      deliverLocally: async () => {
        throw new Error('nothing is received here')
      },
      mayReturn: createMayReturn({ find: signed.find, clock }),
    },
    thread: {
      owner: 'worker',
      leaseMs: 900_000,
      index: 0,
      threadCount,
    },
    queries: {
      deferredQueueKeysOf: (destination, domain) => stepDeferredQueueKeys(signed.db, destination, domain),
      waitingIn: (queueKey, after, limit) => waitingAt(signed, { kind: 'queueKey', queueKey }, after, limit),
    },
    events: {
      onStored: async ({ address }, { kind }) => void stored.push(`${address} ${kind}`),
      onBreakerOpen: ({ destination }, { ms }) => void pauses.push(`${destination} ${ms}`),
      onResumed: destination => void pauses.push(`${destination} resumed`),
      onRecovery: ({ destination }) => void pauses.push(`${destination} answers`),
      onError: error => void errors.push((error as Error).message),
    },
    largeMessages: new LargeMessages(64 * 1024 * 1024),
    run,
    warmupBudgets: createWarmupBudgets({
      clock,
      run: signed.run,
      plan: {
        caps: warmup.caps,
        starts: new Map(warmup.addresses.map(address => [address, utcMidnight(clock.now())])),
      },
      onSpent: ({ address, provider, cap }) => void pauses.push(`${address} has sent ${cap} to ${provider}`),
      onError: error => void errors.push((error as Error).message),
    }),
    slots: createSlots({
      adaptiveLimit: createAdaptiveLimit({
        clock: systemClock,
        busyShare: createEventLoopUtilization(),
        max: slots,
      }),
      max: slots,
      maxPerAccount: slots,
    }),
    limitsOf: destinationLimits({}),
    capOf: () => null,
    router: createRouter({
      resolver,
      clock,
      random,
      simulatorDomains: new Set([SIMULATOR]),
      ownNames: [],
      smartHostOf: () => undefined,
      hostedOf: async () => undefined,
      securityOf: async () => undefined,
    }),
    maker: {
      ...signed.maker,
      make: make(signed.maker),
      async signAhead(delivery, now) {
        foreseen.push(delivery.ordinal)
        return signed.maker.signAhead(delivery, now)
      },
    },
    forward: (to, queueKey, route) => void forwarded.push({ to, queueKey, route }),
  })
  signed.on('due', queueKeys => worker.addDue(queueKeys as DueQueueKey[]))
  signed.on(HELD, selectors => {
    for (const selector of selectors) worker.hold(selector as MailSelector)
  })
  signed.on(RESUMED, shaper => {
    for (const destination of shaper) worker.probeNow(destination as string)
  })
  let stopped: Promise<number> | undefined
  const stop = (graceMs = 0) => {
    stopped ??= worker.stop(graceMs)
    return stopped
  }
  t.after(async () => {
    let isStopped = false
    const stopping = stop().then(() => {
      isStopped = true
    })
    await until(() => {
      clock.advance(60_000)
      return isStopped
    })
    await stopping
    resolver.close()
  })
  const statusOf = (address: string) =>
    signed.rows<{ status: string }>('select status from deliveries where address = ?', address)[0]?.status
  return {
    ...signed,
    mx,
    zone: server,
    worker,
    failing,
    errors,
    stored,
    pauses,
    foreseen,
    forwarded,
    stop,
    statusOf,
    when: (address: string, status: string) => until(() => statusOf(address) === status),
    send: (...to: string[]) => signed.send(signed.accountId, { to: to.map(name => `${name}@there.test`) }),
    sendTo: (to: string[]) => signed.send(signed.accountId, { to }),
  }
}

function utcMidnight(at: number): number {
  return Date.parse(utcDay(at))
}
