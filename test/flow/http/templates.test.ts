import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type ApiAnswer, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('templates')
let mailhorn: Mailhorn
let session = ''
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const WELCOME = {
  name: 'Welcome',
  subject: 'Hello {{name}}',
  html: '<p>Hello {{name}}</p>',
  text: 'Hello {{name}}',
}
const BARE = { name: 'Bare', subject: null, html: null, text: null }
const UNKNOWN = '/templates/tpl_01990000-0000-7000-8000-000000000000'
const NOT_FOUND = { status: 404, name: 'not_found' }
const INVALID = { status: 422, name: 'validation_error' }
const MISSING = { status: 422, name: 'missing_required_field' }

interface VersionRow {
  version: number
  name: string
  subject: string | null
  created_at: string
}

interface Fields {
  name: string
  subject: string | null
  html: string | null
  text: string | null
}

function call(method: string, path: string, body?: object): Promise<ApiAnswer> {
  return mailhorn.call(method, path, { session, ...(body ? { body } : {}) })
}

async function expecting(status: number, answer: Promise<ApiAnswer>) {
  const { status: input, body } = await answer
  assert.is(input, status, JSON.stringify(body))
  return body
}

const create = (fields: object = WELCOME) => expecting(201, call('POST', '/templates', fields))
const read = (id: string) => expecting(200, call('GET', `/templates/${id}`))
const replace = (id: string, fields: object) => expecting(200, call('PUT', `/templates/${id}`, fields))
const restore = (id: string, version: number) =>
  expecting(200, call('POST', `/templates/${id}/versions/${version}/restore`))
const version = (id: string, number: number) =>
  expecting(200, call('GET', `/templates/${id}/versions/${number}`))

async function versions(id: string): Promise<VersionRow[]> {
  return expecting(200, call('GET', `/templates/${id}/versions`))
}

const fieldsOf = ({ name, subject, html, text }: Fields): Fields => ({ name, subject, html, text })

/** Contents of templates; this service has sent nothing. */
const contents = () =>
  mailhorn.rows<{ id: number; refs: number }>('select id, refs from contents order by id')

test('a new template is returned with all fields and its variables', async () => {
  const template = await create()
  assert.match(template.id, /^tpl_[0-9a-f-]{36}$/)
  assert.is(template.object, 'template')
  assert.equal(fieldsOf(template), WELCOME)
  assert.match(template.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.is(template.updated_at, template.created_at)
  assert.equal(
    [template.status, template.published_at, template.alias, template.from, template.reply_to],
    ['draft', null, null, null, null],
  )
  assert.equal(
    template.variables.map(({ key, type, fallback_value: fallback }: Record<string, unknown>) => [
      key,
      type,
      fallback,
    ]),
    [['name', 'string', null]],
  )
  assert.equal(await read(template.id), template)
  assert.equal(await read(template.id.slice(4)), template)
  assert.equal(await versions(template.id), [])
})

test('each variable is listed once, without fallback if one placeholder has none', async () => {
  const { variables } = await create({
    ...WELCOME,
    subject: '{{a|x}} {{b|y}} {{c}}',
    text: '{{a}} {{b|z}} {{{d.e|}}}',
  })
  assert.equal(
    variables.map(({ key, fallback_value: fallback }: Record<string, unknown>) => [key, fallback]),
    [
      ['a', null],
      ['b', 'y'],
      ['c', null],
      ['name', null],
      ['d.e', ''],
    ],
  )
})

for (const [what, fields] of [
  ['left out', { name: 'Bare' }],
  ['null', BARE],
] as const)
  test(`only the name is required; the rest may be ${what}`, async () => {
    const template = await create(fields)
    assert.equal(fieldsOf(template), BARE)
    assert.equal(template.variables, [])
  })

test('an empty subject is null, empty html and text stay empty', async () => {
  const template = await create({ name: 'Empty', subject: '', html: '', text: '' })
  assert.equal(fieldsOf(template), { name: 'Empty', subject: null, html: '', text: '' })
})

test('texts are returned unchanged', async () => {
  const odd = 'ünï 😀 \u2028\u2029\u0085\u202e \ufeff {{{ {{1 + 1}} }} \\ " \' < & %s $1'
  const text = `${odd}\r\n\0\n.\r`
  const template = await create({ name: odd.replace(/[\u0085\u202e]/g, ''), subject: odd, html: text, text })
  assert.equal([template.subject, template.html, template.text], [odd, text, text])
  assert.equal(await read(template.id), template)
})

for (const [method, path] of [
  ['POST', () => '/templates'],
  ['PUT', () => `/templates/${input}`],
] as const) {
  const refused = (what: string, body: object, expected: Parameters<typeof refuses>[2]) =>
    test(`${method} refuses ${what}`, async () => {
      input = (await create()).id
      await refuses(mailhorn, [method, path(), { session, body }], expected)
      assert.equal(fieldsOf(await read(input)), WELCOME)
    })
  refused('a template without a name', { ...WELCOME, name: undefined }, { ...MISSING, path: 'name' })
  for (const name of [null, '', []])
    refused(`${JSON.stringify(name)} as name`, { ...WELCOME, name }, { ...MISSING, path: 'name' })
  refused('a name of 201 characters', { name: 'n'.repeat(201) }, { ...INVALID, path: 'name' })
  refused('a line break in a name', { name: 'a\nb' }, { ...INVALID, path: 'name' })
  refused('NUL in a name', { name: 'a\0b' }, { ...INVALID, path: 'name' })
  for (const field of ['name', 'subject', 'html', 'text'])
    for (const value of [5, true, { a: 1 }, ['a']])
      refused(
        `${JSON.stringify(value)} as ${field}`,
        { ...WELCOME, [field]: value },
        { ...INVALID, path: field },
      )
  for (const subject of ['a\rb', 'a\nb', 'a\0b', 'x'.repeat(2_001), '{{a|x\ny}}'])
    refused(
      `the subject ${JSON.stringify(subject.slice(0, 10))}`,
      { ...WELCOME, subject },
      { ...INVALID, path: 'subject' },
    )
  for (const field of ['subject', 'html', 'text'])
    for (const tag of ['{{#if x}}', '{% if x %}', '{{else}}', '{{name', '{{ x | default: "y" }}'])
      refused(`${tag} in ${field}`, { ...WELCOME, [field]: `a ${tag}` }, { ...INVALID, path: field })
  for (const field of ['html', 'text']) {
    const refusedText = (what: string, value: string) =>
      refused(`${field} of ${what}`, { ...WELCOME, [field]: value }, { ...INVALID, path: field })
    refusedText('more than 4 MiB', 'é'.repeat(2 * 1024 * 1024 + 1))
    refusedText('10,001 variables', '{{a}}'.repeat(10_001))
    refusedText('501 different variables', Array.from({ length: 501 }, (_, i) => `{{a${i}}}`).join(''))
  }
  refused('a body that is a list', [WELCOME], { status: 400, name: 'validation_error' })
  refused(
    'more than 16 MiB',
    { ...WELCOME, x: 'x'.repeat(16 * 1024 * 1024) },
    { status: 413, name: 'validation_error' },
  )
}
let input = ''

test('a template of maximum size is accepted', async () => {
  const html = Array.from({ length: 500 }, (_, i) => `{{a${i}}}`)
    .join('')
    .padEnd(4 * 1024 * 1024, 'x')
  const template = await create({
    name: 'n'.repeat(200),
    subject: 's'.repeat(2_000),
    html,
    text: '{{a1}}'.repeat(10_000),
  })
  assert.is(template.variables.length, 500)
  assert.is((await read(template.id)).html, html)
})

test('PUT replaces all four fields, with null for missing ones', async () => {
  const { id, created_at: createdAt } = await create()
  mailhorn.clock.advance(1_000)
  const replaced = await replace(id, { name: 'Other', text: 'Bye' })
  assert.equal(fieldsOf(replaced), { name: 'Other', subject: null, html: null, text: 'Bye' })
  assert.is(replaced.created_at, createdAt)
  assert.ok(Date.parse(replaced.updated_at) - Date.parse(createdAt) >= 1_000)
  assert.equal(await read(id), replaced)
})

test('PUT keeps the former state as a version, listed newest first', async () => {
  const { id } = await create()
  const second = await replace(id, { ...WELCOME, name: 'Second', html: 'Second' })
  mailhorn.clock.advance(1_000)
  const third = await replace(id, { name: 'Third' })
  assert.equal(await versions(id), [
    { version: 2, name: 'Second', subject: WELCOME.subject, created_at: third.updated_at },
    { version: 1, name: 'Welcome', subject: WELCOME.subject, created_at: second.updated_at },
  ])
  const remaining = await version(id, 2)
  assert.equal([remaining.version, remaining.created_at], [2, third.updated_at])
  assert.equal(fieldsOf(remaining), fieldsOf(second))
  assert.equal(fieldsOf(await version(id, 1)), WELCOME)
})

for (const [field, value] of [
  ['name', 'Other'],
  ['subject', 'Other'],
  ['subject', null],
  ['html', '<p>Other</p>'],
  ['html', ''],
  ['html', null],
  ['text', 'Other'],
  ['text', null],
] as const)
  test(`${JSON.stringify(value)} in place of ${field} makes a version`, async () => {
    const { id } = await create()
    assert.equal(fieldsOf(await replace(id, { ...WELCOME, [field]: value })), { ...WELCOME, [field]: value })
    assert.is((await versions(id)).length, 1)
    assert.equal(fieldsOf(await version(id, 1)), WELCOME)
  })

test('an unchanged PUT makes no version and no new time', async () => {
  const template = await create()
  mailhorn.clock.advance(1_000)
  assert.equal(await replace(template.id, WELCOME), template)
  assert.equal(await replace(template.id, { ...WELCOME, other: 1 }), template)
  assert.equal(await versions(template.id), [])
  const bare = await create(BARE)
  assert.equal(await replace(bare.id, { name: 'Bare', subject: '' }), bare)
})

test('restoring a version keeps the former state as a version', async () => {
  const { id } = await create()
  const second = await replace(id, { name: 'Second', text: 'two' })
  mailhorn.clock.advance(1_000)
  const restored = await restore(id, 1)
  assert.equal(fieldsOf(restored), WELCOME)
  assert.ok(Date.parse(restored.updated_at) - Date.parse(second.updated_at) >= 1_000)
  assert.equal(await read(id), restored)
  assert.equal(
    (await versions(id)).map(({ version, name }) => [version, name]),
    [
      [2, 'Second'],
      [1, 'Welcome'],
    ],
  )
  assert.equal(fieldsOf(await restore(id, 2)), { name: 'Second', subject: null, html: null, text: 'two' })
  assert.equal((await versions(id)).length, 3)
  assert.equal(fieldsOf(await version(id, 3)), WELCOME)
})

for (const number of ['0', '-1', '2', '1.0', '01', '1e0', 'x', '%201', '99999999999999999999', '__proto__'])
  test(`there is no version ${number}`, async () => {
    const { id } = await create()
    await replace(id, { name: 'Second' })
    await refuses(mailhorn, ['GET', `/templates/${id}/versions/${number}`, { session }], NOT_FOUND)
    await refuses(mailhorn, ['POST', `/templates/${id}/versions/${number}/restore`, { session }], NOT_FOUND)
    assert.is((await read(id)).name, 'Second')
  })

test('concurrent PUTs and restores make consecutive versions', async () => {
  const { id } = await create({ name: 'state 0' })
  await replace(id, { name: 'state 1' })
  const changes = Array.from({ length: 30 }, (_, i) =>
    i % 3 === 0 ? restore(id, 1) : replace(id, { name: `state ${i + 2}`, text: `text ${i % 4}` }),
  )
  await Promise.all(changes)
  const remaining = await versions(id)
  assert.equal(
    remaining.map(each => each.version),
    Array.from({ length: 31 }, (_, i) => 31 - i),
  )
  const names = [...remaining.map(({ name }) => name), (await read(id)).name]
  for (let i = 0; i < 30; i++)
    if (i % 3 !== 0) assert.is(names.filter(name => name === `state ${i + 2}`).length, 1)
  assert.is(names.filter(name => name === 'state 0').length, 11)
})

test('versions share stored html and text', async () => {
  const before = contents()
  const { id } = await create()
  for (const name of ['b', 'c', 'd']) await replace(id, { ...WELCOME, name })
  await replace(id, { ...WELCOME, html: 'other' })
  await restore(id, 1)
  const own = contents().slice(before.length)
  assert.equal(
    own.map(({ refs }) => refs),
    [5, 1],
  )
  await expecting(200, call('DELETE', `/templates/${id}`))
  assert.equal(contents(), before)
})

test('deleting a template deletes its versions', async () => {
  const { id } = await create()
  await replace(id, { name: 'Second' })
  assert.equal(await expecting(200, call('DELETE', `/templates/${id}`)), {
    object: 'template',
    id,
    deleted: true,
  })
  for (const [method, path] of [
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['POST', '/versions/1/restore'],
  ] as const)
    await refuses(mailhorn, [method, `/templates/${id}${path}`, { session }], NOT_FOUND)
  await refuses(mailhorn, ['PUT', `/templates/${id}`, { session, body: WELCOME }], NOT_FOUND)
  assert.equal(mailhorn.rows('select * from template_versions where template_id = ?', idBytes(id)), [])
})

function idBytes(id: string): Buffer {
  return Buffer.from(id.slice(4).replaceAll('-', ''), 'hex')
}

test('an unknown template is 404 on every route', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['PUT', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['POST', '/versions/1/restore'],
  ] as const)
    await refuses(
      mailhorn,
      [method, UNKNOWN + path, { session, ...(method.startsWith('P') ? { body: WELCOME } : {}) }],
      NOT_FOUND,
    )
})

test('the list is newest first, paged, without html and text', async () => {
  const credential = { session: addAccount(mailhorn, 'ann').session }
  const list = async (query = '') => (await mailhorn.call('GET', `/templates${query}`, credential)).body
  assert.equal(await list(), { object: 'list', total: 0, has_more: false, data: [] })
  for (let i = 0; i < 25; i++)
    await mailhorn.call('POST', '/templates', { ...credential, body: { ...WELCOME, name: `template ${i}` } })
  const first = await list()
  assert.equal([first.total, first.has_more, first.data.length], [25, true, 20])
  assert.equal(
    first.data.map(({ name }: Fields) => name),
    Array.from({ length: 20 }, (_, i) => `template ${24 - i}`),
  )
  assert.equal(Object.keys(first.data[0]).sort(), [
    'alias',
    'created_at',
    'id',
    'name',
    'object',
    'published_at',
    'status',
    'subject',
    'updated_at',
  ])
  const last = await list('?limit=10&offset=20')
  assert.equal([last.total, last.has_more, last.data.length], [25, false, 5])
  assert.equal((await list('?offset=25')).data, [])
})

test('search by name ignores case and Unicode form', async () => {
  const credential = { session: addAccount(mailhorn, 'bob').session }
  const names = ['Grüße', 'GRÜSSE 100%', 'under_score', 'back\\slash', 'ﬁne', 'a!b']
  for (const name of names)
    await mailhorn.call('POST', '/templates', { ...credential, body: { name, subject: 'x', html: 'needle' } })
  const found = async (q: string) => {
    const { body } = await mailhorn.call('GET', `/templates?q=${encodeURIComponent(q)}`, credential)
    assert.is(body.total, body.data.length)
    return body.data.map(({ name }: Fields) => name).reverse()
  }
  assert.equal(await found(''), names)
  assert.equal(await found('GRÜ'), ['Grüße', 'GRÜSSE 100%'])
  assert.equal(await found('gru\u0308ße'), ['Grüße'])
  assert.equal(await found('%'), ['GRÜSSE 100%'])
  assert.equal(await found('_'), ['under_score'])
  assert.equal(await found('\\'), ['back\\slash'])
  assert.equal(await found('!'), ['a!b'])
  assert.equal(await found('FIN'), ['ﬁne'])
  assert.equal(await found("' or 1=1 --"), [])
  assert.equal(await found('needle'), [])
})

test('search finds the new name and not the former one', async () => {
  const { id } = await create({ name: 'Before the change' })
  await replace(id, { name: 'After the Change' })
  const totals = async (q: string) => (await expecting(200, call('GET', `/templates?q=${q}`))).total
  assert.equal([await totals('BEFORE+THE'), await totals('AFTER+THE')], [0, 1])
  await restore(id, 1)
  assert.equal([await totals('BEFORE+THE'), await totals('AFTER+THE')], [1, 0])
})

for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'q=a%00', `q=${'x'.repeat(201)}`])
  test(`the list refuses ${query.slice(0, 12)}`, () =>
    refuses(mailhorn, ['GET', `/templates?${query}`, { session }], {
      ...INVALID,
      path: query.split('=')[0]!,
    }))

test('acknowledged changes survive a restart', async t => {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const before = await startMailhorn({ dataDir })
  const credential = { session: await before.signIn() }
  const { body } = await before.call('POST', '/templates', { ...credential, body: WELCOME })
  const path = `/templates/${body.id}`
  await before.call('PUT', path, { ...credential, body: { ...WELCOME, name: 'Kept' } })
  const shown = await before.call('GET', path, credential)
  await before.close()
  const after = await t.using(startMailhorn({ dataDir }))
  assert.equal((await after.call('GET', path, credential)).body, shown.body)
  assert.is((await after.call('GET', `${path}/versions`, credential)).body.length, 1)
})

test.run()
