import { readdirSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal, contentsOf } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('files of contacts')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = await mailhorn.signIn()
})
test.after(() => mailhorn.close())

const get = (path: string) => mailhorn.call('GET', path, { session })
const upload = (id: string, raw: string | Uint8Array, { query = '', type = 'text/csv' } = {}) =>
  mailhorn.call('POST', `/audiences/${id}/contacts/import${query}`, {
    session,
    raw,
    headers: { 'content-type': type },
  })

async function newAudience(): Promise<string> {
  return (await mailhorn.call('POST', '/audiences', { session, body: { name: 'Readers' } })).body.id
}

test('a file is taken in, reported on, and exported again', async () => {
  const id = await newAudience()
  const { status, body } = await upload(id, 'email,first_name,plan\nAnn@there.example,Ann,=pro,x\nnobody,,\n')
  const { id: importId, created_at: _, updated_at: __, ended_at: endedAt, ...rest } = body
  assert.is(status, 200)
  assert.ok(endedAt)
  assert.equal(rest, {
    object: 'contact_import',
    audience_id: id,
    file_name: null,
    status: 'done',
    error: null,
    ...{ rows: 2, created: 1, updated: 0, unchanged: 0, skipped: 0, failed: 1 },
    errors: [{ row: 3, email: 'nobody', message: 'The address has no "@".' }],
    notes: [
      { row: 2, email: 'ann@there.example', message: 'Cells beyond the 3 of the header row were ignored.' },
    ],
  })
  assert.equal((await get(`/audiences/${id}/imports/${importId}`)).body, body)
  assert.equal((await get(`/audiences/${id}/imports`)).body, {
    object: 'list',
    total: 1,
    has_more: false,
    data: [body],
  })
  assert.equal((await get(`/audiences/${id}/properties`)).body.data, [{ key: 'plan', contact_count: 1 }])
  const { headers, body: csv } = await get(`/audiences/${id}/contacts/export`)
  assert.match(headers.get('content-disposition')!, /^attachment; filename="contacts.csv"$/)
  assert.is(csv, "email,first_name,last_name,unsubscribed,plan\r\nann@there.example,Ann,,false,'=pro\r\n")
})

test('the columns and first rows of a file are shown, and nothing is stored', async () => {
  const id = await newAudience()
  const lines = ['Kontakt;Vorname;city;Newsletter abgemeldet;', "ann@there.example;Ann;'=x;ja;y"]
  const more = Array.from({ length: 9 }, (_, i) => `p${i}@there.example;P`)
  const look = (raw: string, type?: string) =>
    mailhorn.call('POST', `/audiences/${id}/contacts/import/preview`, {
      ...{ session, raw, headers: { 'content-type': type ?? 'text/csv' } },
    })
  const { status, body } = await look([...lines, ...more].join('\n'))
  assert.is(status, 200)
  assert.equal(body.columns, [
    { name: 'Kontakt', use: 'property' },
    { name: 'Vorname', use: 'first_name' },
    { name: 'city', use: 'property' },
    { name: 'Newsletter abgemeldet', use: 'consent' },
    { name: '', use: 'ignore' },
  ])
  assert.equal(body.rows[0], { row: 2, cells: ['ann@there.example', 'Ann', '=x', 'ja', 'y'] })
  assert.equal(body.rows[1], { row: 3, cells: ['p0@there.example', 'P', '', '', ''] })
  assert.is(body.rows.length, 5)
  assert.equal((await get(`/audiences/${id}/imports`)).body.data, [])
  assert.is((await look('')).status, 422)
  assert.is((await look('email\n', 'text/plain')).status, 415)
})

test('columns are used as the client says, and still tell who has left', async () => {
  const id = await newAudience()
  const csv = 'Kontakt,City,Note,zustand\nann@there.example,Graz,x,1\nbob@there.example,Wien,y,2\n'
  const sent = (uses: object, meanings = {}) => {
    const query = { column_uses: JSON.stringify(uses), column_meanings: JSON.stringify(meanings) }
    return upload(id, csv, { query: `?${new URLSearchParams(query)}` })
  }
  const uses = { Kontakt: 'email', City: { property: 'city' }, Note: 'ignore' }
  const zustand = { zustand: { 1: 'subscribed', 2: 'unsubscribed' } }
  assert.is((await sent({ ...uses, zustand: { property: 'state' } }, zustand)).status, 200)
  const { data } = (await get(`/audiences/${id}/contacts`)).body
  assert.equal(
    data.map(({ email, unsubscribed, properties }: Record<string, unknown>) => [
      email,
      unsubscribed,
      properties,
    ]),
    [
      ['bob@there.example', true, { city: 'Wien', state: '2' }],
      ['ann@there.example', false, { city: 'Graz', state: '1' }],
    ],
  )
  for (const wrong of [
    { ...uses, Missing: 'ignore' },
    { ...uses, City: 'town' },
    { ...uses, City: { property: 'email' } },
    { ...uses, City: 'email' },
  ])
    assertRefusal(await sent(wrong, zustand), { status: 422, name: 'validation_error' })
  const left = 'email,statuscode\nann@there.example,withdrawn consent\n'
  const query = `?column_uses=${encodeURIComponent('{"statuscode":"ignore"}')}`
  const asked = await upload(id, left, { query })
  assert.equal([asked.status, asked.body.questions[0].column], [422, 'statuscode'])
})

test('the page of a contact says which row of which file they came from', async () => {
  // given
  const id = await newAudience()
  const activityOf = async (email: string) =>
    (await get(`/contacts/${encodeURIComponent(email)}/activity`)).body
  const form = new FormData()
  form.set('file', new Blob(['email\nform@there.example\n']), 'from a form.csv')
  form.set('segments', JSON.stringify([{ id }]))

  // when
  const { body } = await upload(id, 'email\nrow2@there.example\nrow3@there.example\n', {
    query: `?file_name=${encodeURIComponent('März 2026.csv')}`,
  })
  const sent = new Response(form)
  const formReply = await mailhorn.call('POST', '/contacts/imports', {
    session,
    raw: new Uint8Array(await sent.arrayBuffer()),
    headers: { 'content-type': sent.headers.get('content-type')! },
  })
  await mailhorn.call('POST', `/audiences/${id}/contacts`, { session, body: { email: 'own@there.example' } })

  // then
  assert.is(body.file_name, 'März 2026.csv')
  assert.equal((await activityOf('row3@there.example')).source, {
    ...{ import_id: body.id, file_name: 'März 2026.csv', row: 3, created_at: body.created_at },
  })
  const { source } = await activityOf('form@there.example')
  assert.equal([source.import_id, source.file_name, source.row], [formReply.body.id, 'from a form.csv', 2])
  assert.is((await activityOf('own@there.example')).source, null)
  const tooLong = await upload(id, 'email\n', { query: `?file_name=${'x'.repeat(256)}` })
  assertRefusal(tooLong, { status: 422, name: 'validation_error', path: 'file_name' })
})

test('a segment is exported by itself', async () => {
  const id = await newAudience()
  await upload(id, 'email,plan\nann@there.example,pro\nbob@there.example,free\n')
  const filters = [{ field: 'properties.plan', op: 'eq', value: 'Free' }]
  const { body } = await mailhorn.call('POST', `/audiences/${id}/segments`, {
    session,
    body: { name: 'x', filters },
  })
  assert.is(
    (await get(`/audiences/${id}/contacts/export?segment_id=${body.id}`)).body,
    'email,first_name,last_name,unsubscribed,plan\r\nbob@there.example,,,false,free\r\n',
  )
  const other = await newAudience()
  const missing = await get(`/audiences/${other}/contacts/export?segment_id=${body.id}`)
  assertRefusal(missing, { status: 404, name: 'not_found' })
})

test('contacts that are there can be left alone', async () => {
  const id = await newAudience()
  const file = (name: string) => `email,first_name\nann@there.example,${name}\n`
  await upload(id, file('Ann'))
  assert.is((await upload(id, file('Other'), { query: '?on_existing=skip' })).body.skipped, 1)
  assert.is((await upload(id, file('Other'))).body.updated, 1)
  const wrong = await upload(id, file('x'), { query: '?on_existing=replace' })
  assertRefusal(wrong, { status: 422, name: 'validation_error', path: 'on_existing' })
})

test('what is no CSV of contacts is refused, and nothing is changed', async () => {
  const id = await newAudience()
  const before = contentsOf(mailhorn)
  const noCsv = { status: 415, name: 'validation_error' }
  assertRefusal(await upload(id, 'email\n', { type: 'application/json' }), noCsv)
  assertRefusal(await upload(id, 'email\n', { type: 'multipart/form-data; boundary=x' }), noCsv)
  const invalid = (path: string) => ({ status: 422, name: 'validation_error', path })
  assertRefusal(await upload(id, 'name\nAnn\n'), invalid('email'))
  assertRefusal(await upload(id, ''), invalid('header'))
  assertRefusal(await upload(id, 'email\n', { type: 'text/csv; charset=klingon' }), invalid('charset'))
  assert.equal(contentsOf(mailhorn), before)
})

test('a client that leaves in the middle leaves whole rows, and finds out how far it came', async () => {
  const id = await newAudience()
  const client = httpRequest(`${mailhorn.baseUrl}/audiences/${id}/contacts/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'text/csv', 'content-length': '100000' },
  })
  client.on('error', () => {}) // it leaves
  client.write(`email\n${Array.from({ length: 450 }, (_, i) => `c${i}@there.example\n`).join('')}half@there`)
  const report = async () => (await get(`/audiences/${id}/imports`)).body.data[0]
  const running = await until(async () => ((await report())?.created >= 200 ? report() : undefined))
  assert.is(running.status, 'running')
  client.destroy()
  const ended = await until(async () => ((await report()).status === 'running' ? undefined : report()))
  assert.equal([ended.status, ended.rows, ended.created], ['interrupted', 450, 450])
  assert.is((await get(`/audiences/${id}`)).body.contact_count, 450)
})

test('a client that sends nothing any more is let go', async () => {
  const id = await newAudience()
  const client = httpRequest(`${mailhorn.baseUrl}/audiences/${id}/contacts/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${session}`, 'content-type': 'text/csv' },
  })
  let status: number | undefined
  client.on('error', () => {})
  client.on('response', response => {
    status = response.resume().statusCode
  })
  client.write('email\nann@there.example\nhalf')
  await until(async () => ((await get(`/audiences/${id}/imports`)).body.total === 1 ? true : undefined))
  const report = async () => (await get(`/audiences/${id}/imports`)).body.data[0]
  const ended = await until(async () => {
    mailhorn.clock.advance(2_000)
    return (await report()).status === 'running' ? undefined : report()
  })
  assert.equal([status, ended.status, ended.created], [408, 'interrupted', 1])
})

test('columns that may say who has left are asked about, and the answers are taken', async () => {
  const id = await newAudience()
  const file = 'email,statuscode\nann@there.example,1\nbob@there.example,2\n'
  const requests = await upload(id, file)
  assertRefusal(requests, { status: 422, name: 'validation_error', path: 'statuscode' })
  assert.match(requests.body.message, '`1` in row 2, `2` in row 3')
  assert.equal(requests.body.questions, [
    {
      column: 'statuscode',
      values: [
        { value: '1', row: 2, email: 'ann@there.example' },
        { value: '2', row: 3, email: 'bob@there.example' },
      ],
    },
  ])
  assert.is((await get(`/audiences/${id}/imports`)).body.total, 0)
  assert.equal(readdirSync(join(mailhorn.dataDir, 'blobs', 'drafts')), [])
  const answered = (meanings: unknown) =>
    upload(id, file, { query: `?column_meanings=${encodeURIComponent(JSON.stringify(meanings))}` })
  const wrong = { status: 422, name: 'validation_error', path: 'column_meanings' } as const
  for (const meanings of [7, [], { statuscode: 'left' }, { statuscode: { 1: 'yes' } }, { other: 'property' }])
    assertRefusal(await answered(meanings), wrong)
  assertRefusal(await upload(id, file, { query: '?column_meanings=x' }), wrong)
  assert.is((await answered({ statuscode: { 1: 'subscribed', 2: 'unsubscribed' } })).body.created, 2)
  const contacts = (await get(`/audiences/${id}/contacts`)).body.data
  assert.equal(
    contacts
      .map((contact: { email: string; unsubscribed: boolean }) => [contact.email, contact.unsubscribed])
      .sort(),
    [
      ['ann@there.example', false],
      ['bob@there.example', true],
    ],
  )
})

test('a form is asked about the same columns, and answers in a field', async () => {
  const id = await newAudience()
  const part = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const send = (...fields: string[]) =>
    mailhorn.call('POST', '/contacts/imports', {
      session,
      raw: `${part('file', 'email,enabled\nann@there.example,0\nbob@there.example,1\n')}${part('segments', JSON.stringify([{ id }]))}${fields.join('')}--b--`,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    })
  const requests = await send()
  assertRefusal(requests, { status: 422, name: 'validation_error', path: 'enabled' })
  assert.is(requests.body.questions[0].values[0].value, '0')
  assert.is((await get(`/audiences/${id}`)).body.contact_count, 0)
  const meanings = part(
    'column_meanings',
    JSON.stringify({ enabled: { 0: 'unsubscribed', '*': 'subscribed' } }),
  )
  assert.is((await send(meanings)).body.counts.created, 2)
  assert.is((await get(`/audiences/${id}/contacts?q=ann`)).body.data[0].unsubscribed, true)
})

test('imports and exports of another account are not there', async () => {
  const id = await newAudience()
  const { session: theirs } = addAccount(mailhorn, 'stranger')
  const raw = 'email\nann@there.example\n'
  const options = { session: theirs, raw, headers: { 'content-type': 'text/csv' } }
  const missing = { status: 404, name: 'not_found' }
  assertRefusal(await mailhorn.call('POST', `/audiences/${id}/contacts/import`, options), missing)
  for (const path of ['contacts/export', 'imports'])
    assertRefusal(await mailhorn.call('GET', `/audiences/${id}/${path}`, { session: theirs }), missing)
  assert.is((await get(`/audiences/${id}`)).body.contact_count, 0)
})

test('a form that is none, or lacks its file, changes nothing and leaves nothing behind', async () => {
  const id = await newAudience()
  const { session: theirs } = addAccount(mailhorn, 'another stranger')
  const head = (name: string, file = '') =>
    `--b\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`
  const file = `${head('file', '; filename="x.csv"')}email\nann@there.example\n\r\n`
  const send = (raw: string, type = 'multipart/form-data; boundary=b', as = session) =>
    mailhorn.call('POST', '/contacts/imports', { session: as, raw, headers: { 'content-type': type } })
  const field = (name: string, value: string) => `${file}${head(name)}${value}\r\n--b--`
  const before = contentsOf(mailhorn)
  assertRefusal(await send('email\n', 'text/csv'), { status: 415, name: 'validation_error' })
  for (const broken of ['', 'email\n', file, `--b\r\n\r\n\r\n--b--`])
    assertRefusal(await send(broken), { status: 400, name: 'validation_error' })
  const missing = { status: 422, name: 'missing_required_field', path: 'file' } as const
  assertRefusal(await send(`${head('segments')}[]\r\n--b--`), missing)
  const invalid = (path: string) => ({ status: 422, name: 'validation_error', path }) as const
  assertRefusal(await send(`${file}${file}--b--`), invalid('file'))
  assertRefusal(await send(field('column_map', '{')), invalid('column_map'))
  assertRefusal(await send(field('column_map', '{"properties":{"a":{"column":7}}}')), invalid('column_map'))
  assertRefusal(await send(field('column_map', 'x'.repeat(300_000))), invalid('column_map'))
  const foreign = field('segments', JSON.stringify([{ id }]))
  assertRefusal(await send(foreign, undefined, theirs), invalid('segments[0].id'))
  const withHeader = (header: string) => `${head('file', '; filename="x.csv"')}${header}\n\r\n--b--`
  const everything = Array.from({ length: 600 }, (_, i) => `key_${i}`)
  for (const header of ['', 'name,age', 'email,email', `email,${everything.join(',')}`])
    assertRefusal(await send(withHeader(header), undefined, theirs), {
      status: 422,
      name: 'validation_error',
    })
  assert.equal(contentsOf(mailhorn), before)
  assert.equal(readdirSync(join(mailhorn.dataDir, 'blobs', 'drafts')), [])
  assert.is((await send(foreign)).body.counts.created, 1)
  assert.is((await send(withHeader('email'), undefined, theirs)).status, 201)
  assert.equal(readdirSync(join(mailhorn.dataDir, 'blobs', 'drafts')), [])
})

test.run()
