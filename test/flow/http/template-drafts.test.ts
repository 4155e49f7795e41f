import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('templates: aliases, drafts and defaults')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const INVALID = { status: 422, name: 'validation_error' }
const MISSING = { status: 422, name: 'missing_required_field' }
const NOT_FOUND = { status: 404, name: 'not_found' }
let made = 0
const anAlias = () => `alias-${++made}`

type Body = Record<string, unknown>
const call = (method: string, path: string, body?: object): Promise<ApiAnswer> =>
  mailhorn.call(method, path, { session, ...(body ? { body } : {}) })

async function expecting(status: number, answer: Promise<ApiAnswer>) {
  const { status: input, body } = await answer
  assert.is(input, status, JSON.stringify(body))
  return body
}

const create = (fields: object = {}) =>
  expecting(201, call('POST', '/templates', { name: 'n', subject: 's', text: 'one', ...fields }))
const read = (ref: string) => expecting(200, call('GET', `/templates/${ref}`))
const update = (ref: string, fields: object) => expecting(200, call('PATCH', `/templates/${ref}`, fields))
const replace = (ref: string, fields: object) =>
  expecting(200, call('PUT', `/templates/${ref}`, { name: 'n', subject: 's', ...fields }))
const publish = (ref: string) => expecting(200, call('POST', `/templates/${ref}/publish`))
const duplicate = (ref: string) => expecting(201, call('POST', `/templates/${ref}/duplicate`))
const refused = (method: string, path: string, body: object, expected: Parameters<typeof refuses>[2]) =>
  refuses(mailhorn, [method, path, { session, body }], expected)

/** Text of an email that is made of the template. */
async function sentText(ref: string): Promise<string> {
  const mail = { from: 'ann@here.example', to: 'delivered@simulator.test', template_id: ref }
  const { id } = await expecting(200, mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body: mail }))
  return (await mailhorn.email(id)).text
}

const stateOf = (template: Body) => [
  template.status,
  template.published_at !== null,
  template.has_unpublished_versions,
  template.published_version,
]

test('all fields of the SDKs are stored and returned', async () => {
  const alias = anAlias()
  const fields = {
    name: 'Order',
    alias,
    subject: 'Order {{ID}}',
    html: '<p>{{{PRODUCT}}}</p>',
    text: '{{PRODUCT}} {{OTHER|x}}',
    from: 'Shop <shop@here.example>',
    reply_to: ['a@here.example', 'B <b@here.example>'],
    variables: [
      { key: 'PRODUCT', type: 'string', fallback_value: 'item' },
      { key: 'PRICE', type: 'number', fallback_value: 12.5 },
      { key: 'IS_GIFT', type: 'boolean', fallback_value: false },
      { key: 'USER', type: 'object', fallback_value: { name: 'Ann' } },
      { key: 'ITEMS', type: 'list', fallback_value: [] },
      { key: 'ID', type: 'number' },
    ],
  }
  const template = await create(fields)
  const { variables, ...rest } = fields
  for (const [key, value] of Object.entries(rest)) assert.equal(template[key], value, key)
  const times = { created_at: template.created_at, updated_at: template.updated_at }
  assert.equal(template.variables, [
    ...variables.map(variable => ({ fallback_value: null, ...variable, ...times })),
    { key: 'OTHER', type: 'string', fallback_value: 'x', ...times },
  ])
  assert.match(template.current_version_id, /^ver_[0-9a-f-]{36}$/)
  assert.equal(await read(template.id), template)
  const { data } = await expecting(200, call('GET', '/templates?limit=1'))
  assert.equal([data[0].alias, data[0].status, data[0].published_at], [alias, 'draft', null])
})

test('camelCase spellings, one reply address, types in capitals and empty strings are accepted', async () => {
  const template = await create({
    ...{ alias: '', from: '', replyTo: 'a@here.example' },
    variables: [{ key: 'A', type: 'STRING', fallbackValue: 'x' }],
  })
  assert.equal([template.alias, template.from, template.reply_to], [null, null, ['a@here.example']])
  assert.equal([template.variables[0].type, template.variables[0].fallback_value], ['string', 'x'])
})

for (const [field, value, expected] of [
  ['alias', 'my order', INVALID],
  ['alias', 'tpl_01990000-0000-7000-8000-000000000000', INVALID],
  ['alias', 5, INVALID],
  ['from', 'nobody', { status: 422, name: 'invalid_from_address' }],
  ['from', 5, INVALID],
  ['from', '{{name}} <a@here.example>', INVALID],
  ['reply_to', ['a@here.example', '{{{name}}} <a@here.example>'], INVALID],
  ['reply_to', 'nobody', INVALID],
  ['reply_to', Array.from({ length: 51 }, () => 'a@b.example'), INVALID],
  ['variables', 'x', INVALID],
  ['variables', { A: 1 }, INVALID],
  ['variables', Array.from({ length: 501 }, (_, i) => ({ key: `a${i}`, type: 'string' })), INVALID],
] as const)
  test(`${field}: ${JSON.stringify(value).slice(0, 50)} is refused`, async () => {
    const { id } = await create()
    for (const [method, path] of [
      ['POST', '/templates'],
      ['PUT', `/templates/${id}`],
      ['PATCH', `/templates/${id}`],
    ] as const)
      await refused(method, path, { name: 'n', [field]: value }, { ...expected, path: field })
  })

for (const [variable, path, expected] of [
  ['A', '', INVALID],
  [{ type: 'string' }, '.key', MISSING],
  [{ key: 'A' }, '.type', MISSING],
  [{ key: '', type: 'string' }, '.key', INVALID],
  [{ key: 'a|b', type: 'string' }, '.key', INVALID],
  [{ key: ' a', type: 'string' }, '.key', INVALID],
  [{ key: 'x'.repeat(101), type: 'string' }, '.key', INVALID],
  [{ key: 5, type: 'string' }, '.key', INVALID],
  [{ key: 'A', type: 'date' }, '.type', INVALID],
  [{ key: 'A', type: 5 }, '.type', INVALID],
  [{ key: 'A', type: 'string', fallback_value: 5 }, '.fallback_value', INVALID],
  [{ key: 'A', type: 'number', fallback_value: '5' }, '.fallback_value', INVALID],
  [{ key: 'A', type: 'boolean', fallback_value: 'true' }, '.fallback_value', INVALID],
  [{ key: 'A', type: 'object', fallback_value: ['x'] }, '.fallback_value', INVALID],
  [{ key: 'A', type: 'list', fallback_value: {} }, '.fallback_value', INVALID],
] as const)
  test(`the variable ${JSON.stringify(variable).slice(0, 60)} is refused`, () =>
    refused(
      'POST',
      '/templates',
      { name: 'n', variables: [{ key: 'B', type: 'string' }, variable] },
      { ...expected, path: `variables[1]${path}` },
    ))

test('a repeated variable and declarations of more than 256 KiB are refused', async () => {
  const repeated = ['A', 'B', 'A'].map(key => ({ key, type: 'string' }))
  await refused(
    'POST',
    '/templates',
    { name: 'n', variables: repeated },
    { ...INVALID, path: 'variables[2].key' },
  )
  const large = [{ key: 'A', type: 'string', fallback_value: 'x'.repeat(256 * 1024) }]
  await refused('POST', '/templates', { name: 'n', variables: large }, { ...INVALID, path: 'variables' })
})

test('an alias stands for the id on every route', async () => {
  const alias = anAlias()
  const { id } = await create({ alias })
  assert.is((await read(alias)).id, id)
  await update(alias, { text: 'two' })
  await replace(alias, { text: 'three' })
  assert.is((await publish(alias)).id, id)
  const copy = await duplicate(alias)
  assert.is((await expecting(200, call('GET', `/templates/${alias}/versions`))).length, 2)
  assert.is((await expecting(200, call('GET', `/templates/${alias}/versions/1`))).text, 'one')
  await expecting(200, call('POST', `/templates/${alias}/versions/1/restore`))
  assert.is(await sentText(alias), 'one')
  assert.equal(await expecting(200, call('DELETE', `/templates/${alias}`)), {
    ...{ object: 'template', id, deleted: true },
  })
  await refuses(mailhorn, ['GET', `/templates/${alias}`, { session }], NOT_FOUND)
  assert.is((await read(copy.id)).text, 'three')
})

test('an alias belongs to one template of an account, and can be changed, removed and used again', async () => {
  const [alias, other] = [anAlias(), anAlias()]
  const first = await create({ alias })
  await refused('POST', '/templates', { name: 'n', alias }, { ...INVALID, path: 'alias' })
  const second = await create({ alias: other })
  for (const method of ['PUT', 'PATCH'])
    await refused(method, `/templates/${second.id}`, { name: 'n', alias }, { ...INVALID, path: 'alias' })
  assert.is((await read(second.id)).alias, other)
  assert.is((await update(first.id, { alias })).alias, alias)
  assert.is((await update(first.id, { alias: '' })).alias, null)
  assert.is((await update(second.id, { alias })).alias, alias)
  await refuses(mailhorn, ['GET', `/templates/${other}`, { session }], NOT_FOUND)
  const stranger = addAccount(mailhorn, 'stranger')
  await refuses(mailhorn, ['GET', `/templates/${alias}`, { session: stranger.session }], NOT_FOUND)
  const body = { name: 'n', alias }
  const theirs = await mailhorn.call('POST', '/templates', { session: stranger.session, body })
  assert.equal([theirs.status, theirs.body.alias], [201, alias])
})

test('an alias alone makes no version', async () => {
  const template = await create()
  mailhorn.clock.advance(1_000)
  const named = await update(template.id, { alias: anAlias() })
  assert.is.not(named.updated_at, template.updated_at)
  assert.is(named.current_version_id, template.current_version_id)
  assert.equal(await expecting(200, call('GET', `/templates/${template.id}/versions`)), [])
})

test('a template that was never published is a draft, and emails use it as it is', async () => {
  const template = await create()
  const { id } = template
  assert.equal(stateOf(template), ['draft', false, true, null])
  assert.is(await sentText(id), 'one')
  assert.equal(stateOf(await update(id, { text: 'two' })), ['draft', false, true, null])
  assert.is(await sentText(id), 'two')
  assert.equal(stateOf(await replace(id, { text: 'three' })), ['draft', false, true, null])
  assert.is(await sentText(id), 'three')
})

test('after publishing, an update is a draft until the template is published again', async () => {
  const { id } = await create()
  const published = await publish(id)
  assert.equal(stateOf(published), ['published', true, false, null])
  assert.equal(await publish(id), published)
  mailhorn.clock.advance(1_000)
  const drafted = await update(id, { text: 'two' })
  assert.equal([drafted.text, ...stateOf(drafted)], ['two', 'published', true, true, 1])
  assert.is(drafted.published_at, published.published_at)
  assert.is.not(drafted.current_version_id, published.current_version_id)
  assert.is((await update(id, { subject: 'S' })).published_version, 1)
  assert.is(await sentText(id), 'one')
  mailhorn.clock.advance(1_000)
  const again = await publish(id)
  assert.equal([again.text, again.subject, ...stateOf(again)], ['two', 'S', 'published', true, false, null])
  assert.ok(again.published_at > published.published_at)
  assert.is(await sentText(id), 'two')
})

test('PUT and restore of a published template are used at once, and end its draft', async () => {
  const { id } = await create()
  await publish(id)
  await update(id, { text: 'draft' })
  assert.equal(stateOf(await replace(id, { text: 'put' })), ['published', true, false, null])
  assert.is(await sentText(id), 'put')
  await update(id, { text: 'draft' })
  assert.equal(stateOf(await replace(id, { text: 'draft' })), ['published', true, false, null])
  assert.is(await sentText(id), 'draft')
  await update(id, { text: 'another' })
  const restored = await expecting(200, call('POST', `/templates/${id}/versions/1/restore`))
  assert.equal([restored.text, ...stateOf(restored)], ['one', 'published', true, false, null])
  assert.is(await sentText(id), 'one')
})

test('PUT with publish: false makes a draft of a published template', async () => {
  const { id } = await create()
  await publish(id)
  const drafted = await replace(id, { html: '<p>draft</p>', publish: false })
  assert.equal(
    [drafted.html, drafted.text, ...stateOf(drafted)],
    ['<p>draft</p>', null, 'published', true, true, 1],
  )
  assert.is(await sentText(id), 'one')
  await refused('PUT', `/templates/${id}`, { name: 'n', publish: 'no' }, { ...INVALID, path: 'publish' })
})

test('PATCH keeps what it does not name', async () => {
  const fields = {
    ...{ name: 'n', subject: 's', html: 'h', text: 't', from: 'a@here.example', alias: anAlias() },
    ...{ reply_to: ['r@here.example'], variables: [{ key: 'A', type: 'number', fallback_value: 5 }] },
  }
  const template = await create(fields)
  const shown = ({ variables, ...rest }: Body) => ({
    ...Object.fromEntries(Object.keys(fields).map(key => [key, rest[key]])),
    variables: (variables as Body[]).map(({ key, type, fallback_value }) => ({ key, type, fallback_value })),
  })
  for (const [field, value] of [
    ['name', 'N'],
    ['subject', 'S'],
    ['html', ''],
    ['text', ''],
    ['from', 'b@here.example'],
    ['reply_to', ['x@here.example', 'y@here.example']],
    ['variables', [{ key: 'B', type: 'string', fallback_value: null }]],
  ] as const) {
    const before = shown(await read(template.id))
    assert.equal(shown(await update(template.id, { [field]: value })), { ...before, [field]: value })
  }
  assert.is((await expecting(200, call('GET', `/templates/${template.id}/versions`))).length, 7)
  const version = await expecting(200, call('GET', `/templates/${template.id}/versions/1`))
  assert.equal(
    [version.from, version.reply_to, version.variables[0].key],
    ['a@here.example', ['r@here.example'], 'A'],
  )
  assert.equal(
    shown(await expecting(200, call('POST', `/templates/${template.id}/versions/1/restore`))),
    fields,
  )
})

test('PATCH removes with empty strings and empty lists, and says that null changes nothing', async () => {
  const { id } = await create({
    ...{ html: 'h', from: 'a@here.example', alias: anAlias() },
    ...{ reply_to: 'r@here.example', variables: [{ key: 'A', type: 'string' }] },
  })
  const keys = ['alias', 'from', 'html', 'name', 'reply_to', 'subject', 'text', 'variables']
  const nulls = Object.fromEntries(keys.map(key => [key, null]))
  const { warnings, ...remaining } = await update(id, nulls)
  assert.equal(warnings.map(({ path }: Body) => path).sort(), keys)
  assert.equal(remaining, await read(id))
  const removed = await update(id, { alias: '', from: '', reply_to: [], subject: '', variables: [] })
  assert.equal(
    [removed.alias, removed.from, removed.reply_to, removed.subject, removed.variables, removed.warnings],
    [null, null, null, null, [], undefined],
  )
  await update(id, { replyTo: 'r@here.example' })
  assert.is((await update(id, { reply_to: '' })).reply_to, null)
})

test('PUT keeps alias, addresses and variables that it does not name', async () => {
  const alias = anAlias()
  const variables = [{ key: 'A', type: 'string', fallback_value: 'x' }]
  const { id } = await create({ alias, from: 'a@here.example', reply_to: 'r@here.example', variables })
  const replaced = await replace(id, { text: 'two' })
  assert.equal(
    [replaced.alias, replaced.from, replaced.reply_to, replaced.variables[0].fallback_value],
    [alias, 'a@here.example', ['r@here.example'], 'x'],
  )
  assert.is((await replace(id, { text: 'two', from: 'b@here.example' })).from, 'b@here.example')
  const removed = await replace(id, { text: 'two', from: '', alias: '', reply_to: '', variables: [] })
  assert.equal([removed.from, removed.alias, removed.reply_to, removed.variables], [null, null, null, []])
})

test('a template that was read can be written back', async () => {
  const html = '<p>{{a|<b>x</b>}} {{user.name}} {{EMAIL}} {{first_name|there}}</p>'
  const template = await create({ html, from: 'Shop <a@here.example>', reply_to: 'r@here.example' })
  const { variables } = template
  for (const [method, status] of [
    ['PUT', 200],
    ['PATCH', 200],
  ] as const) {
    const body = await expecting(status, call(method, `/templates/${template.id}`, template))
    assert.equal(
      body.variables.map(({ key, type, fallback_value }: Body) => [key, type, fallback_value]),
      variables.map(({ key, type, fallback_value }: Body) => [key, type, fallback_value]),
    )
  }
  const { id } = await expecting(
    200,
    mailhorn.call('POST', '/emails', {
      key: mailhorn.apiKey,
      body: {
        to: 'delivered@simulator.test',
        template_id: template.id,
        template_data: { user: { name: 5 }, EMAIL: 'e' },
      },
    }),
  )
  assert.is((await mailhorn.email(id)).html, '<p><b>x</b> 5 e there</p>')
})

test('PATCH refuses an empty name, and limits hold for the result', async () => {
  const names = (from: number) => Array.from({ length: 300 }, (_, i) => `{{a${from + i}}}`).join('')
  const { id } = await create({ html: names(0) })
  await refused('PATCH', `/templates/${id}`, { name: '' }, { ...INVALID, path: 'name' })
  await refused('PATCH', `/templates/${id}`, { text: names(300) }, { ...INVALID, path: 'text' })
  await refused('PATCH', `/templates/${id}`, { text: '{{#if x}}' }, { ...INVALID, path: 'text' })
  assert.is((await update(id, {})).text, 'one')
})

test('a duplicate is a draft of the present content without an alias', async () => {
  const variables = [{ key: 'A', type: 'string', fallback_value: 'x' }]
  const original = await create({
    alias: anAlias(),
    from: 'a@here.example',
    reply_to: 'r@here.example',
    variables,
  })
  await publish(original.id)
  await update(original.id, { text: 'draft' })
  const copy = await duplicate(original.id)
  assert.is.not(copy.id, original.id)
  assert.equal(
    [copy.text, copy.alias, copy.from, copy.reply_to, copy.variables[0].key, ...stateOf(copy)],
    ['draft', null, 'a@here.example', ['r@here.example'], 'A', 'draft', false, true, null],
  )
  await expecting(200, call('DELETE', `/templates/${original.id}`))
  assert.is(await sentText(copy.id), 'draft')
  await expecting(200, call('DELETE', `/templates/${copy.id}`))
})

test('publish and duplicate of an unknown template are 404', async () => {
  for (const ref of ['tpl_01990000-0000-7000-8000-000000000000', 'unknown-alias', 'not%20an%20alias'])
    for (const act of ['publish', 'duplicate'])
      await refuses(mailhorn, ['POST', `/templates/${ref}/${act}`, { session }], NOT_FOUND)
})

test.run()
