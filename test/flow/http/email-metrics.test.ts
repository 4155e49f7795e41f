import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('GET /emails/metrics')
const DAY_MS = 86_400_000
const TO = ['delivered', 'bounced', 'soft-bounced', 'complained', 'suppressed', 'failed', 'opened', 'clicked']
let mailhorn: Mailhorn
let one = ''
let two = ''
const ids: string[] = []
test.before(async () => {
  mailhorn = await startMailhorn()
  one = (await mailhorn.verifiedDomain('one.example')).id
  two = (await mailhorn.verifiedDomain('two.example')).id
  for (const from of ['ann@one.example', 'bob@nowhere.example'])
    for (const to of TO) {
      const id = await mailhorn.send({ from, to: `${to}@simulator.test`, subject: 's', text: 't' })
      ids.push(id)
    }
  const ends = ['email.opened', 'email.clicked', 'email.complained']
  for (const [i, id] of ids.entries())
    for (;;) {
      const { events } = await mailhorn.email(id)
      const wanted = { opened: ends[0], clicked: ends[1], complained: ends[2] }[TO[i % TO.length]!]
      if (events.some(({ type }: { type: string }) => type !== 'email.sent' && (!wanted || type === wanted)))
        break
    }
})
test.after(() => mailhorn.close())

const ask = (query = '', key = mailhorn.apiKey) => mailhorn.call('GET', `/emails/metrics${query}`, { key })
const COUNTS = {
  sent: 8,
  delivered: 4,
  bounced: 2,
  bounced_permanent: 1,
  bounced_transient: 1,
  complained: 1,
  suppressed: 1,
  failed: 1,
  unique_clicked: 1,
  clicked: 1,
}
const some = (body: Record<string, number>) =>
  Object.fromEntries(Object.keys(COUNTS).map(metric => [metric, body[metric]]))
const twice = Object.fromEntries(Object.entries(COUNTS).map(([metric, count]) => [metric, 2 * count]))

test('counts the last days by default', async () => {
  const { status, body } = await ask()
  assert.is(status, 200)
  assert.equal(
    [body.object, body.granularity, body.dimensions, body.data],
    ['metrics', 'daily', [], undefined],
  )
  assert.equal(some(body.totals), twice)
  const real = Object.keys(body.totals).filter(metric => !metric.startsWith('simulated_'))
  assert.equal(real.sort(), body.metrics.toSorted(), 'as the SDKs know them')
  assert.equal([body.totals.received, body.totals.unsubscribed], [0, 0])
  assert.equal(
    Object.keys(COUNTS).map(metric => body.totals[`simulated_${metric}`]),
    Object.values(twice),
  )
  const span = Date.parse(body.end_date) - Date.parse(body.start_date)
  assert.ok(span >= 6 * DAY_MS && span < 6 * DAY_MS + 900_000)
})

test('groups by domain, with other mail separate', async () => {
  const { body } = await ask('?dimensions=domain&metrics=sent,bounced')
  assert.equal(body.data, [
    { domain_id: null, domain_name: null, sent: 8, bounced: 2 },
    { domain_id: one, domain_name: 'one.example', sent: 8, bounced: 2 },
  ])
  assert.equal(body.totals, { sent: 16, bounced: 4 })
  const only = await ask(`?domain_id=${one}&dimensions=period,domain&metrics=sent`)
  assert.equal(only.body.totals, { sent: 8 })
  assert.ok(only.body.data.every((row: { domain_id: string }) => row.domain_id === one))
  assert.equal((await ask(`?domain_id=${two}`)).body.totals.sent, 0)
})

test('groups by period in a time zone', async () => {
  const { body } = await ask('?dimensions=period&granularity=monthly&metrics=sent&timezone=Asia/Tokyo')
  const month = new Date(mailhorn.clock.now())
    .toLocaleDateString('sv-SE', { timeZone: 'Asia/Tokyo' })
    .slice(0, 7)
  assert.equal(body.data, [{ period: `${month}-01`, sent: 16 }])
})

test('groups by email', async () => {
  const [delivered, bounced] = ids
  const { body } = await ask(`?dimensions=email&email_id=${delivered},${bounced}&metrics=delivered,bounced`)
  assert.equal(body.data, [
    { email_id: delivered, delivered: 1, bounced: 0 },
    { email_id: bounced, delivered: 0, bounced: 1 },
  ])
})

test('can be read by the resend package', async () => {
  const resend = new Resend(mailhorn.apiKey, { baseUrl: mailhorn.baseUrl })
  const all = requireData(await resend.emails.metrics())
  assert.equal([all.object, all.totals.sent], ['metrics', 16])
  const report = requireData(
    await resend.emails.metrics({
      startDate: new Date(mailhorn.clock.now() - DAY_MS).toISOString(),
      timezone: 'Europe/Vienna',
      granularity: 'hourly',
      metrics: ['sent', 'delivery_rate'],
      dimensions: ['period', 'domain'],
      domainId: [one],
    }),
  )
  assert.equal(
    [report.metrics, report.dimensions],
    [
      ['sent', 'delivery_rate'],
      ['period', 'domain'],
    ],
  )
  assert.match(report.data![0]!.period!, /^\d{4}-\d\d-\d\dT\d\d:00:00\+0[12]:00$/)
  assert.equal(report.totals, { sent: 8, delivery_rate: 0 })
})

test('computes rates of real mail only, by recipient', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const zone = 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2'
  const other = await t.using(startMailhorn({ zone, mxPort: mx.port }))
  await other.verifiedDomain('here.example')
  const send = (...to: string[]) => other.send({ from: 'ann@here.example', to, subject: 's', text: 't' })
  const mixed = ['ok@there.example', 'bounced@simulator.test', 'complained@simulator.test']
  for (const id of [await send(...mixed), await send('ok-2@there.example')])
    await other.emailWhen(id, 'complained', 'delivered')
  await other.emailWhen(await send('bounced+1@simulator.test'), 'bounced')

  const { totals } = (await other.call('GET', '/emails/metrics', { key: other.apiKey })).body
  assert.equal([totals.sent, totals.simulated_sent], [3, 1])
  assert.equal([totals.delivered, totals.simulated_delivered], [3, 1])
  assert.equal([totals.bounced, totals.simulated_bounced], [2, 2])
  assert.equal([totals.complained, totals.simulated_complained], [1, 1])
  assert.equal([totals.delivery_rate, totals.bounce_rate, totals.complaint_rate], [1, 0, 0])
})

test('takes a date as the whole day and ignores the future', async () => {
  const today = new Date(mailhorn.clock.now()).toISOString().slice(0, 10)
  const { body } = await ask(`?start_date=2000-01-01&end_date=${today}&metrics=sent`)
  assert.is(body.totals.sent, 16)
  assert.ok(Date.parse(body.end_date) <= mailhorn.clock.now())
  const past = await ask('?start_date=2000-01-01&end_date=2000-01-31')
  assert.equal([past.status, past.body.totals.sent], [200, 0])
})

test('shows an account, or a key bound to a domain, its own mail only', async () => {
  const stranger = addAccount(mailhorn, 'stranger')
  assert.is((await ask('', stranger.apiKey)).body.totals.sent, 0)
  for (const query of [`?domain_id=${one}`, `?email_id=${ids[0]}`])
    assertRefusal(await ask(query, stranger.apiKey), { status: 404, name: 'not_found' })
  const session = await mailhorn.signIn()
  const body = { name: 'bound', domain_id: two }
  const { token } = (await mailhorn.call('POST', '/api-keys', { session, body })).body
  assert.is((await ask('', token)).body.totals.sent, 0)
  for (const query of [`?domain_id=${one}`, `?domain_id=${two},${one}`, `?email_id=${ids[0]}`])
    assertRefusal(await ask(query, token), { status: 404, name: 'not_found' })
  assert.is((await ask(`?domain_id=${two}`, token)).status, 200)
})

for (const [query, path] of [
  ['start_date=yesterday', 'start_date'],
  ['start_date=2999-01-01', 'start_date'],
  ['end_date=2026-13-01', 'end_date'],
  ['timezone=Mars/Olympus', 'timezone'],
  ['granularity=yearly', 'granularity'],
  ['metrics=sent,nonsense', 'metrics'],
  ['dimensions=color', 'dimensions'],
  ['dimensions=email', 'email_id'],
  ['domain_id=x', 'domain_id'],
  ['email_id=eml_01990000-0000-7000-8000-000000000000&dimensions=broadcast', 'email_id'],
] as const)
  test(`refuses ${query}`, async () => {
    assertRefusal(await ask(`?${query}`), { status: 422, name: 'validation_error', path })
  })

test('reaches back no further than the plan keeps emails', async () => {
  mailhorn.clock.advance(91 * DAY_MS)
  const { body } = await ask('?start_date=2020-01-01&metrics=sent')
  assert.is(body.totals.sent, 0)
  assert.ok(Date.parse(body.start_date) >= mailhorn.clock.now() - 90 * DAY_MS)
})

test.run()
