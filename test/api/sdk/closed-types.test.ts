import * as assert from 'uvu/assert'
import { EVENT_TYPES } from '../../../src/resources/events/types.ts'
import { addAccount, openSession } from '../../kit/accounts.ts'
import { causeEveryEvent, untilEveryEvent } from '../../kit/every-event.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { faultsOf, faultsOfPayload, type Resource } from '../../kit/resource-readers.ts'
import { suite } from '../../kit/suite.ts'
import { startMailhornWithWebhooks, startSink } from '../../kit/webhook-sink.ts'

const test = suite('libraries with closed types read')
let mailhorn: Mailhorn
let session: string
/** Paths of single things and of lists. */
const paths: [resource: Resource, path: string, isList: boolean][] = []

const AGENTS = { rust: 'resend-rs/0.31.0', dotnet: 'resend-sdk/0.11.0 dotnet/9.0' } as const

async function make(path: string, body: object) {
  const answer = await mailhorn.call('POST', path, { session, body })
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
  return answer.body
}

test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_ROLES: 'api' } })
  session = addAccount(mailhorn, 'typed').session
  const west = await make('/domains', { name: 'west.example', region: 'us-west-2', tracking_subdomain: 'go' })
  const east = await make('/domains', { name: 'east.example', region: 'us-east-1' })
  mailhorn.change("update domains set status = 'temporary_failure' where name = 'east.example'")
  const events = ['email.sent', 'email.canceled', 'domain.verified', 'contact.updated']
  const webhook = await make('/webhooks', { endpoint: 'https://hooks.invalid/', events })
  const topic = await make('/topics', { name: 'News' })
  const properties = { city: 'X', seats: 3, paying: true }
  const contact = await make('/contacts', { email: 'delivered+ann@simulator.test', properties })
  const { audience_id: audience } = contact
  const words = { from: 'ann@east.example', subject: 'May', text: 'News' }
  const broadcast = await make('/broadcasts', { ...words, segment_id: audience })
  const running = await make('/broadcasts', { ...words, segment_id: audience, send: true })
  const canceled = await make('/broadcasts', { ...words, segment_id: audience, send: true })
  await make(`/broadcasts/${canceled.id}/cancel`, {})
  const file = 'content-disposition: form-data; name="file"\r\n\r\nemail\ndelivered+bob@simulator.test\n'
  await mailhorn.call('POST', '/contacts/imports', {
    ...{ session, raw: `--b\r\n${file}\r\n--b--` },
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  paths.push(
    ...[west, east].map(({ id }): (typeof paths)[number] => ['domain', `/domains/${id}`, false]),
    ['domain', '/domains', true],
    ['webhook', `/webhooks/${webhook.id}`, false],
    ['webhook', '/webhooks', true],
    ['topic', `/topics/${topic.id}`, false],
    ['topic', '/topics', true],
    ['contact', `/contacts/${contact.id}`, false],
    ['contact', '/contacts', true],
    ['contact', `/audiences/${audience}/contacts`, true],
    ['contact', `/segments/${audience}/contacts`, true],
    ['contactTopic', `/contacts/${contact.id}/topics`, true],
    ['segment', `/contacts/${contact.id}/segments/`, true],
    ['segment', `/segments/${audience}`, false],
    ['segment', '/segments', true],
    ...[broadcast, running, canceled].map(({ id }): (typeof paths)[number] => [
      ...(['broadcast' as const, `/broadcasts/${id}`, false] as const),
    ]),
    ['broadcast', '/broadcasts', true],
    ['import', '/contacts/imports', true],
  )
})
test.after(() => mailhorn.close())

for (const [language, agent] of Object.entries(AGENTS) as [keyof typeof AGENTS, string][])
  test(`${language}: every reply`, async () => {
    for (const [resource, path, isList] of paths) {
      const headers = { 'user-agent': agent }
      const { status, body } = await mailhorn.call('GET', path, { session, headers })
      assert.is(status, 200, path)
      assert.equal(faultsOf(language, resource, body, { isList }), [], path)
      if (isList) assert.ok(body.data.length > 0, path)
    }
  })

for (const [language, agent] of Object.entries(AGENTS) as [keyof typeof AGENTS, string][])
  test(`${language}: every payload of a webhook that it has created`, async t => {
    const service = await t.using(startMailhornWithWebhooks())
    const owner = openSession(service, 'bearer')
    const [own, other] = [await startSink(t), await startSink(t)]
    for (const [sink, headers] of [
      [own, { 'user-agent': agent }],
      [other, {}],
    ] as const)
      await service.call('POST', '/webhooks', {
        ...{ session: owner, headers, body: { url: sink.url, events: EVENT_TYPES } },
      })
    const name = 'west.example'
    const domain = await service.call('POST', '/domains', {
      session: owner,
      body: { name, region: 'us-west-2' },
    })
    await service.call('DELETE', `/domains/${domain.body.id}`, { session: owner })
    const tags = [{ name: 'n', value: 3 }, { name: 'o', value: { p: [true] } }, { name: 'e' }]
    await service.send({ from: 'ann@x.example', to: 'bounced@simulator.test', subject: 's', text: 't', tags })
    await causeEveryEvent(service, owner)
    await untilEveryEvent(service, own)
    await untilEveryEvent(service, other)
    for (const event of own.events()) assert.equal(faultsOfPayload(language, event), [], event.type)
    const rejected = other.events().filter(event => faultsOfPayload(language, event).length > 0)
    assert.ok(
      rejected.some(({ type }) => type === 'domain.created'),
      'other webhooks have the words of the service',
    )
    const { data } = own.events().find(({ type }) => type === 'domain.created')!
    assert.match(data.id, /^dom_/)
    const { body: webhooks } = await service.call('GET', '/webhooks', { session: owner })
    assert.equal(
      webhooks.data.map((one: { dialect: unknown }) => one.dialect),
      [null, language],
    )
    const { body: deliveries } = await service.call('GET', `/webhooks/${webhooks.data[1].id}/deliveries`, {
      session: owner,
    })
    for (const { request } of deliveries.data)
      assert.equal(faultsOfPayload(language, JSON.parse(request.body)), [])
  })

test('the readers find what these libraries would reject', async () => {
  const of = async (path: string) => (await mailhorn.call('GET', path, { session })).body
  for (const resource of ['domain', 'webhook', 'contact'] as const) {
    const path = paths.find(([one, , isList]) => one === resource && isList)![1]
    for (const language of ['rust', 'dotnet'] as const)
      assert.ok(
        faultsOf(language, resource, await of(path), { isList: true }).length > 0,
        `${language} ${path}`,
      )
  }
})

test.run()
