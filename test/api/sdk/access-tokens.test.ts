import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import {
  assertTold,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
  requireData,
} from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages: with an access token')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

async function tokenWith(scopes: string | string[]): Promise<string> {
  const session = await mailhorn.signIn()
  const body = { name: 'SDK', scopes }
  return (await mailhorn.call('POST', '/access-tokens', { session, body })).body.token
}

for (const release of RESEND_VERSIONS)
  test(`${release.version}: full access does everything`, async () => {
    const apiKey = await tokenWith('full')
    const resend = await openResend(release, { ...mailhorn, apiKey })
    const { id } = requireData(await resend.domains.create({ name: `v${release.version}.example` }))
    assert.is(requireData(await resend.domains.get(id)).id, id)
    requireData(await resend.domains.list())
    requireData(await resend.domains.remove(id))
    const audience = requireData(await resend.audiences.create({ name: 'Readers' }))
    const email = 'ann@there.example'
    requireData(await resend.contacts.create({ audienceId: audience.id, email }))
    requireData(await resend.contacts.list({ audienceId: audience.id }))
    const mail = { from: 'a@here.example', to: 'delivered@simulator.test', subject: 's', text: 't' }
    requireData(await resend.emails.send(mail))
    const made = requireData(await resend.apiKeys.create({ name: 'Shop', permission: 'sending_access' }))
    assert.match(made.token, /^re_/)
    requireData(await resend.apiKeys.remove(made.id))
  })

for (const release of MODERN_VERSIONS)
  test(`${release.version}: full access keeps templates and webhooks`, async () => {
    const apiKey = await tokenWith('full')
    const resend = await openResend(release, { ...mailhorn, apiKey })
    const template = requireData(await resend.templates.create({ name: 'Hello', html: '<p>Hello</p>' }))
    requireData(await resend.templates.get(template.id))
    requireData(await resend.templates.remove(template.id))
    const webhook = requireData(
      await resend.webhooks.create({ endpoint: 'https://hooks.invalid/', events: ['email.sent'] }),
    )
    requireData(await resend.webhooks.remove(webhook.id))
  })

for (const release of RESEND_VERSIONS)
  test(`${release.version}: a key with full access is created, used and removed`, async () => {
    const admin = await openResend(release, { ...mailhorn, apiKey: await mailhorn.signIn() })
    const { id, token } = requireData(
      await admin.apiKeys.create({ name: 'Agent', permission: 'full_access' }),
    )
    const resend = await openResend(release, { ...mailhorn, apiKey: token })
    requireData(await resend.domains.list())
    assert.ok(requireData(await resend.apiKeys.list()).data.some(key => key.id === id))
    const child = requireData(await resend.apiKeys.create({ name: 'Child', permission: 'full_access' }))
    requireData(await resend.apiKeys.remove(child.id))
    requireData(await resend.apiKeys.remove(id))
    assertTold(await resend.domains.list(), 'invalid_api_key', 401)
  })

for (const release of RESEND_VERSIONS)
  test(`${release.version}: a token is told which scope it lacks`, async () => {
    const apiKey = await tokenWith(['contacts:write', 'domains:read'])
    const resend = await openResend(release, { ...mailhorn, apiKey })
    requireData(await resend.audiences.create({ name: 'Scoped' }))
    requireData(await resend.domains.list())
    for (const [answer, scope] of [
      [await resend.domains.create({ name: 'scoped.example' }), 'domains:write'],
      [await resend.apiKeys.list(), 'api-keys:read'],
      [
        await resend.emails.send({ from: 'a@here.example', to: 'b@there.example', subject: 's', text: 't' }),
        'emails:send',
      ],
    ] as const) {
      assertTold<unknown>(answer, 'invalid_access', 403)
      assert.ok(answer.error!.message.includes(`\`${scope}\``), answer.error!.message)
    }
  })

test('6.38: keys are renamed and paged', async () => {
  const resend = await openResend(RESEND_VERSIONS[0]!, { ...mailhorn, apiKey: await tokenWith('full') })
  const { id } = requireData(await resend.apiKeys.create({ name: 'Old' }))
  assert.equal(requireData(await resend.apiKeys.update(id, { name: 'New' })).id, id)
  const first = requireData(await resend.apiKeys.list({ limit: 1 }))
  assert.equal([first.data[0]!.id, first.data[0]!.name, first.has_more], [id, 'New', true])
  const next = requireData(await resend.apiKeys.list({ limit: 1, after: id }))
  assert.is.not(next.data[0]!.id, id)
})

test('6.38: a key for sending is told of access tokens', async () => {
  const resend = await openResend(RESEND_VERSIONS[0]!, mailhorn)
  const answer = await resend.domains.list()
  assertTold(answer, 'restricted_api_key', 401)
  assert.match(answer.error!.message, /access token/)
})

test.run()
