import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('SMTP verdicts')
const MINUTE_MS = 60_000

const ZONE = `
  there.example       MX 10 mx.there.example
  mx.there.example    A 127.0.0.2
  lossy.example       MX 10 mx.lossy.example
  mx.lossy.example    A 127.0.0.3
  listing.example     MX 10 mx.listing.example
  mx.listing.example  A 127.0.0.4
  eager.example       MX 10 mx.eager.example
  mx.eager.example    A 127.0.0.5
`

let mx: FakeMx
let lossy: FakeMx
let eager: FakeMx
let mailhorn: Mailhorn
const others: FakeMx[] = []

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  const { port } = mx
  lossy = await startFakeMx({
    host: '127.0.0.3',
    port,
    at: { dot: times => (times === 0 ? 'drop' : undefined) },
  })
  const banner = '554 5.7.1 your host is listed at a blocklist'
  const listing = await startFakeMx({ host: '127.0.0.4', port, at: { banner } })
  eager = await startFakeMx({ host: '127.0.0.5', port, dataAfterRefusedRcpt: '354' })
  others.push(lossy, listing, eager)
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: port })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  for (const host of [mx, ...others]) await host.close()
})

function to(...recipients: string[]) {
  return { from: 'ann@here.example', to: recipients, subject: 'hi', text: 'hi' }
}

function types(email: { events: { type: string }[] }) {
  return email.events.map(({ type }) => type)
}

function suppressed(address: string): boolean {
  return mailhorn.rows('select 1 from suppressions where email = ?', address).length > 0
}

test('a permanent refusal of the recipient bounces and suppresses the address', async () => {
  const id = await mailhorn.send(to('perm-550-511@there.example'))
  const email = await mailhorn.emailWhen(id, 'bounced')
  assert.match(email.error, /^550 5\.1\.1 .*\(mx\.there\.example\)$/)
  assert.equal(types(email), ['email.sent', 'email.bounced'])
  const { bounce } = email.events[1].data
  assert.is(bounce.type, 'Permanent')
  assert.is(bounce.class, 'invalid-recipient')
  assert.is(bounce.code, 550)
  assert.is(bounce.enhanced_code, '5.1.1')
  assert.is(bounce.mx_host, 'mx.there.example')
  assert.ok(suppressed('perm-550-511@there.example'))

  const again = await mailhorn.send(to('Perm-550-511@There.example'))
  const held = await mailhorn.email(again)
  assert.is(held.status, 'suppressed')
  assert.equal(types(held), ['email.suppressed'])
  assert.is(held.recipients[0].attempts, 0)
})

test('mail to an address that is suppressed while it waits is not attempted again', async () => {
  const address = 'defer-451+waiting@there.example'
  const id = await mailhorn.send(to(address))
  await mailhorn.emailWhen(id, 'delivery_delayed')
  const tries = mx.triesOf(address)
  mailhorn.change(
    `insert into suppressions (account_id, email, id, reason, created_at)
     select account_id, ?, id, 'manual', 0 from emails limit 1`,
    address,
  )
  mailhorn.clock.advance(1.1 * MINUTE_MS)
  const email = await mailhorn.emailWhen(id, 'suppressed')
  assert.is(mx.triesOf(address), tries)
  assert.is(types(email).at(-1), 'email.suppressed')
})

test('a refusal of the content bounces and suppresses no address', async () => {
  const id = await mailhorn.send(to('dot-554-571@there.example'))
  const email = await mailhorn.emailWhen(id, 'bounced')
  assert.is(email.recipients[0].transcripts[0].phase, 'final-dot')
  assert.not.ok(suppressed('dot-554-571@there.example'))
})

test('a transient refusal is reported once and retried after about a minute', async () => {
  const id = await mailhorn.send(to('grey-2@there.example'))
  const delayed = await mailhorn.emailWhen(id, 'delivery_delayed')
  const wait = Date.parse(delayed.recipients[0].next_attempt_at) - Date.parse(delayed.last_event_at)
  assert.ok(wait >= 0.9 * MINUTE_MS && wait <= 1.1 * MINUTE_MS, `waits ${wait} ms`)
  assert.match(delayed.events[1].data.delay.reply, /^451 4\.7\.1/)
  assert.is(delayed.events[1].data.delay.attempt, 1)

  mailhorn.clock.advance(1.1 * MINUTE_MS)
  await until(async () => (await mailhorn.email(id)).recipients[0].transcripts.length === 2)
  mailhorn.clock.advance(5.5 * MINUTE_MS)
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.is(email.recipients[0].attempts, 3)
  assert.equal(types(email), ['email.sent', 'email.delivery_delayed', 'email.delivered'])
  assert.equal(
    email.recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
    ['deferred', 'deferred', 'delivered'],
  )
  assert.is(mx.triesOf('grey-2@there.example'), 3)
})

for (const [recipient, phase] of [
  ['defer-451', 'rcpt'],
  ['drop-after-mail', 'mail'],
  ['drop-after-rcpt', 'rcpt'],
  ['drop-after-data', 'data'],
  ['drop-mid-body', 'body'],
  ['drop-after-dot', 'final-dot'],
  ['garbage-rcpt', 'rcpt'],
  ['dot-451', 'final-dot'],
] as const)
  test(`${recipient} defers the delivery and blames nobody`, async () => {
    const id = await mailhorn.send(to(`${recipient}@there.example`))
    const email = await mailhorn.emailWhen(id, 'delivery_delayed')
    assert.equal(types(email), ['email.sent', 'email.delivery_delayed'])
    const [attempt] = email.recipients[0].transcripts
    assert.is(attempt.outcome, 'deferred')
    if (recipient !== 'drop-mid-body') assert.is(attempt.phase, phase)
    assert.not.ok(suppressed(`${recipient}@there.example`))
  })

test('a message lost after the final dot is sent again with the same Message-ID', async () => {
  const id = await mailhorn.send(to('ok@lossy.example'))
  await mailhorn.emailWhen(id, 'delivery_delayed')
  mailhorn.clock.advance(1.1 * MINUTE_MS)
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.is(lossy.messages.length, 1)
  assert.ok(lossy.messages[0]!.headers.includes(`Message-ID: ${email.message_id}`))
})

test('421 in the middle of a session does not affect recipients', async () => {
  const ids = await Promise.all(
    Array.from({ length: 10 }, (_, i) => mailhorn.send(to(`421-after-3+${i}@there.example`))),
  )
  for (const id of ids) {
    const email = await mailhorn.emailWhen(id, 'delivered')
    assert.equal(types(email), ['email.sent', 'email.delivered'])
  }
})

test('each recipient of an email has its own outcome', async () => {
  const id = await mailhorn.send({
    ...to('ok@there.example', 'perm-550-511+one@there.example'),
    cc: 'defer-451+one@there.example',
    bcc: 'ok2@there.example',
  })
  const recipients = await until(async () => {
    const email = await mailhorn.email(id)
    const settled = email.recipients.every(
      ({ status }: { status: string }) => !['queued', 'sent'].includes(status),
    )
    return settled && email.status === 'bounced' ? email.recipients : undefined
  })
  assert.equal(
    recipients.map(({ address, kind, status }: Record<string, string>) => [address, kind, status]),
    [
      ['ok@there.example', 'to', 'delivered'],
      ['perm-550-511+one@there.example', 'to', 'bounced'],
      ['defer-451+one@there.example', 'cc', 'delivery_delayed'],
      ['ok2@there.example', 'bcc', 'delivered'],
    ],
  )
  const hidden = mx.messages.filter(({ rcptTo }) => rcptTo[0] === 'ok2@there.example')
  assert.is(hidden.length, 1)
  assert.not.ok(mx.messages.some(({ data }) => data.includes('ok2@there.example')))
})

test('a pipelined DATA answered 354 after a refused recipient delivers nothing', async () => {
  const id = await mailhorn.send(to('perm-550-511@eager.example'))
  await mailhorn.emailWhen(id, 'bounced')
  const other = await mailhorn.send(to('ok@eager.example'))
  await mailhorn.emailWhen(other, 'delivered')
  assert.equal(
    eager.messages.map(({ rcptTo }) => rcptTo),
    [['ok@eager.example']],
  )
})

test('a banner of 554 is not a verdict about the recipient', async () => {
  const id = await mailhorn.send(to('ok@listing.example'))
  const email = await mailhorn.emailWhen(id, 'delivery_delayed')
  assert.is(email.recipients[0].transcripts[0].phase, 'banner')
  assert.not.ok(suppressed('ok@listing.example'))
})

test('mail that cannot be delivered in 48 hours fails, and the address is not suppressed', async () => {
  const id = await mailhorn.send(to('defer-451+old@there.example'))
  await mailhorn.emailWhen(id, 'delivery_delayed')
  mailhorn.clock.advance(48 * 60 * MINUTE_MS)
  const email = await mailhorn.emailWhen(id, 'failed')
  assert.match(email.error, /^expired after 48 h: 451 /)
  assert.equal(types(email), ['email.sent', 'email.delivery_delayed', 'email.failed'])
  assert.not.ok(suppressed('defer-451+old@there.example'))
})

test('the client violated no protocol rule in these tests', () => {
  for (const host of [mx, ...others]) assert.equal(host.violations, [])
})

test.run()
