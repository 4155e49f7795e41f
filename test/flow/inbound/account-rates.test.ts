import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('rates of bounces and complaints')
const MINUTE_MS = 60_000
const LOOKS_A_ROUND = 30
let mailhorn: Mailhorn
let session: string

test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})

test.after(() => mailhorn.close())

interface Account {
  id: string
  paused: { since: string; reason: string } | null
}

async function newAccount(name: string): Promise<Account> {
  const body = { name, owner_email: `${name}@shop.example` }
  return (await mailhorn.call('POST', '/accounts', { session, body })).body
}

async function accountNow(id: string): Promise<Account> {
  return (await mailhorn.call('GET', `/accounts/${id}`, { session })).body
}

/** Counted, as its events would have been. */
function counted(id: string, metric: string, count: number) {
  const account = Buffer.from(id.replace(/^acc_|-/g, ''), 'hex')
  const quarter = String(Math.floor(mailhorn.clock.now() / 900_000)).padStart(7, '0')
  const sql =
    'insert into counters (account_id, kind, period, count) values (?, ?, ?, ?) on conflict (account_id, kind, period) do update set count = counters.count + excluded.count'
  mailhorn.change(sql, account, `metrics.${metric}`, quarter, count)
}

/** Looks while rounds of the watch go by: one may be under way that has passed the account already. */
async function inRounds<T>(check: () => Promise<T | null | false>): Promise<T> {
  for (let looks = 0; ; looks++) {
    if (looks % LOOKS_A_ROUND === 0) mailhorn.clock.advance(11 * MINUTE_MS)
    const found = await check()
    if (found) return found
  }
}

async function alertsOf(id: string) {
  const { body } = await mailhorn.call('GET', '/alerts', { session })
  return body.data.filter((alert: { account_id: string }) => alert.account_id === id)
}

test('account rates: an account with too many bounces raises an alert, is paused, and can be released', async () => {
  const { id } = await newAccount('careless')
  counted(id, 'delivered', 1_500)
  counted(id, 'bounced_permanent', 300)
  const { paused } = await inRounds(async () => {
    const account = await accountNow(id)
    return account.paused && account
  })
  assert.match(paused!.reason, /16\.67 % of 1800 deliveries in 24 h bounced for good/)
  const [alert] = await alertsOf(id)
  assert.equal([alert.kind, alert.provider, alert.domain], ['account-bounces', null, null])
  assert.is(alert.account_name, 'careless')

  const released = await mailhorn.call('POST', '/queue/release', { session, body: { account_id: id } })
  assert.is(released.status, 200)
  assert.is((await accountNow(id)).paused, null)
  // What was before is forgiven.
  mailhorn.clock.advance(30 * MINUTE_MS)
  const after = await newAccount('after')
  counted(after.id, 'delivered', 1_000)
  counted(after.id, 'bounced_permanent', 1_000)
  await inRounds(async () => (await accountNow(after.id)).paused)
  assert.is((await accountNow(id)).paused, null)
})

test('account rates: bounces and complaints of the simulator do not count', async () => {
  const tester = addAccount(mailhorn, 'tester')
  const { id } = (await mailhorn.call('GET', '/account', { session: tester.session })).body
  const emails = Array.from({ length: 100 }, (_, i) => ({
    ...{ from: 'ci@anywhere.example', subject: 's', text: 't' },
    to: i % 10 === 0 ? [`complained+${i}@simulator.test`] : [`bounced+${i}@simulator.test`],
  }))
  for (let batch = 0; batch < 13; batch++) {
    const sent = await mailhorn.call('POST', '/emails/batch', { key: tester.apiKey, body: emails })
    assert.is(sent.status, 200)
  }
  const metricsOf = async () =>
    (await mailhorn.call('GET', '/emails/metrics', { key: tester.apiKey })).body.totals
  await until(async () => {
    const { bounced, complained } = await metricsOf()
    return bounced === 1_170 && complained === 130
  })
  const later = await newAccount('later')
  counted(later.id, 'delivered', 1_000)
  counted(later.id, 'bounced_permanent', 1_000)
  await inRounds(async () => (await accountNow(later.id)).paused)
  assert.is((await accountNow(id)).paused, null)
  assert.equal(await alertsOf(id), [])
  const { bounce_rate, complaint_rate } = await metricsOf()
  assert.equal([bounce_rate, complaint_rate], [0, 0])
})

test('account rates: the first account raises an alert and is never paused', async () => {
  const { body: own } = await mailhorn.call('GET', '/account', { session })
  counted(own.id, 'delivered', 1_000)
  counted(own.id, 'complained', 100)
  const [alert] = await inRounds(async () => {
    const alerts = await alertsOf(own.id)
    return alerts.length > 0 && alerts
  })
  assert.is(alert.kind, 'account-complaints')
  assert.is((await accountNow(own.id)).paused, null)
})

test.run()
