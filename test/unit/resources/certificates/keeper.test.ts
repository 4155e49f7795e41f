import { X509Certificate } from 'node:crypto'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { createOutbound } from '../../../../src/protocols/http-client/outbound.ts'
import {
  findCertificate,
  findHttpAnswer,
  listDnsAnswers,
} from '../../../../src/resources/certificates/certificate-rows.ts'
import {
  type KeeperOptions,
  type ManagedCertificate,
  startCertificateKeeper,
} from '../../../../src/resources/certificates/keeper.ts'
import type { OperatorAlertRow } from '../../../../src/store/model/schema/alerts.ts'
import { type AuthorityOptions, startAuthority } from '../../../kit/authority.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testAuthority } from '../../../kit/tls.ts'
import { until } from '../../../kit/until.ts'

/**
 * The certificate of the listeners is got from an authority, renewed in time, and kept when the authority
 * fails.
 */
const test = suite('acme/keeper')

const HOST = 'mail.example.com'
const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

async function setUp(t: TestContext, more: Partial<AuthorityOptions> = {}) {
  const clock = createManualClock()
  const store = await t.using(openLocalStore())
  const secrets = createSecretKeys(Buffer.alloc(32, 7))
  const authority = await t.using(
    startAuthority({
      now: clock.now,
      async prove({ type, name, token }) {
        const texts = await listDnsAnswers(store.db, name, clock.now())
        return type === 'dns-01' ? texts[0] : findHttpAnswer(store.db, token, clock.now())
      },
      ...more,
    }),
  )
  const alerts: OperatorAlertRow[] = []
  const client = (authorities?: string[]) =>
    createOutbound({
      resolver: { addresses4: async () => NOTHING, addresses6: async () => NOTHING },
      clock: systemClock, // requests take their time, however the clock is moved
      allowPrivate: true,
      ...(authorities && { authorities }),
    })
  const common: Omit<KeeperOptions, 'outbound'> & ManagedCertificate = {
    ...{ db: store.db, run: store.run, secrets, clock },
    random: () => 0,
    owner: 'one',
    isAlone: true,
    directoryUrl: authority.directoryUrl,
    email: 'ann@example.com',
    host: HOST,
    names: [HOST, `mta-sts.${HOST}`],
    typeFor: () => 'dns-01',
    onCertificate() {},
    onFailure: alert => alerts.push(alert),
    onError(error) {
      throw error
    },
  }
  const start = (
    options: Partial<KeeperOptions & ManagedCertificate> = {},
    outbound = client([testAuthority()]),
  ) => {
    const all: KeeperOptions & ManagedCertificate = { ...common, outbound, ...options }
    const { stop } = startCertificateKeeper(all, all)
    const close = async () => {
      outbound.close()
      await stop()
    }
    t.after(close)
    return close
  }
  const row = () => findCertificate(store.db, HOST)
  /** Time goes on in small steps while it is waited for; requests under way take none. */
  const meanwhile = <T>(find: () => Promise<T | undefined> | T | undefined): Promise<T> =>
    until(async () => {
      const found = await find()
      if (found === undefined && clock.timerCount > 0) clock.advance(2_000)
      return found
    })
  const certified = () => meanwhile(async () => ((await row())?.chain ? row() : undefined))
  const failed = (count: number) =>
    meanwhile(async () => ((await row())?.failures === count ? row() : undefined))
  return { clock, store, authority, alerts, common, client, start, row, meanwhile, certified, failed }
}

const NOTHING = { kind: 'no-data' } as const

for (const type of ['dns-01', 'http-01'] as const)
  test(`ACME: a certificate for all names is issued with ${type}`, async t => {
    const { clock, store, authority, start, certified } = await setUp(t)
    start({ typeFor: () => type })
    const row = (await certified())!
    const certificate = new X509Certificate(row.chain!)
    for (const name of [HOST, `mta-sts.${HOST}`]) assert.is(certificate.checkHost(name), name)
    assert.equal(authority.contacts, [['mailto:ann@example.com']])
    assert.equal(store.announced('certificate'), [HOST])
    assert.is(row.endsAt, Date.parse(certificate.validTo))
    assert.is(row.nextAt, row.startsAt! + ((row.endsAt! - row.startsAt!) * 2) / 3)
    assert.equal([row.failures, row.orderUrl, row.leaseOwner], [0, null, null])
    assert.equal(await listDnsAnswers(store.db, HOST, clock.now()), [])
    assert.ok(!Buffer.from(row.key!).includes('PRIVATE KEY'))
  })

test('ACME: it is renewed after two thirds of its lifetime with the same account', async t => {
  const { clock, authority, start, row, certified, meanwhile } = await setUp(t)
  start()
  const first = (await certified())!
  clock.advance(59 * DAY_MS)
  assert.is((await row())!.chain, first.chain)
  clock.advance(2 * DAY_MS)
  const second = await meanwhile(async () => {
    const now = await row()
    return now!.chain === first.chain ? undefined : now
  })
  assert.ok(second!.endsAt! > first.endsAt!)
  assert.is(authority.contacts.length, 1)
})

test('ACME: a restart orders nothing while the certificate is valid', async t => {
  const { clock, authority, start, certified } = await setUp(t)
  const stop = start()
  await certified()
  await stop()
  const steps = authority.steps.length
  start()
  clock.advance(DAY_MS)
  await until(() => clock.timerCount > 0)
  assert.is(authority.steps.length, steps)
})

test('ACME: changed names cause a new order', async t => {
  const { start, row, certified, meanwhile } = await setUp(t)
  const stop = start()
  const first = (await certified())!
  await stop()
  start({ names: [HOST, 'app.example.com'], typeFor: () => 'http-01' })
  const second = await meanwhile(async () => {
    const now = await row()
    return now!.chain === first.chain ? undefined : now
  })
  assert.is(new X509Certificate(second!.chain!).checkHost('app.example.com'), 'app.example.com')
})

for (const [what, step, fault, told] of [
  [
    'a limit',
    'newOrder',
    { status: 429, type: 'rateLimited', detail: 'too many', retryAfter: '7200' },
    /rateLimited: too many/,
  ],
  [
    'a refusal',
    'newOrder',
    { status: 403, type: 'rejectedIdentifier', detail: 'not you' },
    /rejectedIdentifier: not you/,
  ],
  ['an accident of the authority', 'finalize', { status: 500 }, /answered 500/],
  ['a reply that is no JSON', 'authz', { status: 200 }, /cannot be read/],
] as const)
  test(`ACME: ${what} raises an alert, keeps the certificate and is retried`, async t => {
    const { clock, authority, start, certified, failed, alerts, meanwhile, row } = await setUp(t)
    const stop = start()
    const first = (await certified())!
    await stop()
    clock.advance(61 * DAY_MS)
    authority.failNext(step, fault)
    start()
    const failedRow = (await failed(1))!
    assert.is(failedRow.chain, first.chain)
    await until(() => alerts.length > 0)
    assert.match(failedRow.fault!, told)
    assert.equal(
      alerts.map(({ kind, domain, provider }) => [kind, domain, provider]),
      [['certificate', HOST, '127.0.0.1']],
    )
    assert.match(alerts[0]!.reply, told)
    const waitMs = failedRow.nextAt - failedRow.failedAt!
    assert.is(waitMs, 'retryAfter' in fault ? 120 * MINUTE_MS : 10 * MINUTE_MS)
    clock.advance(waitMs)
    const second = await meanwhile(async () => {
      const now = await row()
      return now!.chain === first.chain ? undefined : now
    })
    assert.equal([second!.failures, second!.fault], [0, null])
  })

test('ACME: an expired nonce is retried', async t => {
  const { authority, start, certified, alerts } = await setUp(t)
  for (const step of ['newAccount', 'newOrder', 'challenge', 'finalize', 'cert'])
    authority.failNext(step, { status: 400, type: 'badNonce', detail: 'too old' })
  start()
  await certified()
  assert.equal(alerts, [])
})

test('ACME: refused nonces are retried six times', async t => {
  const { authority, start, failed } = await setUp(t)
  for (let i = 0; i < 9; i++) authority.failNext('newOrder', { status: 400, type: 'badNonce' })
  start()
  assert.match((await failed(1))!.fault!, /badNonce/)
  assert.is(authority.steps.filter(step => step === 'newOrder').length, 6)
})

test('ACME: a failed challenge ends the order; the next order uses another challenge', async t => {
  const { clock, authority, start, failed, certified } = await setUp(t, {
    prove: ({ type, expected }) => (type === 'http-01' ? expected : undefined),
  })
  const requests: number[] = []
  start({
    typeFor(_, failures) {
      requests.push(failures)
      return failures % 2 === 0 ? 'dns-01' : 'http-01'
    },
  })
  const row = (await failed(1))!
  assert.match(row.fault!, /mail\.example\.com was not proven by dns-01: found nothing/)
  assert.is(row.orderUrl, null)
  clock.advance(10 * MINUTE_MS)
  await certified()
  assert.is(authority.orderCount, 2)
  assert.equal([...new Set(requests)], [0, 1])
})

test('ACME: retry delays grow up to twelve hours', async t => {
  const { clock, authority, start, failed } = await setUp(t)
  start()
  const waits: number[] = []
  for (let count = 1; count <= 8; count++) {
    authority.failNext('newOrder', { status: 403, type: 'unauthorized' })
    if (count > 1) clock.advance(waits.at(-1)! * MINUTE_MS)
    const { nextAt, failedAt } = (await failed(count))!
    waits.push((nextAt - failedAt!) / MINUTE_MS)
  }
  assert.equal(waits, [10, 20, 40, 80, 160, 320, 640, 720])
})

test('ACME: an unreachable authority is retried', async t => {
  const { authority, start, failed, alerts } = await setUp(t)
  await authority.close()
  start()
  assert.match((await failed(1))!.fault!, /the authority cannot be asked: the host refuses the connection/)
  await until(() => alerts.length === 1)
})

test('ACME: an untrusted authority is refused', async t => {
  const { authority, start, failed, client } = await setUp(t)
  start({}, client())
  assert.match((await failed(1))!.fault!, /TLS failed/)
  assert.equal(authority.steps, [])
})

test('ACME: a slow validation is awaited', async t => {
  const { start, certified, alerts } = await setUp(t, { slow: 3 })
  start()
  await certified()
  assert.equal(alerts, [])
})

test('ACME: an endless validation is continued later', async t => {
  const { clock, authority, start, failed, certified } = await setUp(t, { slow: 20 })
  start()
  const row = (await failed(1))!
  assert.match(row.fault!, /takes too long/)
  assert.ok(row.orderUrl)
  clock.advance(10 * MINUTE_MS)
  await certified()
  assert.is(authority.orderCount, 1)
})

test('ACME: a deleted account is created again', async t => {
  const { clock, authority, start, certified, meanwhile, row } = await setUp(t)
  start()
  const first = (await certified())!
  authority.forget()
  clock.advance(61 * DAY_MS)
  await meanwhile(async () => ((await row())!.chain === first.chain ? undefined : true))
  assert.is(authority.contacts.length, 2)
})

/** Simulates a kill at each step: whatever the killed process stored stays. */
for (const step of ['newAccount', 'newOrder', 'authz', 'challenge', 'order', 'finalize', 'cert'])
  test(`ACME: killed during ${step}, the order continues at the next start`, async t => {
    const { authority, start, certified, store, common, client } = await setUp(t)
    const died = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    let isDead = false
    authority.failNext(step, {
      status: 500,
      meanwhile() {
        reached.resolve()
        return died.promise
      },
    })
    const never = new Promise<never>(() => {})
    const living = client([testAuthority()])
    t.after(living.close)
    const dying: KeeperOptions & ManagedCertificate = {
      ...common,
      outbound: {
        async send(request) {
          const reply = await living.send(request)
          return isDead ? never : reply
        },
      },
      run: (...requests) => (isDead ? never : store.run(...requests)),
    }
    startCertificateKeeper(dying, dying)
    await reached.promise
    isDead = true
    died.resolve()
    start({ owner: 'the next process' })
    await certified()
    assert.is(authority.orderCount, 1)
  })

test('ACME: one process orders; another takes over its lease', async t => {
  const { clock, authority, start, row, certified, meanwhile } = await setUp(t)
  const waiting = Promise.withResolvers<void>()
  t.after(waiting.resolve)
  authority.failNext('newOrder', { status: 500, meanwhile: () => waiting.promise })
  start({ isAlone: false, owner: 'one' })
  await meanwhile(() => authority.steps.includes('newOrder') || undefined)
  start({ isAlone: false, owner: 'two' })
  clock.advance(MINUTE_MS)
  assert.is((await row())!.leaseOwner, 'one')
  clock.advance(5 * MINUTE_MS)
  await certified()
  assert.is(authority.steps.filter(step => step === 'newOrder').length, 2)
})

test.run()
