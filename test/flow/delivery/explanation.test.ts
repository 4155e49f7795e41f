import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('why an email has not arrived')

const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
  refused.example   MX 10 mx.refused.example
  mx.refused.example A 127.0.0.9
  closed.example    MX 0 .
`

let mx: FakeMx
let mailhorn: Mailhorn
let session: string

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  await mailhorn.verifiedDomain('here.example')
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const send = (...to: string[]) => mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hi' })
const post = (path: string, body: object) => mailhorn.call('POST', path, { key: mailhorn.apiKey, body })

test('six recipients: each has its reason, and the email counts them', async () => {
  const id = await send(
    ...['ok1@there.example', 'ok2@there.example', 'perm-550-511@there.example'],
    ...['defer-451@there.example', 'x@refused.example', 'y@closed.example'],
  )
  const isSettled = ({ status, attempts }: { status: string; attempts: number }) =>
    attempts > 0 && status !== 'sent' && status !== 'queued'
  const email = await until(async () => {
    const read = await mailhorn.email(id)
    return read.recipients.every(isSettled) ? read : undefined
  })
  assert.is(email.explanation.summary, '2 delivered, 2 bounced, 2 waiting')
  const codes = email.recipients.map((one: { explanation: { code: string } }) => one.explanation.code)
  assert.equal(codes.slice(0, 3), ['delivered', 'delivered', 'no_such_user'])
  assert.equal(codes.slice(4), ['connection_refused', 'null_mx'])
  assert.is(email.recipients[4].explanation.summary, 'mx.refused.example refused the connection.')
  assert.match(email.recipients[4].explanation.action, /^Nothing to do: it is retried until .* UTC\.$/)
  const delayedEvent = email.events.find(({ type }: { type: string }) => type === 'email.delivery_delayed')
  assert.match(delayedEvent.data.explanation.action, /^Nothing to do: it is retried until/)
  const times = email.recipients.map((one: { next_attempt_at: string | null }) => one.next_attempt_at)
  assert.ok(times[4] !== null && Date.parse(times[4]) > Date.now() - 1_000)
  const bounced = email.events.find(({ type }: { type: string }) => type === 'email.bounced')
  assert.ok(['no_such_user', 'null_mx'].includes(bounced.data.explanation.code))
})

test('a held email says so, and does not promise an attempt', async () => {
  const hold = { domain: 'there.example', reason: 'their server is down' }
  await mailhorn.call('POST', '/queue/hold', { session, body: hold })
  const id = await send('ok3@there.example')
  const { explanation } = await mailhorn.email(id)
  assert.equal(
    [explanation.code, explanation.summary, explanation.next_attempt_at],
    ['held_by_operator', 'Held by the operator: their server is down.', null],
  )
  await mailhorn.call('POST', '/queue/release', { session, body: { domain: 'there.example' } })
  await mailhorn.emailWhen(id, 'delivered')
})

test('an account retries and gives up one recipient of its own email', async () => {
  const id = await send('a@refused.example', 'b@refused.example')
  await until(async () => (await mailhorn.email(id)).status === 'delivery_delayed' || undefined)
  const unknown = await post(`/emails/${id}/give-up`, { recipient: 'c@refused.example' })
  assert.is(unknown.status, 404)
  await until(async () => {
    const { recipients } = await mailhorn.email(id)
    return recipients[0].status === 'delivery_delayed' || undefined
  })
  const { status, body } = await post(`/emails/${id}/give-up`, { recipient: 'a@refused.example' })
  assert.is(status, 200)
  assert.is(body.recipients[0].explanation.code, 'given_up')
  assert.is(
    body.recipients[0].explanation.summary,
    'Given up by the account. Last reason: mx.refused.example refused the connection.',
  )
  assert.is.not(body.recipients[1].explanation.code, 'given_up')
  const retried = await post(`/emails/${id}/retry`, {})
  assert.is(retried.status, 200)
  const input = await post(`/emails/${id}/give-up`, {})
  assert.is(input.status, 200)
})

test('a scheduled email says when it will be sent', async () => {
  const at = new Date(Date.now() + 86_400_000).toISOString()
  const email = {
    from: 'ann@here.example',
    to: 'ok@there.example',
    subject: 'hi',
    text: 'hi',
    scheduled_at: at,
  }
  const { explanation } = await mailhorn.email(await mailhorn.send(email))
  assert.equal([explanation.code, explanation.next_attempt_at], ['scheduled', at])
})

test('a bounced recipient has the entry of the suppression list, as long as there is one', async () => {
  const id = await send('perm-550-512@there.example')
  const { recipients, explanation } = await mailhorn.emailWhen(id, 'bounced')
  assert.is(recipients[0].suppression.reason, 'bounce')
  assert.match(explanation.action, /added to the suppression list/)
  await mailhorn.call('DELETE', '/suppressions/perm-550-512@there.example', { key: mailhorn.apiKey })
  assert.is((await mailhorn.email(id)).recipients[0].suppression, null)
})

test('the simulator is named, and does not blame the address', async () => {
  const id = await send('suppressed@simulator.test')
  const { explanation } = await mailhorn.emailWhen(id, 'suppressed')
  assert.is(explanation.summary, 'Simulated: Not sent: suppressed@simulator.test is on the suppression list.')
})

test.run()
