import * as assert from 'uvu/assert'
import { addAccount, type OtherAccount } from '../../kit/accounts.ts'
import { type ApiAnswer, type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, type ExpectedRefusal, refuses, storedIn } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('POST /emails with a template')
let mailhorn: Mailhorn
let session = ''
let stranger: OtherAccount
/** Id of the template WELCOME. */
let welcome = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
  stranger = addAccount(mailhorn, 'stranger')
  welcome = await template(WELCOME)
})
test.after(() => mailhorn.close())

const WELCOME = {
  name: 'Welcome',
  subject: 'Hello {{name}}',
  html: '<p>Hello {{name}}, you are {{age}}.</p>',
  text: 'Hello {{name}}, you are {{age}}.',
}
const MAIL = { from: 'ann@here.example', to: 'delivered@simulator.test' }
const ANN = { name: 'Ann', age: 33 }
const UNKNOWN = 'tpl_01990000-0000-7000-8000-000000000000'
const NOT_FOUND = { status: 404, name: 'not_found' }
const INVALID = { status: 422, name: 'validation_error' }
const MISSING = { status: 422, name: 'missing_required_field' }

async function template(fields: object, options: CallOptions = { session }): Promise<string> {
  const { status, body } = await mailhorn.call('POST', '/templates', {
    ...options,
    body: { name: 'x', ...fields },
  })
  assert.is(status, 201, JSON.stringify(body))
  return body.id
}

function post(fields: object, options: CallOptions = { key: mailhorn.apiKey }): Promise<ApiAnswer> {
  return mailhorn.call('POST', '/emails', { ...options, body: { ...MAIL, ...fields } })
}

/** The email as it was stored. */
async function sent(fields: object, options?: CallOptions) {
  const { status, body } = await post(fields, options)
  assert.is(status, 200, JSON.stringify(body))
  return mailhorn.email(body.id)
}

function refused(fields: object, expected: ExpectedRefusal) {
  const body = { ...MAIL, ...fields }
  return refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], expected)
}

const wordsOf = ({ subject, html, text }: { subject: string; html: string; text: string }) => [
  subject,
  html,
  text,
]
const ANN_IS_WELCOME = ['Hello Ann', '<p>Hello Ann, you are 33.</p>', 'Hello Ann, you are 33.']

for (const [what, use] of [
  ['template_id and template_data', (id: string) => ({ template_id: id, template_data: ANN })],
  ['template with id and variables', (id: string) => ({ template: { id, variables: ANN } })],
  ['templateId and templateData', (id: string) => ({ templateId: id, templateData: ANN })],
  ['a bare id', (id: string) => ({ template_id: id.slice(4), template_data: ANN })],
  [
    'an empty subject beside it, as Go sends it',
    (id: string) => ({ subject: '', template: { id, variables: ANN } }),
  ],
  [
    'nulls beside it',
    (id: string) => ({ subject: null, html: null, text: null, template_id: id, template_data: ANN }),
  ],
] as const)
  test(`${what} are rendered into the email`, async () => {
    const email = await sent(use(welcome))
    assert.equal(wordsOf(email), ANN_IS_WELCOME)
    assert.is(email.template_id, welcome)
    await mailhorn.emailWhen(email.id, 'delivered')
  })

test('a dashboard session can send with a template', async () => {
  assert.equal(wordsOf(await sent({ template_id: welcome, template_data: ANN }, { session })), ANN_IS_WELCOME)
})

for (const [field, at] of [
  ['subject', 0],
  ['html', 1],
  ['text', 2],
] as const)
  test(`${field} of the request is used unchanged in place of the template's`, async () => {
    const email = await sent({
      template_id: welcome,
      template_data: ANN,
      [field]: 'Own {{name}} & {{other}}',
    })
    assert.equal(wordsOf(email), ANN_IS_WELCOME.with(at, 'Own {{name}} & {{other}}'))
  })

test('an empty html of the request is used', async () => {
  assert.is((await sent({ template_id: welcome, template_data: ANN, html: '' })).html, '')
})

test('variables of replaced parts may be missing', async () => {
  const own = { subject: 'a', html: 'b', text: 'c' }
  assert.equal(wordsOf(await sent({ template_id: welcome, ...own })), ['a', 'b', 'c'])
  const { html: _, ...both } = own
  await refused(
    { template_id: welcome, ...both },
    { ...INVALID, path: 'template_data.name', says: /`name`, `age`/ },
  )
})

test('a template with html only or text only is accepted', async () => {
  const html = await sent({ template_id: await template({ subject: 's', html: '<p>h</p>' }) })
  assert.equal(wordsOf(html), ['s', '<p>h</p>', null])
  const text = await sent({ template_id: await template({ subject: 's', text: 't' }) })
  assert.equal(wordsOf(text), ['s', null, 't'])
  const mixed = await sent({ template_id: await template({ subject: 's', text: 't' }), html: 'h' })
  assert.equal(wordsOf(mixed), ['s', 'h', 't'])
})

test('parts missing in the template are required in the request', async () => {
  const bare = await template({})
  await refused({ template_id: bare }, { ...MISSING, path: 'subject' })
  await refused({ template_id: bare, text: 't' }, { ...MISSING, path: 'subject' })
  await refused({ template_id: bare, subject: 's' }, { ...MISSING, path: 'html' })
  assert.equal(wordsOf(await sent({ template_id: bare, subject: 's', text: 't' })), ['s', null, 't'])
})

test('every missing variable is named', async () => {
  const id = await template({ subject: '{{a}}', html: '{{b.c}} {{d|x}}', text: '{{a}} {{e}} {{f}}' })
  const { body } = await refused(
    { template_id: id, template_data: { b: {}, e: null, f: { g: 1 } } },
    { ...INVALID, path: 'template_data.a', says: /`a`, `b\.c`, `e`\..*arrays: `f`/ },
  )
  assert.equal(
    body.errors.map(({ path }: { path: string }) => path),
    ['template_data.a', 'template_data.b.c', 'template_data.e', 'template_data.f'],
  )
  await refused({ template: { id } }, { ...INVALID, path: 'template.variables.a' })
})

test('500 missing variables are named', async () => {
  const names = Array.from({ length: 500 }, (_, i) => `${'long_name_'.repeat(9)}${i}`)
  const id = await template({ subject: 's', html: names.map(name => `{{${name}}}`).join('') })
  const { body } = await refused({ template_id: id }, { ...INVALID, says: /_499`/ })
  assert.is(body.errors.length, 500)
})

for (const variables of [undefined, null, [], {}])
  test(`${JSON.stringify(variables)} is refused as variables`, async () => {
    const id = await template({ subject: 's {{a|x}}', text: 't' })
    assert.is((await sent({ template: { id, variables } })).subject, 's x')
    assert.is((await sent({ template_id: id, template_data: variables })).subject, 's x')
  })

for (const [what, use, expected] of [
  ['an unknown template', { template_id: UNKNOWN }, { ...NOT_FOUND, path: 'template_id' }],
  ['an unknown template', { template: { id: UNKNOWN } }, { ...NOT_FOUND, path: 'template.id' }],
  [
    'the id of something else',
    { template_id: `eml_${UNKNOWN.slice(4)}` },
    { ...NOT_FOUND, path: 'template_id' },
  ],
  ['a name in place of an id', { template: { id: 'welcome' } }, { ...NOT_FOUND, path: 'template.id' }],
  ['an empty id', { template_id: '' }, { status: 422, name: 'validation_error', path: 'template_id' }],
  ['a number as id', { template_id: 5 }, { ...INVALID, path: 'template_id' }],
  ['a list of ids', { template_id: [UNKNOWN] }, { ...INVALID, path: 'template_id' }],
  ['a number as id', { template: { id: 5 } }, { ...INVALID, path: 'template.id' }],
  ['a template without an id', { template: { variables: {} } }, { ...MISSING, path: 'template.id' }],
  ['a template without an id', { template: { id: null } }, { ...MISSING, path: 'template.id' }],
  ['a text as template', { template: UNKNOWN }, { ...INVALID, path: 'template' }],
  ['a list as template', { template: [UNKNOWN] }, { ...INVALID, path: 'template' }],
  ['a text as data', { template_id: UNKNOWN, template_data: 'x' }, { ...INVALID, path: 'template_data' }],
  ['a list as data', { template_id: UNKNOWN, template_data: ['x'] }, { ...INVALID, path: 'template_data' }],
  [
    'a number as variables',
    { template: { id: UNKNOWN, variables: 5 } },
    { ...INVALID, path: 'template.variables' },
  ],
  [
    'data without a template',
    { subject: 's', text: 't', template_data: { a: 1 } },
    { ...INVALID, path: 'template_data' },
  ],
  ['both spellings', { template: { id: UNKNOWN }, template_id: UNKNOWN }, { ...INVALID, path: 'template' }],
  [
    'both spellings',
    { template: { id: UNKNOWN }, template_data: { a: 1 } },
    { ...INVALID, path: 'template' },
  ],
  ['no recipient', { template_id: UNKNOWN, to: undefined }, { ...MISSING, path: 'to' }],
  ['a number as subject', { template_id: UNKNOWN, subject: 5 }, { ...INVALID, path: 'subject' }],
] as const)
  test(`${JSON.stringify(use)}: ${what} is refused`, () => refused(use, expected))

test('a sender is required if the template has none', () =>
  refused({ template_id: welcome, template_data: ANN, from: '' }, { ...MISSING, path: 'from' }))

test('the template of another account is not found', async () => {
  const unknown = await post({ template_id: UNKNOWN }, { key: stranger.apiKey })
  for (const credential of [{ key: stranger.apiKey }, { session: stranger.session }]) {
    const before = storedIn(mailhorn)
    const foreign = await post({ template_id: welcome, template_data: ANN }, credential)
    assertRefusal(foreign, NOT_FOUND)
    assert.equal(foreign.body, unknown.body)
    assert.equal(storedIn(mailhorn), before)
  }
})

test('values are escaped in html', async () => {
  const name = `<script>alert("x")</script>&'`
  const email = await sent({ template_id: welcome, template_data: { name, age: '<b>' } })
  assert.equal(wordsOf(email), [
    `Hello ${name}`,
    '<p>Hello &lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;, you are &lt;b&gt;.</p>',
    `Hello ${name}, you are <b>.`,
  ])
})

test('line breaks in a value cannot inject a header', async () => {
  const email = await sent({
    template_id: welcome,
    template_data: { name: 'a\r\nBcc: evil@evil.example', age: 1 },
  })
  assert.is(email.subject, 'Hello a Bcc: evil@evil.example')
})

test('a rendered subject is validated', async () => {
  const use = (name: string) => ({ template_id: welcome, template_data: { name, age: 1 } })
  await refused(use('a\0b'), { ...INVALID, path: 'subject', says: /NUL/ })
  await refused(use('x'.repeat(2_000)), { ...INVALID, path: 'subject', says: /2000/ })
  const id = await template({ subject: '{{a}}', text: 't' })
  await refused({ template_id: id, template_data: { a: '' } }, { ...MISSING, path: 'subject' })
})

test('built-in property names have no value', async () => {
  const id = await template({ subject: 's', text: '{{constructor.name}} {{__proto__}} {{toString}} {{a.b}}' })
  const { body } = await refused({ template_id: id, template_data: { a: null } }, { ...INVALID })
  assert.is(body.errors.length, 4)
  const raw = `{"from":"a@here.example","to":"delivered@simulator.test","template_id":"${id}",
    "template_data":{"constructor":{"name":"n"},"__proto__":"p","toString":"t","a":{"b":"c"}}}`
  const { body: accepted } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw })
  assert.is((await mailhorn.email(accepted.id)).text, 'n p t c')
})

test('an oversized rendering of a small request is refused', async () => {
  const id = await template({ subject: 's', html: '{{a}}'.repeat(10_000) })
  const call = { template_id: id, template_data: { a: '<'.repeat(500_000) } }
  await refused(call, { status: 413, name: 'validation_error', says: /template_data/ })
})

test('an email is unchanged when its template is changed or deleted', async () => {
  const id = await template(WELCOME)
  const email = await sent({ template_id: id, template_data: ANN })
  await mailhorn.call('PUT', `/templates/${id}`, {
    session,
    body: { name: 'other', subject: 'other', text: 'other' },
  })
  await mailhorn.emailWhen(email.id, 'delivered')
  await mailhorn.call('DELETE', `/templates/${id}`, { session })
  const later = await mailhorn.email(email.id)
  assert.equal([...wordsOf(later), later.template_id], [...ANN_IS_WELCOME, id])
  await refused({ template_id: id, template_data: ANN }, NOT_FOUND)
})

test('a scheduled email has the template’s texts at acceptance', async () => {
  const id = await template(WELCOME)
  const scheduledAt = new Date(mailhorn.clock.now() + 3_600_000).toISOString()
  const email = await sent({ template_id: id, template_data: ANN, scheduled_at: scheduledAt })
  await mailhorn.call('DELETE', `/templates/${id}`, { session })
  mailhorn.clock.advance(3_600_000)
  const later = await mailhorn.emailWhen(email.id, 'delivered')
  assert.equal([...wordsOf(later), later.template_id], [...ANN_IS_WELCOME, id])
})

test('each email has one state of a template that is being changed', async () => {
  const state = (word: string) => ({ name: word, subject: word, html: `<p>${word}</p>`, text: word })
  const id = await template(state('state 0'))
  const changes = Array.from({ length: 20 }, (_, i) =>
    mailhorn.call('PUT', `/templates/${id}`, { session, body: state(`state ${i}`) }),
  )
  const emails = await Promise.all(Array.from({ length: 40 }, () => sent({ template_id: id })))
  await Promise.all(changes)
  for (const { subject, html, text } of emails) assert.equal([html, text], [`<p>${subject}</p>`, subject])
})

test('a repeated request gets its first answer after the template was deleted', async () => {
  const id = await template({ subject: 's', text: '{{name}}' })
  const use = { template_id: id, template_data: { name: 'Ann' } }
  const keyed = { key: mailhorn.apiKey, headers: { 'idempotency-key': 'templated' } }
  const first = await post(use, keyed)
  assert.is(first.status, 200)
  const again = async () => {
    const { status, body } = await post(use, keyed)
    assert.equal([status, body], [200, first.body])
  }
  await mailhorn.call('PUT', `/templates/${id}`, {
    session,
    body: { name: 'x', subject: 's', text: '{{other}}' },
  })
  await again()
  await mailhorn.call('PUT', `/templates/${id}`, { session, body: { name: 'x' } })
  await again()
  await mailhorn.call('DELETE', `/templates/${id}`, { session })
  await again()
  assertRefusal(await post({ ...use, cc: MAIL.to }, keyed), {
    status: 409,
    name: 'invalid_idempotent_request',
  })
  assertRefusal(await post(use, { key: mailhorn.apiKey, headers: { 'idempotency-key': 'fresh' } }), NOT_FOUND)
  assert.equal(mailhorn.rows("select key from idempotency_keys where key = 'fresh'"), [])
})

test('the idempotency hash covers the request as spelled', async () => {
  const keyed = { key: mailhorn.apiKey, headers: { 'idempotency-key': 'spelling' } }
  assert.is((await post({ template_id: welcome, template_data: ANN }, keyed)).status, 200)
  assertRefusal(await post({ template: { id: welcome, variables: ANN } }, keyed), {
    status: 409,
    name: 'invalid_idempotent_request',
  })
})

test.run()
