import * as assert from 'uvu/assert'
import { mailhornCommand } from '../../kit/command-line.ts'
import { suite } from '../../kit/suite.ts'
import { SILENT, startUndeliveredHosts, UNDELIVERED, UNDELIVERED_ZONE } from '../../kit/undelivered.ts'
import { until } from '../../kit/until.ts'
import { startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('why an email has not arrived: API, webhook and command line say the same')
const EVENTS = ['email.bounced', 'email.delivery_delayed', 'email.suppressed']

test('each reason is true, and the same in all places', async t => {
  const hosts = await startUndeliveredHosts(t)
  const mailhorn = await t.using(startMailhornWithWebhooks({ zone: UNDELIVERED_ZONE, mxPort: hosts.port }))
  const sink = await startSink(t)
  await mailhorn.verifiedDomain('here.example')
  const session = await mailhorn.signIn()
  await mailhorn.call('POST', '/webhooks', { session, body: { url: sink.url, events: EVENTS } })
  const ids = await hosts.sendAll(mailhorn)
  for (const [i, { name, code, summary, untrue, event }] of UNDELIVERED.entries()) {
    const { explanation, recipients } = await mailhorn.email(ids[i]!)
    assert.is(explanation.code, code, name)
    assert.ok(
      typeof summary === 'string' ? explanation.summary === summary : summary.test(explanation.summary),
      `${name}: ${explanation.summary}`,
    )
    assert.not.match(`${explanation.summary} ${explanation.action}`, untrue, name)
    assert.equal(recipients[0].explanation, explanation, name)
    const isAhead =
      explanation.next_attempt_at === null || Date.parse(explanation.next_attempt_at) > Date.now() - 1_000
    assert.ok(isAhead, `${name}: ${explanation.next_attempt_at}`)

    const { out } = await mailhornCommand(['email', 'show', ids[i]!], mailhorn)
    assert.ok(out.includes(explanation.summary), `${name}: ${out}`)
    assert.not.match(out.replaceAll(/^ {4}.*$|Attempt.*$/gm, ''), untrue, name)

    if (!event) continue
    const told = await until(() =>
      sink.events().find(({ type, data }) => type === event && data.email_id === ids[i]),
    )
    assert.equal([told.data.explanation.code, told.data.explanation.summary], [code, explanation.summary])
  }
  mailhorn.clock.advance(5 * 60_000 + 1_000)
  const silent = await until(async () => {
    const { explanation } = await mailhorn.email(ids.at(-1)!)
    return explanation.code === SILENT.code && explanation
  })
  assert.is(silent.summary, SILENT.summary)
})

test.run()
