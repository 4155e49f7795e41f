import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('domain settings')
const HOUR_MS = 3_600_000
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`
let mailhorn: Mailhorn
let mx: FakeMx
let session = ''
test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({ zone: ZONE, mxPort: mx.port })
  session = await mailhorn.signIn()
})
test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

const patch = (id: string, body: unknown) => mailhorn.call('PATCH', `/domains/${id}`, { session, body })

test('each is changed by itself, and the others stay', async () => {
  const { id } = await mailhorn.verifiedDomain('set.example')
  const shown = ({ body }: Awaited<ReturnType<typeof patch>>) => [
    body.open_tracking,
    body.click_tracking,
    body.receiving.enabled,
    body.tls,
  ]
  assert.equal(shown(await patch(id, {})), [false, false, true, 'opportunistic'])
  assert.equal(shown(await patch(id, { receiving: false })), [false, false, false, 'opportunistic'])
  assert.equal(shown(await patch(id, { open_tracking: true })), [true, false, false, 'opportunistic'])
  assert.equal(shown(await patch(id, { clickTracking: true, tls: 'enforced' })), [
    true,
    true,
    false,
    'enforced',
  ])
  assert.equal(shown(await patch(id, { receiving: null, tls: null })), [true, true, false, 'enforced'])
  assert.equal(shown(await mailhorn.call('GET', `/domains/${id}`, { session })), [
    true,
    true,
    false,
    'enforced',
  ])
  const { body } = await mailhorn.call('POST', `/domains/${id}/verify`, { session })
  assert.is(body.checks.receiving, null, 'nobody wants its mail here')
})

for (const [field, value] of [
  ['receiving', 'yes'],
  ['receiving', 1],
  ['open_tracking', 'true'],
  ['click_tracking', {}],
  ['tls', 'always'],
  ['tls', true],
  ['capabilities', 'enabled'],
  ['capabilities', ['receiving']],
  ['custom_return_path', 'bounces'],
  ['custom_return_path', ''],
  ['custom_return_path', 'send.set.example'],
] as const)
  test(`${field} cannot be ${JSON.stringify(value)}, and nothing changes`, async () => {
    const { body: list } = await mailhorn.call('GET', '/domains', { session })
    const { id } = list.data[0]
    await refuses(mailhorn, ['PATCH', `/domains/${id}`, { session, body: { [field]: value } }], {
      status: 422,
      name: 'validation_error',
      path: field,
    })
    assert.equal((await mailhorn.call('GET', '/domains', { session })).body, list)
  })

test('capabilities of the SDKs are honoured at creation and change, and shown', async () => {
  const shown = ({ body }: Awaited<ReturnType<typeof patch>>) => [
    body.capabilities.sending,
    body.capabilities.receiving,
    body.receiving.enabled,
  ]
  const create = (body: object) => mailhorn.call('POST', '/domains', { session, body })
  const made = await create({ name: 'cap.example', capabilities: { receiving: 'disabled' } })
  assert.equal(shown(made), ['enabled', 'disabled', false])
  const both = { sending: 'disabled', receiving: 'disabled' }
  assert.equal(shown(await create({ name: 'cap2.example', capabilities: both })), [
    'disabled',
    'disabled',
    false,
  ])
  const { id } = made.body
  for (const [body, expected] of [
    [{ capabilities: { receiving: 'enabled' } }, ['enabled', 'enabled', true]],
    [{ capabilities: { sending: 'disabled' } }, ['disabled', 'enabled', true]],
    [{ capabilities: {} }, ['disabled', 'enabled', true]],
    [{ capabilities: null }, ['disabled', 'enabled', true]],
    [{ capabilities: { sending: null, receiving: 'disabled' } }, ['disabled', 'disabled', false]],
    [{ receiving: true, capabilities: { receiving: 'enabled' } }, ['disabled', 'enabled', true]],
  ] as const)
    assert.equal(shown(await patch(id, body)), [...expected], JSON.stringify(body))
  assert.equal(shown(await mailhorn.call('GET', `/domains/${id}`, { session })), [
    'disabled',
    'enabled',
    true,
  ])
  for (const [body, path] of [
    [{ capabilities: { receiving: 'off' } }, 'capabilities.receiving'],
    [{ capabilities: { sending: true } }, 'capabilities.sending'],
    [{ receiving: true, capabilities: { receiving: 'disabled' } }, 'capabilities.receiving'],
  ] as const)
    await refuses(mailhorn, ['PATCH', `/domains/${id}`, { session, body }], {
      ...{ status: 422, name: 'validation_error', path },
    })
})

test('other spellings of the SDKs are read; regions that do not exist here are refused by name', async () => {
  const create = (body: object) => mailhorn.call('POST', '/domains', { session, body })
  const { body: made } = await create({
    ...{ name: 'java.example', tls: 'ENFORCED', customReturnPath: 'Send', openTracking: true },
    trackingSubdomain: 'links',
  })
  assert.equal(
    [made.tls, made.open_tracking, made.click_tracking, made.tracking_subdomain],
    ['enforced', true, false, 'links'],
  )
  assert.is((await patch(made.id, { tls: 'OPPORTUNISTIC' })).body.tls, 'opportunistic')
  for (const region of ['sa-east-1', 'ap-northeast-1']) {
    const { status, body } = await create({ name: 'region.example', region })
    assert.equal([status, body.name], [422, 'invalid_region'])
    assert.match(body.message, 'us-west-2, us-east-1, eu-west-1')
  }
})

test('with sending disabled, new mail is refused, scheduled mail fails and queued mail is delivered', async () => {
  const { id } = await mailhorn.verifiedDomain('mute.example')
  const mail = { from: 'a@mute.example', subject: 's', text: 't' }
  const deferred = await mailhorn.send({ ...mail, to: 'defer-451@there.example' })
  await mailhorn.emailWhen(deferred, 'delivery_delayed')
  const at = new Date(mailhorn.clock.now() + 60_000).toISOString()
  const scheduled = await mailhorn.send({ ...mail, to: 'ok@there.example', scheduled_at: at })
  await patch(id, { capabilities: { sending: 'disabled' } })
  const { status, body } = await mailhorn.call('POST', '/emails', {
    key: mailhorn.apiKey,
    body: { ...mail, to: 'ok@there.example' },
  })
  assert.equal([status, body.name], [403, 'validation_error'])
  assert.match(body.message, 'Sending from the mute.example domain is disabled.')
  mailhorn.clock.advance(60_000)
  const failed = await mailhorn.emailWhen(scheduled, 'failed')
  assert.match(failed.error, 'Sending from the mute.example domain is disabled.')
  assert.is((await mailhorn.email(deferred)).status, 'delivery_delayed')
  await patch(id, { capabilities: { sending: 'enabled' } })
  await mailhorn.send({ ...mail, to: 'ok@there.example' })
})

test('deleting one fails its waiting and scheduled mail, destroys its keys and frees the name', async () => {
  const { id } = await mailhorn.verifiedDomain('gone.example')
  const mail = { from: 'a@gone.example', subject: 's', text: 't' }
  const deferred = await mailhorn.send({ ...mail, to: 'defer-451@there.example' })
  await mailhorn.emailWhen(deferred, 'delivery_delayed')
  const at = new Date(mailhorn.clock.now() + HOUR_MS).toISOString()
  const scheduled = await mailhorn.send({ ...mail, to: 'ok@there.example', scheduled_at: at })
  const { body: key } = await mailhorn.call('POST', '/api-keys', {
    session,
    body: { name: 'k', domain_id: id },
  })

  const keyCount = () => Number(mailhorn.rows<{ n: number }>('select count(*) as n from dkim_keys')[0]!.n)
  const formerKeyCount = keyCount()

  assert.is((await mailhorn.call('DELETE', `/domains/${id}`, { session })).status, 200)
  for (const each of [deferred, scheduled]) {
    const email = await mailhorn.emailWhen(each, 'failed')
    assert.is(email.error, 'The gone.example domain was deleted.')
    assert.is(email.events.at(-1).type, 'email.failed')
  }
  assert.is((await mailhorn.call('GET', '/emails', { key: key.token })).status, 401)
  assert.equal(mailhorn.rows("select name from domains where name = 'gone.example'"), [])
  assert.is(keyCount(), formerKeyCount - 3)
  await until(() => mailhorn.rows('select name from deleted_domains').length === 0)
  assert.is(
    (await mailhorn.call('POST', '/domains', { session, body: { name: 'gone.example' } })).status,
    201,
  )
})

test('in a region without feedback mail stays sent, hard bounces suppress, and the operator sees what is', async () => {
  await mailhorn.verifiedDomain('far.example', 'eu-west-1')
  const mail = { from: 'a@far.example', subject: 's', text: 't' }
  const bounced = await mailhorn.send({ ...mail, to: 'perm-550-511@there.example' })
  const delivered = await mailhorn.send({ ...mail, to: 'ok@there.example' })
  const suppressed = () => mailhorn.call('GET', '/suppressions', { session })
  await until(async () => (await suppressed()).body.total === 1)
  await until(() => mx.messages.length > 0)
  for (const id of [bounced, delivered]) {
    const email = await mailhorn.emailWhen(id, 'sent')
    assert.equal([email.last_event, email.error], ['sent', null])
    assert.equal(
      email.events.map(({ type }: { type: string }) => type),
      ['email.sent'],
    )
    const [recipient] = email.recipients
    assert.equal([recipient.status, recipient.reply], ['sent', null])
  }
  assert.equal((await suppressed()).body.data[0].email, 'perm-550-511@there.example')
  const { body: destinations } = await mailhorn.call('GET', '/destinations', { session })
  const [destination] = destinations.data
  assert.ok(destination.bounced >= 1 && destination.delivered >= 1, JSON.stringify(destination))
})

test.run()
