import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import {
  COUNTED_METRICS,
  metricKind,
  metricsOf,
  periodOf,
  QUARTER_MS,
  quarterOf,
} from '../../../../src/resources/events/metrics.ts'
import {
  DIMENSIONS,
  type MetricsQuestion,
  reportMetrics,
} from '../../../../src/resources/events/metrics-report.ts'
import type { EventType } from '../../../../src/resources/events/types.ts'
import { command } from '../../../../src/store/model/command.ts'
import { commands as allCommands } from '../../../../src/workers/commands.ts'
import { isOnPostgres } from '../../../kit/database.ts'
import { endings, finishFor, newId, postOver, SIMULATOR } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('events/metrics')
const FROM = ['a@one.test', 'b@two.test', 'c@far.test', 'd@gone.test']
const TO = [
  'a@there.test',
  'b@there.test',
  'suppressed@there.test',
  'a@simulator.test',
  'suppressed@simulator.test',
]
const ZONES = ['UTC', 'Asia/Kathmandu', 'America/New_York', 'Australia/Lord_Howe']
const LANES = ['there.test', SIMULATOR].flatMap(domain =>
  [0, 2].map(deliveryClass => ({ domain, deliveryClass })),
)
const ENDINGS = ['delivered', 'bounced', 'permanent', 'transient', 'deferred', 'failed'] as const

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      from: fc.nat(FROM.length - 1),
      to: fc.subarray(TO, { minLength: 1 }),
      broadcast: fc.nat(3),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('attempts' as const),
      limit: fc.integer({ min: 1, max: 5 }),
      ending: fc.constantFrom(...ENDINGS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('opened' as const, 'clicked' as const, 'complain' as const),
      delivery: fc.nat(40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait' as const),
      ms: fc.integer({ min: 1, max: 3 * 86_400_000 }),
    }),
  },
)
const question = fc.record({
  begin: fc.nat(1_000),
  end: fc.nat(1_000),
  timeZone: fc.constantFrom(...ZONES),
  granularity: fc.constantFrom('hourly' as const, 'daily' as const, 'weekly' as const, 'monthly' as const),
  dimensions: fc.subarray([...DIMENSIONS]),
  domains: fc.option(fc.subarray([0, 1, 2], { minLength: 1 }), { nil: null }),
  broadcasts: fc.option(fc.subarray([0, 1], { minLength: 1 }), { nil: null }),
  emails: fc.option(fc.array(fc.nat(30), { minLength: 1, maxLength: 5 }), { nil: null }),
})

interface EventOfEmail {
  type: string
  recipient: string | null
  data: string
  at: number
  email: Id
  domain: Id | null
  broadcast: Id | null
  /** Addresses of all its recipients. */
  recipients: string
}

test('metrics: reports agree with the events after any history', async () => {
  let counted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: 50 }),
      fc.array(question, { minLength: 10, maxLength: 20 }),
      async (steps, questions) => {
        const store = await openLocalStore()
        try {
          const post = postOver(store)
          const accountId = post.account()
          const domains = ['one.test', 'two.test', 'far.test', 'gone.test'].map(name =>
            post.domain(accountId, name, name === 'far.test' ? { region: 'eu-west-1' } : {}),
          )
          const broadcasts = [newId(1), newId(1)]
          post.suppress(accountId, 'suppressed@there.test')
          post.suppress(accountId, 'suppressed@simulator.test')
          const begin = post.clock.now()
          for (const action of steps) {
            post.clock.advance(60_000)
            if (action.kind === 'wait') post.clock.advance(action.ms)
            else if (action.kind === 'send') {
              const { name, input } = await post.request(accountId, {
                from: FROM[action.from]!,
                to: action.to,
              })
              input.emails[0]!.row.broadcastId = broadcasts[action.broadcast] ?? null
              await store.run(name, input)
            } else if (action.kind === 'attempts') {
              for (const { domain, deliveryClass } of LANES)
                for (const delivery of await post.claim(accountId, domain, {
                  limit: action.limit,
                  class: deliveryClass,
                }))
                  await store.run(
                    'finish',
                    finishFor(delivery, post.clock.now(), endingOf(action.ending, post.clock.now())),
                  )
            } else {
              const deliveries = store.rows<{ email_id: Id; ordinal: number }>(
                'select email_id, ordinal from deliveries order by email_id, ordinal',
              )
              const delivery = deliveries[action.delivery % deliveries.length]
              if (!delivery) continue
              const { email_id: emailId, ordinal } = delivery
              const ref = { accountId, emailId, ordinal, at: post.clock.now(), data: {} }
              if (action.kind === 'complain') await store.run('complain', { ...ref, suppress: false })
              else await store.run(action.kind, ref)
            }
          }
          await store.run('deleteDomain', { accountId, id: domains[3]!, at: post.clock.now() })
          const stranger = post.account('Stranger')
          const span = post.clock.now() - begin + 2 * QUARTER_MS
          const quarter = (part: number) =>
            Math.floor((begin + (span * part) / 1_000) / QUARTER_MS) * QUARTER_MS
          const emails = store.rows<{ id: Id }>('select id from emails order by id').map(({ id }) => id)
          const events = eventsOf(store.rows)
          counted += events.length
          for (const requests of questions) {
            if (requests.emails ? emails.length === 0 : requests.dimensions.includes('email')) continue
            if (requests.emails && (requests.broadcasts || requests.dimensions.includes('broadcast')))
              continue
            if (!requests.broadcasts && requests.dimensions.includes('broadcast')) continue
            const [from, to] = [quarter(requests.begin), quarter(requests.end)].sort((a, b) => a - b) as [
              number,
              number,
            ]
            const wanted: MetricsQuestion = {
              ...requests,
              ...{ accountId, from, to },
              domains: requests.domains?.map(i => domains[i]!) ?? null,
              broadcasts: requests.broadcasts?.map(i => broadcasts[i]!) ?? null,
              emails: requests.emails?.map(i => emails[i % emails.length]!) ?? null,
            }
            const report = await reportMetrics(store.db, wanted)
            const shown = Object.fromEntries(
              report.rows.map(({ period, domainId, broadcastId, emailId, counts }) => [
                [period, ...[domainId, broadcastId, emailId].map(id => id && idText(id))].join(),
                counts,
              ]),
            )
            assert.equal(
              { totals: report.totals, rows: shown },
              expected(events, wanted, domains.slice(0, 3)),
              JSON.stringify({ ...requests, from, to }),
            )
            assert.equal((await reportMetrics(store.db, { ...wanted, accountId: stranger })).totals, {})
          }
        } finally {
          await store.close()
        }
      },
    ),
    { seed: 20261121, numRuns: isOnPostgres ? 4 : 20 },
  )
  assert.ok(counted > (isOnPostgres ? 100 : 300), `only ${counted} events`)
})

/** Everything happens in every quarter of an hour. */
const countAlways = command<
  { accountId: Id; domain: Id | null; from: number; to: number; count: number },
  void
>(async (tx, { accountId, domain, from, to, count }) => {
  for (const metric of COUNTED_METRICS)
    for (let quarter = from; quarter < to; quarter++)
      tx.count(accountId, metricKind(metric, domain, null), periodOf(quarter), count)
})

test('metrics: a report covers a month of a busy account', async t => {
  const store = await t.using(openLocalStore({ ...allCommands, countAlways }))
  const post = postOver(store)
  const accountId = post.account()
  const domains = ['one.test', 'two.test'].map(name => post.domain(accountId, name))
  const to = quarterOf(post.clock.now())
  const from = to - 30 * 96
  await store.run('countAlways', { accountId, domain: null, from, to, count: 3 })
  for (const domain of domains) await store.run('countAlways', { accountId, domain, from, to, count: 1 })
  const { totals, rows } = await reportMetrics(store.db, {
    ...{ accountId, from: from * QUARTER_MS, to: to * QUARTER_MS, timeZone: 'UTC', granularity: 'monthly' },
    ...{ dimensions: ['period', 'domain'], domains: null, broadcasts: null, emails: null },
  })
  assert.is(totals.sent, 3 * 30 * 96)
  const ofNone = rows.filter(({ domainId }) => domainId === null)
  assert.is(
    ofNone.reduce((sum, { counts }) => sum + counts.sent!, 0),
    30 * 96,
  )
})

function endingOf(ending: (typeof ENDINGS)[number], now: number) {
  if (ending === 'delivered') return {}
  if (ending === 'deferred') return endings.deferred(now)
  if (ending === 'failed') return endings.failed()
  const type = { bounced: undefined, permanent: 'Permanent', transient: 'Transient' }[ending]
  return { ...endings.bounced(), event: { type: 'email.bounced' as const, data: { bounce: { type } } } }
}

function eventsOf(rows: <T>(sql: string) => T[]): EventOfEmail[] {
  return rows<EventOfEmail>(
    `select e.type, e.recipient, e.data, e.created_at as at, m.id as email, m.domain_id as domain, m.broadcast_id as broadcast,
       m.to_list as recipients
     from events e join emails m on m.id = e.subject_id order by e.subject_id, e.id`,
  )
}

/** One after another, as the words say it. @param known domains that the account still has */
function expected(events: readonly EventOfEmail[], requests: MetricsQuestion, known: readonly Id[]) {
  const isIn = (ids: readonly Id[] | null, id: Id | null) =>
    ids === null || (id !== null && ids.some(one => idText(one) === idText(id)))
  const totals: Record<string, number> = {}
  const rows: Record<string, Record<string, number>> = {}
  const seen = new Set<string>()
  for (const { type, recipient, data, at, email, domain, broadcast, recipients } of events) {
    const key = [type, recipient, idText(email)].join()
    const isRepeated = seen.has(key)
    seen.add(key)
    if (at < requests.from || at >= requests.to) continue
    if (
      !isIn(requests.domains, domain) ||
      !isIn(requests.broadcasts, broadcast) ||
      !isIn(requests.emails, email)
    )
      continue
    const has = (dimension: (typeof DIMENSIONS)[number]) => requests.dimensions.includes(dimension)
    const isKnown = requests.emails !== null || (domain !== null && isIn(known, domain))
    const place = [
      has('period') ? periodName(at, requests) : null,
      has('domain') && isKnown && domain ? idText(domain) : null,
      has('broadcast') && broadcast ? idText(broadcast) : null,
      has('email') ? idText(email) : null,
    ].join()
    const isSimulated = (JSON.parse(recipients) as { address: string }[])
      .map(({ address }) => address)
      .filter(address => recipient === null || address === recipient)
      .every(address => address.endsWith(`@${SIMULATOR}`))
    for (const metric of metricsOf({ type: type as EventType, data: JSON.parse(data), isRepeated }))
      for (const name of isSimulated ? [metric, `simulated_${metric}`] : [metric]) {
        totals[name] = (totals[name] ?? 0) + 1
        if (requests.dimensions.length === 0) continue
        rows[place] ??= {}
        rows[place][name] = (rows[place][name] ?? 0) + 1
      }
  }
  return { totals, rows }
}

/** Returns the name of a period by the runtime's date functions, independently of our code. */
function periodName(at: number, { timeZone, granularity }: MetricsQuestion): string {
  const quarter = Math.floor(at / QUARTER_MS) * QUARTER_MS
  const date = new Date(quarter).toLocaleDateString('sv-SE', { timeZone })
  if (granularity === 'daily') return date
  if (granularity === 'monthly') return `${date.slice(0, 7)}-01`
  if (granularity === 'weekly') {
    const day = new Date(`${date}T00:00Z`)
    while (day.getUTCDay() !== 1) day.setUTCDate(day.getUTCDate() - 1)
    return day.toISOString().slice(0, 10)
  }
  const hour = new Date(quarter).toLocaleTimeString('sv-SE', { timeZone }).slice(0, 2)
  const [, offset] = /GMT(.*)$/.exec(
    new Date(quarter).toLocaleString('en-US', { timeZone, timeZoneName: 'longOffset' }),
  )!
  return `${date}T${hour}:00:00${!offset || offset === '+00:00' ? 'Z' : offset}`
}

test.run()
