import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { EVENT_TYPES } from '../../../src/resources/events/types.ts'
import { openSession } from '../../kit/accounts.ts'
import { causeEveryEvent, untilEveryEvent } from '../../kit/every-event.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { snippet } from '../../kit/webhook-docs.ts'
import { type ReceivedEvent, startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('webhooks/event types')

type Verify = (secret: string, headers: Record<string, unknown>, body: string) => boolean

/** Returns the verifier that docs/webhooks.md shows. */
async function documented(): Promise<Verify> {
  const code = `${snippet('js')}\nexport { isGood }`
  const module = await import(`data:text/javascript,${encodeURIComponent(code)}`)
  return module.isGood as Verify
}

test('webhooks: all event types are delivered for real events, each with a valid signature', async t => {
  const mailhorn = await t.using(startMailhornWithWebhooks())
  const session = openSession(mailhorn, 'bearer')
  const sink = await startSink(t)
  const { body: webhook } = await mailhorn.call('POST', '/webhooks', {
    session,
    body: { url: sink.url, events: EVENT_TYPES, standard_webhooks: true },
  })
  const { domain, contact } = await causeEveryEvent(mailhorn, session)
  await untilEveryEvent(mailhorn, sink)

  const isGood = await documented()
  const { webhooks } = new Resend('re_unused')
  for (const { headers, body } of sink.requests) {
    const secret = webhook.signing_secret
    // the clock of the service was moved on
    const drift = Number(headers['svc-timestamp']) * 1_000 - Date.now()
    assert.ok(drift > -60_000)
    if (drift < 240_000) assert.ok(isGood(secret, headers, `${body}`))
    assert.not(isGood(secret, headers, `${body} `))
    const [id, timestamp, signature] = ['id', 'timestamp', 'signature'].map(name =>
      String(headers[`webhook-${name}`]),
    )
    if (drift < 240_000)
      webhooks.verify({
        ...{ payload: `${body}`, webhookSecret: secret },
        headers: { id: id!, timestamp: timestamp!, signature: signature! },
      })
  }

  const dataOf = (type: string) => sink.events().find((event: ReceivedEvent) => event.type === type)!.data
  assert.equal(
    [dataOf('domain.verified').id, dataOf('domain.verified').status, dataOf('domain.deleted').name],
    [domain.id, 'verified', 'mine.example'],
  )
  const records = dataOf('domain.created').records as { type: string; host: string; value: string }[]
  assert.equal(
    records.map(({ type, host, value }) => [type, host, value]),
    domain.records.map(({ type, host, value }) => [type, host, value]),
  )
  assert.not(JSON.stringify(dataOf('domain.created')).includes('verification_token'))
  assert.equal([dataOf('contact.created').id, dataOf('contact.updated').last_name], [contact.id, 'Doe'])
  for (const type of ['contact.created', 'contact.updated', 'contact.deleted'])
    assert.equal(dataOf(type).segment_ids, [contact.audience_id], type)
  assert.equal(
    [dataOf('email.received').subject, dataOf('email.received').to],
    ['hello', ['box@mine.example']],
  )
  const { email_id: receivedId } = dataOf('email.received')
  const received = await mailhorn.call('GET', `/emails/receiving/${receivedId}`, { key: mailhorn.apiKey })
  assert.equal([received.status, received.body.id], [200, receivedId])
  const { click } = dataOf('email.clicked')
  assert.equal([click.ipAddress, click.userAgent], [click.ip_address, click.user_agent])
  assert.ok(Date.parse(click.timestamp))
  assert.equal(dataOf('email.complained').tags, { a: 'b' })
  assert.equal(dataOf('email.delivered').to.length, 1)
  assert.ok(dataOf('email.failed').failed.reason)
  assert.ok(dataOf('email.suppressed').suppressed.message)
  assert.ok(dataOf('email.scheduled').scheduled.scheduled_at)
  assert.ok(dataOf('email.delivery_delayed').delay.reply)

  for (const type of EVENT_TYPES) {
    const sent = sink.requests.length
    await mailhorn.call('POST', `/webhooks/${webhook.id}/test`, { session, body: { type } })
    const sample = await until(() =>
      sink
        .events()
        .slice(sent)
        .find(({ data }) => data.test),
    )
    assert.equal(namesIn({ ...sample.data, test: undefined }), namesIn(dataOf(type)), type)
  }
})

/** Names of the fields, and of the fields of objects in them. Tags and properties have names of the user. */
function namesIn(data: Record<string, unknown>): string[] {
  return Object.entries(data)
    .flatMap(([name, value]) => {
      if (value === undefined) return []
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      if (!isObject || name === 'tags' || name === 'properties') return [name]
      return [name, ...namesIn(value as Record<string, unknown>).map(inner => `${name}.${inner}`)]
    })
    .sort()
}

test.run()
