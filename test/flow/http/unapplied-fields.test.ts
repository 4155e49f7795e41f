/** Fields that a request contains and that had no effect are refused by name, or named in the reply. */
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('fields without an effect')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const call = (method: string, path: string, body?: unknown) =>
  mailhorn.call(method, path, { session, ...(body !== undefined && { body }) })

/** @throws when it is refused */
async function make(path: string, body: object) {
  const answer = await call('POST', path, body)
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

async function warned(path: string, body: object, method = 'PATCH'): Promise<string[]> {
  const answer = await call(method, path, body)
  assert.ok(answer.status < 300, JSON.stringify(answer.body))
  return (answer.body.warnings ?? []).map((warning: { path: string }) => warning.path)
}

test('null on a contact is named, at each of its paths', async () => {
  const { id: audience } = await make('/audiences', { name: 'Readers' })
  const names = { first_name: 'Ann', last_name: 'Lee' }
  const ann = await make(`/audiences/${audience}/contacts`, { email: 'ann@there.example', ...names })
  const nulls = { first_name: null, last_name: null, unsubscribed: null, properties: null }
  for (const path of [`/contacts/${ann.id}`, `/audiences/${audience}/contacts/${ann.id}`])
    assert.equal((await warned(path, nulls)).sort(), ['first_name', 'last_name', 'unsubscribed'])
  assert.equal(await warned(`/contacts/${ann.id}`, { first_name: '', topics: [{}], segments: ['s'] }), [
    'segments',
    'topics',
  ])
  assert.equal(await warned(`/contacts/${ann.id}`, { first_name: null }), [], 'it has none any more')
})

test('null and empty texts on a broadcast are named', async () => {
  const { id: audience } = await make('/audiences', { name: 'Readers' })
  const { id: topic } = await make('/topics', { name: 'News' })
  const words = { from: 'ann@here.example', subject: 's', html: '<p>h</p>', text: 't' }
  const list = { cc: ['a@b.example'], bcc: 'a@b.example', headers: { 'X-A': 'b' }, tags: [{ name: 'a' }] }
  const draft = await make('/broadcasts', { ...words, ...list, audience_id: audience, topic_id: topic })
  assert.equal(
    draft.warnings.map(({ path }: { path: string }) => path),
    ['cc', 'bcc', 'headers', 'tags'],
  )
  const path = `/broadcasts/${draft.id}`
  assert.equal(await warned(path, { topic_id: null, html: null, text: null }), ['topic_id', 'html', 'text'])
  assert.equal((await warned(path, { subject: '', from: '', name: '' })).sort(), ['from', 'name', 'subject'])
  const { subject, text, topic_id: remaining } = (await call('GET', path)).body
  assert.equal([subject, text, remaining], ['s', 't', topic])
  assert.equal(await warned(path, { topic_id: '' }), [])
})

test('null on a template is named unless it replaces', async () => {
  const fields = { name: 'n', subject: 's {{a}}', text: 't', variables: [{ key: 'a', type: 'string' }] }
  const { id } = await make('/templates', fields)
  const path = `/templates/${id}`
  const nulls = { name: null, subject: null, variables: null }
  assert.equal((await warned(path, nulls)).sort(), ['name', 'subject', 'variables'])
  assert.equal(await warned(path, { variables: [] }), [])
  assert.equal(await warned(path, { name: 'n', subject: null, text: 't' }, 'PUT'), [])
})

test('fields that cannot be changed are named if they differ', async () => {
  const { id: domain } = await make('/domains', { name: 'sub.here.example' })
  const other = { name: 'x.example', region: 'eu-west-1', tls: null, open_tracking: true }
  assert.equal((await warned(`/domains/${domain}`, other)).sort(), ['name', 'region', 'tls'])
  assert.equal(await warned(`/domains/${domain}`, { name: 'sub.here.example', region: 'us-west-2' }), [])
  const { id: key } = await make('/api-keys', { name: 'k' })
  const wider = { name: 'new', permission: 'full_access', domain_id: domain }
  assert.equal((await warned(`/api-keys/${key}`, wider)).sort(), ['domain_id', 'permission'])
})

test('a contact property keeps its key, its type and a fallback that is not mentioned', async () => {
  const { id } = await make('/contact-properties', { key: 'city', type: 'string', fallback_value: 'Rome' })
  const path = `/contact-properties/${id}`
  assert.equal((await warned(path, { key: 'town', type: 'number' })).sort(), ['key', 'type'])
  assert.is((await call('GET', path)).body.fallback_value, 'Rome')
  assert.equal(await warned(path, { fallback_value: null }), [])
  assert.is((await call('GET', path)).body.fallback_value, null)
})

test('values that leave nothing are refused by name', async () => {
  const url = 'https://hooks.invalid/'
  const { id: webhook } = await make('/webhooks', { url, events: ['email.sent'] })
  const { id: topic } = await make('/topics', { name: 'News' })
  const { id: domain } = await make('/domains', { name: 'other.here.example' })
  const refused: [string, string, object, string][] = [
    ['PATCH', `/topics/${topic}`, { name: '' }, 'name'],
    ['PATCH', `/webhooks/${webhook}`, { events: [] }, 'events'],
    ['PATCH', `/webhooks/${webhook}`, { url, endpoint: 'https://other.invalid/' }, 'endpoint'],
    ['POST', '/webhooks', { url, endpoint: 'https://other.invalid/', events: ['email.sent'] }, 'endpoint'],
    ['POST', '/webhooks', { endpoint: 'http://localhost/', events: ['email.sent'] }, 'endpoint'],
    ['PATCH', `/domains/${domain}`, { capabilities: { recieving: 'enabled' } }, 'capabilities'],
  ]
  for (const [method, path, body, field] of refused)
    assertRefusal(await call(method, path, body), { status: 422, name: 'validation_error', path: field })
})

test('a webhook on this machine is refused with the setting that allows it', async () => {
  const events = ['email.sent']
  for (const [body, path] of [
    [{ endpoint: 'http://localhost:3000/', events }, 'endpoint'],
    [{ url: 'http://127.0.0.1:3000/', events }, 'url'],
    [{ url: 'http://[::1]/', events }, 'url'],
  ] as const) {
    const { body: refusal } = await call('POST', '/webhooks', body)
    assert.is(refusal.errors[0].path, path)
    assert.match(refusal.message, /webhooks\.allow_insecure_loopback/)
  }
  const { body: far } = await call('POST', '/webhooks', { url: 'http://hooks.example/', events })
  assert.not.match(far.message, /setting/)
})

test('a recipient that is no text is named by its position, and an empty one is missing', async () => {
  const mail = { from: 'ann@here.example', subject: 's', text: 't' }
  const refused: [unknown, string, string][] = [
    [[null], 'validation_error', 'to[0]'],
    [['delivered@simulator.test', 5], 'validation_error', 'to[1]'],
    ['', 'missing_required_field', 'to'],
    [[], 'missing_required_field', 'to'],
  ]
  for (const [to, name, path] of refused)
    assertRefusal(await call('POST', '/emails', { ...mail, to }), { status: 422, name, path })
})

test('values that the template has no variable for are named, and the email is sent', async () => {
  const variables = [
    { key: 'spare', type: 'string', fallback_value: 'x' },
    { key: 'a', type: 'string', fallback_value: 'x' },
  ]
  const { id } = await make('/templates', { name: 'n', subject: 's {{a}}', text: '{{b.c}}', variables })
  const mail = { from: 'ann@here.example', to: 'delivered@simulator.test' }
  const values = { a: '1', b: { c: '2', d: '3' }, spare: 's' }
  const known = { ...mail, template_id: id, template_data: values }
  assert.equal(Object.keys((await call('POST', '/emails', known)).body), ['id'])
  const typo = { ...mail, template: { id, variables: { ...values, A: '1' } } }
  const { status, body } = await call('POST', '/emails', typo)
  assert.is(status, 200)
  const message = 'The template has no variable for `template.variables.A`.'
  assert.equal(body.warnings, [{ path: 'template.variables.A', message }])
  assert.equal(await warned('/emails/batch', [known, typo], 'POST'), ['[1].template.variables.A'])
})

test.run()
