import * as assert from 'uvu/assert'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { type ExpectedRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('mail by template: sender, reply addresses, fallbacks and types')
let mailhorn: Mailhorn
let session = ''
/** Id of the template ORDER. */
let order = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  order = (await template(ORDER)).id
})
test.after(() => mailhorn.close())

const ORDER = {
  name: 'Order',
  alias: 'order',
  from: 'Shop <shop@here.example>',
  reply_to: ['help@here.example', 'Desk <desk@here.example>'],
  subject: 'Order {{ID}}',
  html: '<p>{{{PRODUCT}}} for {{PRICE}}</p>',
  variables: [
    { key: 'PRODUCT', type: 'string', fallback_value: 'item' },
    { key: 'PRICE', type: 'number', fallback_value: 20 },
    { key: 'ID', type: 'number' },
  ],
}
const TO = 'delivered@simulator.test'
const INVALID = { status: 422, name: 'validation_error' }
const MISSING = { status: 422, name: 'missing_required_field' }

async function template(fields: object) {
  const answer = await mailhorn.call('POST', '/templates', { session, body: { name: 'x', ...fields } })
  assert.is(answer.status, 201, JSON.stringify(answer.body))
  return answer.body
}

const post = (fields: object, options: CallOptions = { key: mailhorn.apiKey }): Promise<ApiAnswer> =>
  mailhorn.call('POST', '/emails', { ...options, body: { to: TO, ...fields } })

async function sent(fields: object, options?: CallOptions) {
  const { status, body } = await post(fields, options)
  assert.is(status, 200, JSON.stringify(body))
  return mailhorn.email(body.id)
}

const refused = (fields: object, expected: ExpectedRefusal) =>
  refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body: { to: TO, ...fields } }], expected)

for (const [what, use] of [
  ['the id', () => ({ template: { id: order, variables: { ID: 7 } } })],
  ['the alias', () => ({ template: { id: 'order', variables: { ID: 7 } } })],
  ['the alias as template_id', () => ({ template_id: 'order', template_data: { ID: 7 } })],
  [
    'Go, with an empty sender and subject',
    () => ({ from: '', subject: '', template: { id: 'order', variables: { ID: 7 } } }),
  ],
  ['empty reply addresses', () => ({ reply_to: [], template: { id: 'order', variables: { ID: 7 } } })],
] as const)
  test(`by ${what}: what the request leaves out comes from the template`, async () => {
    const email = await sent(use())
    assert.equal(
      [email.from, email.reply_to, email.subject, email.html, email.template_id],
      [ORDER.from, ORDER.reply_to, 'Order 7', '<p>item for 20</p>', order],
    )
    await mailhorn.emailWhen(email.id, 'delivered')
  })

test('what the request gives wins', async () => {
  const own = { from: 'ann@here.example', reply_to: 'r@here.example', subject: 'own' }
  const email = await sent({
    ...own,
    template: { id: 'order', variables: { ID: 1, PRODUCT: '<b>', PRICE: 5 } },
  })
  assert.equal(
    [email.from, email.reply_to, email.subject, email.html],
    ['ann@here.example', ['r@here.example'], 'own', '<p><b> for 5</p>'],
  )
  const headers = { 'Reply-To': 'h@here.example' }
  assert.equal((await sent({ headers, template: { id: 'order', variables: { ID: 1 } } })).reply_to, [
    'h@here.example',
  ])
})

test('variables without a value, and values of another type, are named together', async () => {
  const { id } = await template({
    ...{ from: 'a@here.example', subject: '{{ID}}', text: '{{PRICE}} {{NAME}} {{LIST}}' },
    variables: [
      { key: 'ID', type: 'number' },
      { key: 'PRICE', type: 'number', fallback_value: 5 },
      { key: 'LIST', type: 'list' },
    ],
  })
  const { body } = await refused(
    { template: { id, variables: { PRICE: '5', LIST: {} } } },
    { ...INVALID, path: 'template.variables.PRICE', says: /`ID`, `NAME`.*another type.*`PRICE`, `LIST`/ },
  )
  assert.equal(body.errors, [
    { path: 'template.variables.PRICE', message: 'The template variable `PRICE` must be a number.' },
    { path: 'template.variables.LIST', message: 'The template variable `LIST` must be an array.' },
    { path: 'template.variables.ID', message: 'The template variable `ID` has no value and no fallback.' },
    {
      path: 'template.variables.NAME',
      message: 'The template variable `NAME` has no value and no fallback.',
    },
  ])
  await refused({ template_id: id, template_data: { ID: true } }, { ...INVALID, path: 'template_data.ID' })
})

test('a batch has the defaults, too, and an unverified sender of a template is refused', async () => {
  const unverified = await template({ from: 'a@elsewhere.example', subject: 's', text: 't' })
  const batch = (emails: object[], mode = 'strict') =>
    mailhorn.call('POST', '/emails/batch', {
      key: mailhorn.apiKey,
      headers: { 'x-batch-validation': mode },
      body: emails.map(email => ({ to: TO, ...email })),
    })
  const good = [
    { template: { id: 'order', variables: { ID: 1 } } },
    { template_id: order, template_data: { ID: 2, PRODUCT: 'hat' } },
  ]
  const { status, body } = await batch(good)
  assert.is(status, 200, JSON.stringify(body))
  const emails = await Promise.all(body.data.map(({ id }: { id: string }) => mailhorn.email(id)))
  assert.equal(
    emails.map(({ from, subject, html }) => [from, subject, html]),
    [
      [ORDER.from, 'Order 1', '<p>item for 20</p>'],
      [ORDER.from, 'Order 2', '<p>hat for 20</p>'],
    ],
  )
  const bad = [
    ...good,
    { template: { id: 'order' } },
    { template: { id: unverified.id }, to: 'bob@there.example' },
  ]
  assert.is((await batch(bad)).status, 422)
  const lenient = await batch(bad, 'permissive')
  assert.equal(
    [lenient.body.data.length, lenient.body.errors.map(({ index }: { index: number }) => index)],
    [2, [2, 3]],
  )
})

test('a key of another domain cannot send from the domain of a template', async () => {
  const domain = await mailhorn.call('POST', '/domains', { session, body: { name: 'other.example' } })
  const body = { name: 'bound', domain_id: domain.body.id }
  const bound = await mailhorn.call('POST', '/api-keys', { session, body })
  const answer = await post({ template: { id: 'order', variables: { ID: 1 } } }, { key: bound.body.token })
  assert.equal([answer.status, answer.body.name], [403, 'invalid_access'])
})

test('a repeated request without a sender gets its first answer after the template was deleted', async () => {
  const { id } = await template({ from: 'a@here.example', subject: 's', text: 't' })
  const keyed = { key: mailhorn.apiKey, headers: { 'idempotency-key': 'by default' } }
  const first = await post({ template_id: id }, keyed)
  await mailhorn.call('DELETE', `/templates/${id}`, { session })
  assert.equal((await post({ template_id: id }, keyed)).body, first.body)
})

test('a draft of a published template is not sent', async () => {
  const { id } = await template({
    from: 'a@here.example',
    subject: 's',
    text: '{{A}}',
    variables: [{ key: 'A', type: 'string', fallback_value: 'one' }],
  })
  await mailhorn.call('POST', `/templates/${id}/publish`, { session })
  const draft = { from: 'b@here.example', variables: [{ key: 'A', type: 'string', fallback_value: 'two' }] }
  await mailhorn.call('PATCH', `/templates/${id}`, { session, body: draft })
  const before = await sent({ template_id: id })
  await mailhorn.call('POST', `/templates/${id}/publish`, { session })
  const after = await sent({ template_id: id })
  assert.equal(
    [before.from, before.text, after.from, after.text],
    ['a@here.example', 'one', 'b@here.example', 'two'],
  )
})

test('a broadcast by alias has sender, reply addresses and fallbacks of the published template', async () => {
  const audience = await mailhorn.call('POST', '/audiences', { session, body: { name: 'Readers' } })
  const { id } = await template({
    ...{ alias: 'news', from: 'News <news@here.example>', reply_to: 'r@here.example' },
    ...{ subject: 'Hi {{FIRST_NAME}}', html: '<p>{{FIRST_NAME}} {{PRODUCT}} {{CITY|home}}</p>' },
    variables: [
      { key: 'FIRST_NAME', type: 'string', fallback_value: 'you & all' },
      { key: 'PRODUCT', type: 'string', fallback_value: 'hat' },
    ],
  })
  await mailhorn.call('POST', `/templates/${id}/publish`, { session })
  await mailhorn.call('PATCH', `/templates/${id}`, { session, body: { html: 'draft' } })
  const create = (fields: object) =>
    mailhorn.call('POST', '/broadcasts', { session, body: { audience_id: audience.body.id, ...fields } })
  const { status, body } = await create({ template_id: 'news' })
  assert.is(status, 201, JSON.stringify(body))
  assert.equal(
    [body.from, body.reply_to, body.subject, body.html, body.template_id],
    [
      ...['News <news@here.example>', ['r@here.example'], 'Hi {{FIRST_NAME|you & all}}'],
      ...['<p>{{FIRST_NAME|you &amp; all}} {{PRODUCT|hat}} {{CITY|home}}</p>', id],
    ],
  )
  const own = await create({
    template_id: id,
    from: 'a@here.example',
    reply_to: 'x@here.example',
    subject: 'own',
  })
  assert.equal(
    [own.body.from, own.body.reply_to, own.body.subject],
    ['a@here.example', ['x@here.example'], 'own'],
  )
  const changed = await mailhorn.call('PATCH', `/broadcasts/${own.body.id}`, {
    session,
    body: { template_id: 'news' },
  })
  assert.equal([changed.body.subject, changed.body.template_id], ['Hi {{FIRST_NAME|you & all}}', id])
  const without = { template_id: (await template({ subject: 's', text: 't' })).id }
  await refuses(
    mailhorn,
    ['POST', '/broadcasts', { session, body: { audience_id: audience.body.id, ...without } }],
    { ...MISSING, path: 'from' },
  )
  const braces = await template({
    ...{ from: 'a@here.example', subject: 's', text: '{{A}}' },
    variables: [{ key: 'A', type: 'string', fallback_value: '{x}' }],
  })
  await refuses(
    mailhorn,
    ['POST', '/broadcasts', { session, body: { audience_id: audience.body.id, template_id: braces.id } }],
    { ...INVALID, path: 'template_id' },
  )
})

test.run()
