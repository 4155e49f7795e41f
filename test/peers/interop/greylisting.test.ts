import * as assert from 'uvu/assert'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { startPostfix } from '../../kit/postfix.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startPostgrey } from './postgrey.ts'

const test = suite('peers: Postfix with postgrey')
const MINUTE_MS = 60_000

async function open(t: TestContext) {
  const postgrey = await t.using(startPostgrey())
  const postfix = await t.using(
    startPostfix({
      host: '127.0.0.3',
      domain: 'there.test',
      mailboxes: ['ann', 'bob'],
      settings: [`smtpd_recipient_restrictions = check_policy_service inet:127.0.0.1:${postgrey.port}`],
    }),
  )
  const zone = 'there.test MX 10 mx.there.test\nmx.there.test A 127.0.0.3'
  const mailhorn = await t.using(startMailhorn({ dns: true, zone, mxPort: postfix.port }))
  await mailhorn.verifiedDomain('here.example')
  const send = (to: string, subject: string) =>
    mailhorn.send({ from: 'Ann <ann@here.example>', to, subject, text: 'Hello' })
  return {
    postfix,
    mailhorn,
    send,
    /** For all of them. */
    advance(ms: number) {
      postgrey.advance(ms)
      mailhorn.clock.advance(ms)
    },
    /** Once there have been so many attempts. */
    attempts: (id: string, count: number) =>
      until(async () => {
        const { transcripts } = (await mailhorn.email(id)).recipients[0]
        return transcripts.length === count && transcripts
      }),
  }
}

test('a message is tried again after one minute, and five minutes after that it is let in', async t => {
  const { postfix, mailhorn, send, advance, attempts } = await open(t)
  const id = await send('ann@there.test', 'Grey')
  const [first] = await attempts(id, 1)
  assert.is(first.outcome, 'deferred')
  assert.match(first.reply, /^450 4\.2\.0 .*Greylisted/)

  advance(1.1 * MINUTE_MS)
  assert.is((await attempts(id, 2))[1].outcome, 'deferred')
  assert.equal(postfix.mail('ann'), [])

  advance(5.5 * MINUTE_MS)
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(
    email.recipients[0].transcripts.map(({ outcome }: { outcome: string }) => outcome),
    ['deferred', 'deferred', 'delivered'],
  )
  assert.equal(
    email.events.map(({ type }: { type: string }) => type),
    ['email.sent', 'email.delivery_delayed', 'email.delivered'],
  )
  await postfix.received('ann', 'Subject: Grey')
})

test('the next message to the same address is let in at once: the return path is a new one, and is not taken for it', async t => {
  const { mailhorn, send, advance, attempts } = await open(t)
  const first = await send('ann@there.test', 'First')
  await attempts(first, 1)
  advance(7 * MINUTE_MS)
  await mailhorn.emailWhen(first, 'delivered')
  const second = await send('ann@there.test', 'Second')
  await mailhorn.emailWhen(second, 'delivered')
  assert.is((await attempts(second, 1))[0].outcome, 'delivered')
  assert.match((await attempts(await send('bob@there.test', 'Third'), 1))[0].reply, /Greylisted/)
})

test.run()
