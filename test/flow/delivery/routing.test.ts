import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('routing')
const MINUTE_MS = 60_000

const ZONE = `
  plain.example       MX 10 mx1.there.example
  two.example         MX 10 dead.there.example
  two.example         MX 20 mx2.there.example
  away.example        MX 10 away.there.example
  away.example        MX 20 mx2.there.example
  implicit.example    A 127.0.0.2
  alias.example       CNAME plain.example
  null.example        MX 0 .
  empty.example       TXT "no mail here"
  orphan.example      MX 10 nowhere.there.example
  broken.example      SERVFAIL
  silent.example      REFUSED
  flaky.example       SERVFAIL
  loop.example        MX 10 mailhorn.test
  v6.example          MX 10 v6.there.example
  mx1.there.example   A 127.0.0.2
  mx2.there.example   A 127.0.0.3
  dead.there.example  A 127.0.0.9
  away.there.example  A 127.0.0.4
  v6.there.example    AAAA ::1
  v6.there.example    A 127.0.0.2
`

let mx1: FakeMx
let mx2: FakeMx
let away: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx1 = await startFakeMx({ host: '127.0.0.2' })
  mx2 = await startFakeMx({ host: '127.0.0.3', port: mx1.port })
  away = await startFakeMx({ host: '127.0.0.4', port: mx1.port, at: { banner: '421 4.3.2 closing down' } })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx1.port })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  for (const host of [mx1, mx2, away]) await host.close()
})

function send(recipient: string) {
  return mailhorn.send({ from: 'ann@here.example', to: recipient, subject: 'hi', text: 'hi' })
}

for (const [domain, why] of [
  ['plain.example', 'by its MX'],
  ['implicit.example', 'by its address, having no MX'],
  ['alias.example', 'by the MX of its CNAME'],
  ['v6.example', 'over IPv4 where IPv6 is not answered'],
] as const)
  test(`finds ${domain} ${why}`, async () => {
    const id = await send(`ok@${domain}`)
    await mailhorn.emailWhen(id, 'delivered')
    assert.ok(mx1.messages.some(({ rcptTo }) => rcptTo[0] === `ok@${domain}`))
  })

for (const [domain, what] of [
  ['two.example', 'is not there'],
  ['away.example', 'sends everybody away'],
] as const)
  test(`goes to the next MX when the first one ${what}`, async () => {
    const id = await send(`ok@${domain}`)
    const email = await mailhorn.emailWhen(id, 'delivered')
    assert.is(email.recipients[0].mx_host, 'mx2.there.example')
    assert.is(email.recipients[0].attempts, 1)
  })

for (const [domain, enhanced, isSuppressed] of [
  ['null.example', '5.1.10', true],
  ['empty.example', '5.4.4', false],
  ['loop.example', '5.4.6', false],
] as const)
  test(`${domain} bounces at once with ${enhanced}`, async () => {
    const id = await send(`ann@${domain}`)
    const email = await mailhorn.emailWhen(id, 'bounced')
    assert.is(email.events.at(-1).data.bounce.enhanced_code, enhanced)
    assert.match(email.error, new RegExp(`^${enhanced.replaceAll('.', '\\.')} .*${domain}`))
    const rows = mailhorn.rows('select 1 from suppressions where email = ?', `ann@${domain}`)
    assert.is(rows.length > 0, isSuppressed)
  })

test('a missing domain is looked up again after five minutes, and its mail bounces then', async () => {
  const id = await send('ann@missing.example')
  const delayed = await mailhorn.emailWhen(id, 'delivery_delayed')
  const [{ reply, next_attempt_at: nextAt, transcripts }] = delayed.recipients
  assert.is(reply, 'missing.example does not exist')
  assert.ok(Date.parse(nextAt) - Date.parse(transcripts[0].finished_at) >= 5 * 60_000)
  const suppressed = () =>
    mailhorn.rows('select 1 from suppressions where email = ?', 'ann@missing.example').length > 0
  assert.not.ok(suppressed())
  mailhorn.clock.advance(6 * 60_000)
  const email = await mailhorn.emailWhen(id, 'bounced')
  assert.is(email.events.at(-1).data.bounce.enhanced_code, '5.1.2')
  assert.match(email.error, /^5\.1\.2 missing\.example does not exist/)
  assert.ok(suppressed())
})

test('a domain whose MX host has no address bounces without blaming the recipient', async () => {
  const email = await mailhorn.emailWhen(await send('ann@orphan.example'), 'bounced')
  assert.is(email.error, '5.4.4 nowhere.there.example has no address')
  assert.is(email.events.at(-1).data.bounce.enhanced_code, '5.4.4')
  assert.is(mailhorn.rows('select 1 from suppressions where email = ?', 'ann@orphan.example').length, 0)
})

for (const domain of ['broken.example', 'silent.example'])
  test(`${domain}, whose name server fails, is tried again later`, async () => {
    const email = await mailhorn.emailWhen(await send(`ann@${domain}`), 'delivery_delayed')
    assert.match(email.recipients[0].reply, `the MX hosts of ${domain} are not known`)
  })

test('mail waits for a name server that comes back', async () => {
  const id = await send('ok@flaky.example')
  await mailhorn.emailWhen(id, 'delivery_delayed')
  mailhorn.zone.remove('flaky.example')
  mailhorn.zone.add('flaky.example MX 10 mx1.there.example')
  mailhorn.clock.advance(1.1 * MINUTE_MS)
  await mailhorn.emailWhen(id, 'delivered')
})

test('a hundred domains with the same MX hosts share connections', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `d${i}.many.example`)
  mailhorn.zone.add(names.map(name => `${name} MX 10 mx1.there.example`).join('\n'))
  const before = mx1.sessionCount
  const ids = await Promise.all(names.map(name => send(`ok@${name}`)))
  for (const id of ids) await mailhorn.emailWhen(id, 'delivered')
  assert.ok(mx1.sessionCount - before <= 20, `${mx1.sessionCount - before} connections`)
})

test('an idle connection that the MX host has closed does not count as an attempt', async () => {
  const tired = await startFakeMx({ host: '127.0.0.5', port: mx1.port, acceptThenClose: true })
  mailhorn.zone.add('tired.example MX 10 mx.tired.example\nmx.tired.example A 127.0.0.5')
  try {
    for (let i = 0; i < 5; i++) {
      const email = await mailhorn.emailWhen(await send(`ok${i}@tired.example`), 'delivered')
      assert.is(email.recipients[0].attempts, 1)
    }
  } finally {
    await tired.close()
  }
})

test('private addresses are refused unless the setting allows them', async t => {
  const strict = await t.using(
    startMailhorn({
      zone: ZONE,
      mxPort: mx1.port,
      env: { MAILHORN_DELIVERY_ALLOW_PRIVATE_ADDRESSES: 'false' },
    }),
  )
  await strict.verifiedDomain('here.example')
  const before = mx1.sessionCount
  const id = await strict.send({ from: 'a@here.example', to: 'ok@plain.example', subject: 's', text: 't' })
  const email = await strict.emailWhen(id, 'bounced')
  assert.is(email.error, '5.4.4 mx1.there.example has the private address 127.0.0.2')
  assert.is(mx1.sessionCount, before)
})

test('with several delivery threads each destination is served by one, and all mail arrives', async t => {
  const threaded = await t.using(
    startMailhorn({ zone: ZONE, mxPort: mx1.port, env: { MAILHORN_DELIVERY_THREADS: '3' } }),
  )
  await threaded.verifiedDomain('here.example')
  const names = Array.from({ length: 30 }, (_, i) => `t${i}.threads.example`)
  threaded.zone.add(names.map((name, i) => `${name} MX 10 mx${(i % 2) + 1}.there.example`).join('\n'))
  const ids = await Promise.all(
    names.map(name => threaded.send({ from: 'a@here.example', to: `ok@${name}`, subject: 's', text: 't' })),
  )
  for (const id of ids) await threaded.emailWhen(id, 'delivered')
  await until(() => mx1.messages.length + mx2.messages.length >= 30)
})

test.run()
