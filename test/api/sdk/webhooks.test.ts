import { Resend } from 'resend'
import { Webhook } from 'standardwebhooks'
import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import type { Mailhorn } from '../../kit/mailhorn.ts'
import { assertTold, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import type { WebRequest } from '../../kit/web-host.ts'
import { startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('resend: webhooks')
let mailhorn: Mailhorn
let session: string
let resend: Resend
test.before(async () => {
  mailhorn = await startMailhornWithWebhooks({ env: { MAILHORN_WEBHOOKS_STANDARD: 'true' } })
  session = openSession(mailhorn, 'bearer')
  resend = new Resend(session, { baseUrl: mailhorn.baseUrl })
})
test.after(() => mailhorn.close())

const MAIL = { from: 'ann@here.example', subject: 's', text: 't', to: 'delivered@simulator.test' }

/** The headers by the names that all SDKs and their examples read. */
function svixHeaders({ headers }: WebRequest) {
  const value = (name: string) => String(headers[`svix-${name}`])
  return { id: value('id'), timestamp: value('timestamp'), signature: value('signature') }
}

test('webhooks.create with the default of the operator: the verifiers accept the headers as they come', async t => {
  const sink = await startSink(t)
  const made = requireData(await resend.webhooks.create({ endpoint: sink.url, events: ['email.sent'] }))
  t.after(() => resend.webhooks.remove(made.id))
  await mailhorn.send(MAIL)
  const request = await until(() => sink.requests[0])
  const [payload, webhookSecret] = [`${request.body}`, made.signing_secret]
  const event = resend.webhooks.verify({ payload, headers: svixHeaders(request), webhookSecret })
  assert.is(event.type, 'email.sent')
  assert.throws(() =>
    resend.webhooks.verify({ payload: `${payload} `, headers: svixHeaders(request), webhookSecret }),
  )
  assert.equal(new Webhook(webhookSecret).verify(payload, request.headers as Record<string, string>), event)
})

test('webhooks: creation and rotation alone show the signing secret', async t => {
  const made = requireData(
    await resend.webhooks.create({ endpoint: 'https://hooks.example/', events: ['email.sent'] }),
  )
  t.after(() => resend.webhooks.remove(made.id))
  const shown = requireData(await resend.webhooks.get(made.id))
  assert.equal([shown.endpoint, shown.status], ['https://hooks.example/', 'enabled'])
  const rotated = requireData(await resend.webhooks.rotateSigningSecret(made.id))
  assert.is.not(rotated.signing_secret, made.signing_secret)
  assert.not.match(JSON.stringify(requireData(await resend.webhooks.get(made.id))), 'whsec_')
  assert.not.match(JSON.stringify(requireData(await resend.webhooks.list())), 'whsec_')
  const updated = requireData(await resend.webhooks.update(made.id, { status: 'disabled' }))
  assert.not.match(JSON.stringify(updated), 'whsec_')
})

test('webhooks.events: lists, shows and replays what was sent, with its attempts', async t => {
  let status = 500
  const sink = await startSink(t, {
    answer: (_, response) => void response.writeHead(status).end(`said ${status}`),
  })
  const { id: webhookId } = requireData(
    await resend.webhooks.create({ endpoint: sink.url, events: ['email.sent', 'email.delivered'] }),
  )
  t.after(() => resend.webhooks.remove(webhookId))
  const emailId = await mailhorn.send(MAIL)
  const { events } = resend.webhooks
  const list = (page = {}) => events.list({ webhookId, ...page }).then(requireData)
  const settled = (wanted: string) =>
    until(async () => {
      const { data } = await list()
      return data.length === 2 && data.every(row => row.status === wanted) ? data : undefined
    })
  await until(() => sink.requests.length === 2)
  const [newest, oldest] = await settled('pending')
  assert.equal([newest!.type, oldest!.type].toSorted(), ['email.delivered', 'email.sent'])
  const first = await list({ limit: 1 })
  assert.equal([first.data.map(({ id }) => id), first.has_more], [[newest!.id], true])
  const second = await list({ limit: 1, after: newest!.id })
  assert.equal([second.data.map(({ id }) => id), second.has_more], [[oldest!.id], false])

  const eventId = newest!.id
  const event = requireData(await events.get({ webhookId, eventId }))
  assert.equal(
    [event.object, event.id, event.type, event.created_at, event.status],
    ['webhook_event', eventId, newest!.type, newest!.created_at, 'pending'],
  )
  assert.ok(Date.parse(event.next_attempt_at!) > mailhorn.clock.now())
  assert.is((event.payload.data as { email_id: string }).email_id, emailId)
  assert.is(event.payload.created_at, newest!.created_at)

  status = 503
  await until(async () => {
    mailhorn.clock.advance(500)
    return (await attempts()).length === 2
  })
  status = 200
  const replayed = requireData(await events.replay({ webhookId, eventId }))
  assert.equal([replayed.object, replayed.id], ['webhook_event', eventId])
  await until(async () => requireData(await events.get({ webhookId, eventId })).status === 'success')
  const all = await attempts()
  assert.equal(
    all.map(({ http_status_code, response }) => [http_status_code, response]),
    [
      [200, 'said 200'],
      [503, 'said 503'],
      [500, 'said 500'],
    ],
  )
  assert.ok(all.every(({ sent_at }) => Date.parse(sent_at)))
  assert.is(new Set(all.map(({ id }) => id)).size, 3)
  const page = requireData(await events.attempts.list({ webhookId, eventId, limit: 1, after: all[0]!.id }))
  assert.equal([page.data, page.has_more], [[all[1]!], true])
  assert.is((await list()).data.filter(({ id }) => id === eventId).length, 1)

  async function attempts() {
    return requireData(await events.attempts.list({ webhookId, eventId })).data
  }
})

test('webhooks.events: an unknown webhook, event or cursor is refused', async t => {
  const { id: webhookId } = requireData(
    await resend.webhooks.create({ endpoint: 'https://hooks.example/', events: ['email.sent'] }),
  )
  t.after(() => resend.webhooks.remove(webhookId))
  const eventId = 'evt_01990000-0000-7000-8000-000000000000'
  const unknown = { webhookId: 'wh_01990000-0000-7000-8000-000000000000', eventId }
  const { events } = resend.webhooks
  assertTold(await events.list(unknown), 'not_found', 404)
  for (const ref of [unknown, { webhookId, eventId }, { webhookId, eventId: webhookId }]) {
    assertTold(await events.get(ref), 'not_found', 404)
    assertTold(await events.replay(ref), 'not_found', 404)
    assertTold(await events.attempts.list(ref), 'not_found', 404)
  }
  assertTold(await events.list({ webhookId, after: 'nonsense' }), 'validation_error', 422)
})

test('webhooks.create and update: event types that never occur are accepted and named in warnings', async t => {
  const made = requireData(
    await resend.webhooks.create({
      endpoint: 'https://hooks.example/',
      events: ['email.sent', 'domain.updated', 'suppression.added', 'inbox.created'],
    }),
  ) as { id: string; warnings?: { path: string; message: string }[] }
  t.after(() => resend.webhooks.remove(made.id))
  const namedIn = (warnings: typeof made.warnings) =>
    warnings!.map(({ message }) => /`(.*?)`/.exec(message)![1])
  assert.equal(namedIn(made.warnings), ['suppression.added', 'inbox.created'])
  assert.equal(requireData(await resend.webhooks.get(made.id)).events, [
    'email.sent',
    'domain.updated',
    'suppression.added',
    'inbox.created',
  ])
  const changed = requireData(await resend.webhooks.update(made.id, { events: ['topic.created'] }))
  assert.equal(namedIn((changed as typeof made).warnings), ['topic.created'])
  const plain = requireData(await resend.webhooks.update(made.id, { events: ['domain.updated'] }))
  assert.not('warnings' in plain)
})

test.run()
