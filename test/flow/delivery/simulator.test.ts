import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { entriesOf } from '../../../src/pipeline/delivery/message/signature-fingerprint.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('simulator')

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  const zone =
    'simulator.test MX 10 mx.there.example\nmx.there.example A 127.0.0.2\nthere.example MX 10 mx.there.example'
  mailhorn = await startMailhorn({ zone, mxPort: mx.port })
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

function send(...to: string[]) {
  return mailhorn.send({ from: 'you@unregistered.example', to, subject: 'hi', text: 'hi' })
}

const cases: [localPart: string, status: string, events: string[]][] = [
  ['delivered', 'delivered', ['email.sent', 'email.delivered']],
  ['delivered+label', 'delivered', ['email.sent', 'email.delivered']],
  ['bounced', 'bounced', ['email.sent', 'email.bounced']],
  ['soft-bounced', 'bounced', ['email.sent', 'email.bounced']],
  ['complained', 'complained', ['email.sent', 'email.delivered', 'email.complained']],
  ['suppressed', 'suppressed', ['email.sent', 'email.suppressed']],
  ['failed', 'failed', ['email.sent', 'email.failed']],
  ['delayed', 'delivered', ['email.sent', 'email.delivery_delayed', 'email.delivered']],
  ['opened', 'delivered', ['email.sent', 'email.delivered', 'email.opened']],
  ['clicked', 'delivered', ['email.sent', 'email.delivered', 'email.opened', 'email.clicked']],
  ['nobody', 'bounced', ['email.sent', 'email.bounced']],
]
for (const [localPart, status, events] of cases)
  test(`simulator: ${localPart}@ ends as ${status}`, async () => {
    const id = await send(`${localPart}@simulator.test`)
    if (localPart === 'delayed') {
      await mailhorn.emailWhen(id, 'delivery_delayed')
      mailhorn.clock.advance(2_300)
    }
    const email = await until(async () => {
      const found = await mailhorn.email(id)
      return found.events.length === events.length ? found : undefined
    })
    assert.is(email.status, status)
    assert.equal(
      email.events.map(({ type }: { type: string }) => type),
      events,
    )
  })

test('simulator: a delayed delivery is tried again after two seconds', async () => {
  const id = await send('delayed@simulator.test')
  const email = await mailhorn.emailWhen(id, 'delivery_delayed')
  const [, delayed] = email.events
  const wait = Date.parse(delayed.data.delay.next_attempt_at) - Date.parse(delayed.created_at)
  assert.ok(Math.abs(wait - 2_000) <= 250, `waits ${wait} ms`)
  mailhorn.clock.advance(2_300)
  await mailhorn.emailWhen(id, 'delivered')
})

test('simulator: bounces contain their type', async () => {
  const hard = await mailhorn.emailWhen(await send('bounced@simulator.test'), 'bounced')
  assert.is(hard.events[1].data.bounce.type, 'Permanent')
  const soft = await mailhorn.emailWhen(await send('soft-bounced@simulator.test'), 'bounced')
  assert.is(soft.events[1].data.bounce.type, 'Transient')
  const nobody = await mailhorn.emailWhen(await send('nobody@simulator.test'), 'bounced')
  assert.is(nobody.events[1].data.bounce.enhanced_code, '5.1.1')
})

test('simulator: opens and clicks are counted', async () => {
  const id = await send('clicked@simulator.test')
  const email = await until(async () => {
    const found = await mailhorn.email(id)
    return found.click_count > 0 ? found : undefined
  })
  assert.is(email.open_count, 1)
  assert.is(email.click_count, 1)
  assert.is(email.events.at(-1).data.click.link, 'https://simulator.test/')
})

test('simulator: mail from a verified domain is signed, other mail is not', async () => {
  await mailhorn.verifiedDomain('here.example')
  const signed = await mailhorn.send({
    from: 'a@here.example',
    to: 'delivered@simulator.test',
    subject: 's',
    text: 't',
  })
  await mailhorn.emailWhen(signed, 'delivered')
  const unsigned = await send('delivered@simulator.test')
  await mailhorn.emailWhen(unsigned, 'delivered')
  const rows = mailhorn.rows<{ proof: Uint8Array | null }>(
    'select proof from deliveries order by email_id desc limit 2',
  )
  assert.is(rows[0]!.proof, null)
  assert.is(entriesOf(rows[1]!.proof!).length, 2)
})

test('simulator: real and simulated recipients can be mixed from a verified domain only', async () => {
  const mixed = { to: ['delivered@simulator.test', 'ok@there.example'], subject: 's', text: 't' }
  const { status, body } = await mailhorn.call('POST', '/emails', {
    key: mailhorn.apiKey,
    body: { ...mixed, from: 'you@unregistered.example' },
  })
  assert.is(status, 403)
  assert.match(body.message, 'unregistered.example')
  const id = await mailhorn.send({ ...mixed, from: 'a@here.example' })
  await mailhorn.emailWhen(id, 'delivered')
  assert.equal(
    mx.messages.map(({ rcptTo }) => rcptTo),
    [['ok@there.example']],
  )
})

test('simulator: after a change of the host name, simulated mail stays simulated', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-renamed-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const startAs = (mailHost: string) => startMailhorn({ dataDir, env: { MAILHORN_MAIL_HOST: mailHost } })
  const delivered = async (app: Mailhorn) => {
    const query = '?metrics=delivered,simulated_delivered'
    const { totals } = (await app.call('GET', `/emails/metrics${query}`, { key: apiKey })).body
    return [totals.delivered, totals.simulated_delivered]
  }
  const sendTo = async (app: Mailhorn, to: string) => {
    const body = { from: 'you@unregistered.example', to, subject: 's', text: 't' }
    const reply = await app.call('POST', '/emails', { key: apiKey, body })
    assert.is(reply.status, 200, JSON.stringify(reply.body))
    return reply.body.id as string
  }
  const emailWhen = (app: Mailhorn, id: string, status: string) =>
    until(async () => {
      const { body } = await app.call('GET', `/emails/${id}`, { key: apiKey })
      return body.status === status
    })
  // mailhorn.test is the default: the installation has no name yet
  const unnamed = await startAs('mailhorn.test')
  const { apiKey } = unnamed
  await emailWhen(unnamed, await sendTo(unnamed, 'delivered@simulator.test'), 'delivered')
  const waiting = await sendTo(unnamed, 'delayed@simulator.test')
  await emailWhen(unnamed, waiting, 'delivery_delayed')
  await unnamed.close()

  const named = await startAs('mail.one.example')
  named.clock.advance(2_300)
  await emailWhen(named, waiting, 'delivered')
  await emailWhen(named, await sendTo(named, 'delivered@simulator.test'), 'delivered')
  await emailWhen(named, await sendTo(named, 'delivered@simulator.mail.one.example'), 'delivered')
  assert.equal(await delivered(named), [4, 4])
  await named.close()

  const renamed = await startAs('mail.two.example')
  t.after(() => renamed.close())
  for (const name of ['simulator.test', 'simulator.mail.one.example', 'simulator.mail.two.example'])
    await emailWhen(renamed, await sendTo(renamed, `delivered@${name}`), 'delivered')
  assert.equal(await delivered(renamed), [7, 7])
  assert.not.ok(renamed.zone.queries.some(({ name }) => name.startsWith('simulator.')))
})

test('simulator: no address is suppressed and no network connection is made', () => {
  assert.is(mailhorn.rows('select 1 from suppressions').length, 0)
  assert.not.ok(mailhorn.zone.queries.some(({ name }) => name === 'simulator.test'))
})

test.run()
