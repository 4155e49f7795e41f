import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { type Id, parseWireId, wireId } from '../../src/lib/ids.ts'
import { startFakeMx } from '../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'
import { type Asked, type Endpoint, type Manner, startEndpoint } from './webhooks-endpoint.ts'

const test = suite('webhooks: an endpoint that is down for an hour', { limitMs: 900_000 })
const SENDS = Number(process.env.WEBHOOK_SENDS ?? 100_000)
const BATCH = 100
/** Every nth message is sent over SMTP; the others go to the simulator. */
const REAL_EVERY = 10
/** So few that each of their attempts finds a turn among those that fail, soon after it is due. */
const FEW = 20
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Shorter than any limit of an attempt: one that has just begun is not cut off by it. */
const STEP_MS = 4_000
const LEASE_MS = 40_000
/** Minimum delays between attempts according to docs/webhooks.md; `LATEST` times as much is the maximum. */
const WAITS_MS = [5_000, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, 10 * HOUR_MS]
const LATEST = 1.1
/** At 0 s, 5 s, 5 min and 35 min; the next would be in the third hour. */
const FIRST_HOUR_ATTEMPTS = 4

test(`${SENDS} emails are sent meanwhile: each event is told once, and was tried as often as was its turn`, async t => {
  const { endpoints, send, stepTo, rows, ended, catchUp, clock, mx } = await openWorld(t, 'failing')
  const [well, down] = endpoints as [Served, Served]
  const began = clock.now()
  for (let minute = 1, sent = 0; minute <= 60; minute++) {
    const goal = Math.round((minute * SENDS) / 60)
    await send(goal - sent)
    sent = goal
    await until(() => well.requests.length === sent)
    await stepTo(began + minute * MINUTE_MS)
  }
  const waiting = await rows(down)
  const failures = down.requests.length
  assert.is(waiting.length, SENDS)
  assertCounted(waiting, down.requests)
  assert.ok(waiting.every(({ success, attempts }) => success === 0 && attempts <= FIRST_HOUR_ATTEMPTS))
  assert.ok(failures > HOUR_MS / STEP_MS / 2, `${failures} attempts`)
  down.manner = 'well'

  await catchUp()
  assert.is(well.requests.length, SENDS)
  assert.is(down.requests.length, failures + SENDS, 'one success each, and every failure before it')
  for (const endpoint of endpoints) {
    assert.is(ended(endpoint).length, SENDS)
    assert.ok(ended(endpoint).every(({ success }) => success === 1))
    assertCounted(ended(endpoint), endpoint.requests)
    assertOnSchedule(endpoint)
  }
  assert.equal(new Set(well.happenedAt.keys()), new Set(down.happenedAt.keys()))
  assert.is(mx.messages.length, Math.ceil(SENDS / REAL_EVERY))
  const tries = [...Map.groupBy(waiting, ({ attempts }) => attempts)].toSorted(([a], [b]) => a - b)
  console.log(
    `${failures} attempts in vain; of ${SENDS} events ${tries.map(([attempts, of]) => `${of.length} were tried ${attempts} times`).join(', ')}`,
  )
})

test('where every attempt finds its turn, there are four in that hour, whether it answers or refuses', async t => {
  const { endpoints, send, stepTo, rows, ended, catchUp, clock } = await openWorld(t, 'failing', 'refusing')
  const [well, failing, refusing] = endpoints as [Served, Served, Served]
  const began = clock.now()
  await send(FEW)
  await until(() => well.requests.length === FEW)
  await stepTo(began + HOUR_MS)
  const inVain = FEW * FIRST_HOUR_ATTEMPTS
  for (const endpoint of [failing, refusing])
    assert.equal(
      (await rows(endpoint)).map(({ attempts }) => attempts),
      Array(FEW).fill(FIRST_HOUR_ATTEMPTS),
    )
  assertCounted(await rows(failing), failing.requests)
  assert.equal([failing.requests.length, failing.refusedCount], [inVain, 0])
  assert.equal([refusing.requests.length, refusing.refusedCount], [0, inVain])
  failing.manner = 'well'
  refusing.manner = 'well'

  await catchUp()
  assert.ok(
    clock.now() - began >= WAITS_MS.slice(0, FIRST_HOUR_ATTEMPTS).reduce((sum, wait) => sum + wait, 0),
  )
  assert.equal([failing.requests.length, refusing.requests.length], [inVain + FEW, FEW])
  for (const endpoint of [failing, refusing])
    assert.equal(
      ended(endpoint).map(({ success, attempts }) => [success, attempts]),
      Array(FEW).fill([1, FIRST_HOUR_ATTEMPTS + 1]),
    )
  assert.ok(refusing.requests.every(({ isTaken }) => isTaken))
  assert.is(new Set(refusing.requests.map(({ eventId }) => eventId)).size, FEW)
  assertOnSchedule(well)
  assertOnSchedule(failing)
})

interface Served extends Endpoint {
  webhookId: Id
}

/** An event as it is recorded for a webhook. */
interface Recorded {
  eventId: Id
  attempts: number
  success: number
  isLeased: number
}

/** The service with its mail, an endpoint that is well, and some that are not. */
async function openWorld(t: TestContext, ...manners: Manner[]) {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const mailhorn = await t.using(
    startMailhorn({
      zone: 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2\n',
      mxPort: mx.port,
      env: { MAILHORN_WEBHOOKS_ALLOW_INSECURE_LOOPBACK: 'true' },
    }),
  )
  const { clock } = mailhorn
  await mailhorn.verifiedDomain('here.example')
  const endpoints: Served[] = []
  for (const manner of ['well' as const, ...manners])
    endpoints.push(await subscribed(mailhorn, await startEndpoint(t, { clock, manner })))
  const told = openBooks(t, mailhorn)
  const isStill = () => endpoints.every(({ webhookId }) => !told.isLeased(webhookId))
  const isDue = () => endpoints.some(({ webhookId }) => told.isDue(webhookId))
  const triesOf = () =>
    endpoints.reduce((sum, { requests, refusedCount }) => sum + requests.length + refusedCount, 0)
  return {
    ...{ clock, mx, endpoints },
    send: senderOf(mailhorn),
    /** Resolves with the waiting events when none is leased: a lease counts the attempt before it is made. */
    rows: ({ webhookId }: Served) =>
      until(() => {
        const waiting = isStill() ? told.waiting(webhookId) : []
        return waiting.length > 0 && waiting.every(({ isLeased }) => !isLeased) ? waiting : undefined
      }),
    ended: ({ webhookId }: Served) => told.ended(webhookId),
    /**
     * Moves the clock while nothing is under way; after each step somebody has a turn, if anything is due.
     */
    async stepTo(at: number) {
      while (clock.now() < at) {
        await until(isStill)
        const before = triesOf()
        clock.advance(STEP_MS)
        await until(() => triesOf() > before || !isDue())
      }
    },
    /** Lets time pass until nothing waits, while nothing is under way or due. */
    async catchUp() {
      for (;;) {
        await until(() => !isDue() && isStill())
        const next = Math.min(...endpoints.map(({ webhookId }) => told.nextAt(webhookId)))
        if (next === Number.POSITIVE_INFINITY) return
        clock.advance(next - clock.now() + STEP_MS)
      }
    },
  }
}

async function subscribed(mailhorn: Mailhorn, endpoint: Endpoint): Promise<Served> {
  const session = await mailhorn.signIn()
  const body = { url: endpoint.url, events: ['email.delivered'] }
  const { status, body: webhook } = await mailhorn.call('POST', '/webhooks', { session, body })
  assert.is(status, 201, JSON.stringify(webhook))
  return Object.assign(endpoint, { webhookId: parseWireId('wh', webhook.id)! })
}

function senderOf(mailhorn: Mailhorn) {
  let sent = 0
  const sendBatch = async (count: number) => {
    const body = Array.from({ length: count }, () => {
      const to = sent % REAL_EVERY === 0 ? `ok-${sent}@there.example` : `delivered+${sent}@simulator.test`
      sent++
      return { from: 'ann@here.example', to, subject: 's', text: 't' }
    })
    const { status } = await mailhorn.call('POST', '/emails/batch', { key: mailhorn.apiKey, body })
    assert.is(status, 200)
  }
  return async (count: number) => {
    const sizes = Array.from({ length: Math.ceil(count / BATCH) }, (_, i) =>
      Math.min(BATCH, count - i * BATCH),
    )
    await Promise.all(sizes.map(sendBatch))
  }
}

/** Records events that have ended in a table, because the service keeps only the newest of them. */
function openBooks(t: TestContext, mailhorn: Mailhorn) {
  mailhorn.change('create table ended (webhook_id, event_id, attempts, success, lease_until)')
  mailhorn.change(
    `create trigger ends after update of state on webhook_deliveries when new.state = 1 begin
       insert into ended values (new.webhook_id, new.event_id, new.attempts, new.success, new.lease_until); end`,
  )
  const database = new Database(join(mailhorn.dataDir, 'mailhorn.db'), { readonly: true })
  t.after(() => database.close())
  const { clock } = mailhorn
  const waiting = 'from webhook_deliveries where webhook_id = ? and state = 0'
  const columns = 'event_id as "eventId", attempts, success, lease_until is not null as "isLeased"'
  const leased = database.prepare(
    `select 1 ${waiting} and next_at > ? and next_at <= ? and lease_until is not null`,
  )
  const due = database.prepare(`select 1 ${waiting} and next_at <= ?`)
  const next = database.prepare(`select min(next_at) as at ${waiting}`)
  const all = database.prepare(`select ${columns} ${waiting}`)
  const ended = database.prepare(`select ${columns} from ended where webhook_id = ?`)
  return {
    isLeased: (id: Id) => leased.get(id, clock.now(), clock.now() + LEASE_MS) !== undefined,
    isDue: (id: Id) => due.get(id, clock.now()) !== undefined,
    nextAt: (id: Id) => (next.get(id) as { at: number | null }).at ?? Number.POSITIVE_INFINITY,
    waiting: (id: Id) => all.all(id) as Recorded[],
    ended: (id: Id) => ended.all(id) as Recorded[],
  }
}

/** Asserts that each event has as many recorded attempts as the endpoint has received requests. */
function assertCounted(recorded: readonly Recorded[], requests: readonly Asked[]) {
  const seen = Map.groupBy(requests, ({ eventId }) => eventId)
  const different = recorded.filter(
    ({ eventId, attempts }) => attempts !== (seen.get(wireId('evt', eventId))?.length ?? 0),
  )
  assert.equal(different, [])
}

/**
 * Nothing is asked before its time, or after it was taken; and of what is due, whatever has been due for
 * longest is asked first, so that nothing is left out. (Of requests that are under way together, any may come
 * first.)
 */
function assertOnSchedule({ requests, happenedAt }: Endpoint) {
  const before = new Map<string, Asked[]>()
  const windows = requests.map(one => {
    const former = before.get(one.eventId) ?? []
    before.set(one.eventId, [...former, one])
    const last = former.at(-1)
    if (!last) return { earliest: happenedAt.get(one.eventId)!, latest: happenedAt.get(one.eventId)! }
    assert.not(last.isTaken, `${one.eventId} is told again`)
    const wait = WAITS_MS[former.length - 1]!
    assert.ok(
      one.at - last.at >= wait,
      `${one.eventId} is tried ${one.at - last.at} ms after attempt ${former.length}`,
    )
    return { earliest: last.at + wait, latest: last.at + wait * LATEST }
  })
  assert.ok([...before.values()].every(tries => tries.at(-1)!.isTaken))
  let soonest = Number.POSITIVE_INFINITY
  let later = requests.length - 1
  for (const [i, { earliest }] of [...windows.entries()].toReversed()) {
    for (; requests[later]!.at > requests[i]!.at + STEP_MS; later--)
      soonest = Math.min(soonest, windows[later]!.latest)
    assert.ok(earliest <= soonest + 2 * STEP_MS, `request ${i} came before another that was due earlier`)
  }
}

test.run()
