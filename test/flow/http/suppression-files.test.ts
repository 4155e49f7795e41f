import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type CallOptions, type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertRefusal } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('files of suppressions')
const AT = '2025-03-01T10:00:00.000Z'

let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

let accounts = 0
/** An account with nothing on its list. */
function fresh() {
  const account = addAccount(mailhorn, `files-${++accounts}`)
  const call = (method: string, path: string, options: CallOptions = {}) =>
    mailhorn.call(method, path, { key: account.apiKey, ...options })
  const importCsv = (raw: string, type = 'text/csv') =>
    call('POST', '/suppressions/import', { raw, headers: { 'content-type': type } })
  const importJson = (data: unknown) => call('POST', '/suppressions/import', { body: { data } })
  const exported = async (query = '') => (await call('GET', `/suppressions/export.json${query}`)).body.data
  return { ...account, call, importCsv, importJson, exported }
}

const ENTRIES = [
  { email: 'ann@there.example', reason: 'complaint', created_at: AT },
  { email: 'bob@there.example', reason: 'bounce', created_at: AT },
  { email: "o'hara+news@there.example", reason: 'manual', created_at: AT },
]

test('JSON is imported with reasons and times, and exported again', async () => {
  const { call, exported, importJson } = fresh()
  const { status, body } = await importJson(ENTRIES.toReversed())
  assert.is(status, 200)
  assert.equal(body, { object: 'suppression_import', rows: 3, added: 3, existing: 0, failed: 0, errors: [] })
  assert.equal(await exported(), ENTRIES)
  assert.equal(await exported('?reason=bounce'), [ENTRIES[1]])
  assert.equal(await exported('?origin=complaint'), [ENTRIES[0]])
  const { body: list } = await call('GET', '/suppressions')
  assert.is(list.total, 3)
})

test('an export is a file that is imported as it is, as CSV and as JSON', async () => {
  const { call, importJson } = fresh()
  await importJson([...ENTRIES, { email: '+plus@there.example', reason: 'bounce', created_at: AT }])
  const csv = await call('GET', '/suppressions/export')
  assert.equal(
    ['content-type', 'content-disposition', 'x-content-type-options', 'cache-control'].map(name =>
      csv.headers.get(name),
    ),
    [
      'text/csv; charset=utf-8; header=present',
      'attachment; filename="suppressions.csv"',
      'nosniff',
      'no-store',
    ],
  )
  assert.match(
    csv.body,
    /^email,reason,created_at\r\n'\+plus@there\.example,bounce,2025-03-01T10:00:00\.000Z\r\n/,
  )
  const json = await call('GET', '/suppressions/export.json')
  const [byCsv, byJson] = [fresh(), fresh()]
  assert.is((await byCsv.importCsv(csv.body)).body.added, 4)
  assert.is((await byJson.call('POST', '/suppressions/import', { body: json.body })).body.added, 4)
  assert.equal(await byCsv.exported(), json.body.data)
  assert.equal(await byJson.exported(), json.body.data)
})

test('an empty list is exported as an empty file', async () => {
  const { call } = fresh()
  assert.is((await call('GET', '/suppressions/export')).body, 'email,reason,created_at\r\n')
  assert.equal((await call('GET', '/suppressions/export.json')).body, { object: 'list', data: [] })
})

test('CSV of other services is understood: names, words of reasons, seconds, and a plain list', async () => {
  const { exported, importCsv } = fresh()
  await importCsv(
    '"Email Address";Suppression Reason;Created\nAnn@There.example;HardBounce;1740823200\nx@there.example;SpamComplaint;\n',
  )
  const [ann, x] = await exported()
  assert.equal(
    [ann, x.reason],
    [{ email: 'ann@there.example', reason: 'bounce', created_at: AT }, 'complaint'],
  )
  const { body } = await importCsv('y@there.example\nz@there.example\n')
  assert.is(body.added, 2)
  assert.is((await exported()).length, 4)
})

test('reasons in capitals and times with an offset are read, as Amazon SES writes them', async () => {
  const { exported, importJson } = fresh()
  const email = 'ann@there.example'
  await importJson([{ email, reason: 'BOUNCE', created_at: '2025-03-01T12:00:00.123000+02:00' }])
  assert.equal(await exported(), [{ email, reason: 'bounce', created_at: '2025-03-01T10:00:00.123Z' }])
})

test('an address that is suppressed already keeps its entry, and a second one in a file is not added', async () => {
  const { call, exported, importJson } = fresh()
  await call('POST', '/suppressions', { body: { email: 'ann@there.example' } })
  const { body } = await importJson([ENTRIES[0], ENTRIES[1], ENTRIES[1]])
  assert.equal([body.added, body.existing], [1, 2])
  assert.is((await exported())[0].reason, 'manual')
})

test('entries that are wrong are named, and the others are imported', async () => {
  const { importCsv, importJson } = fresh()
  const json = await importJson([
    { email: 'ann@' },
    { email: '*@there.example' },
    { email: 7 },
    { email: 'a@there.example', reason: 'boredom' },
    { email: 'b@there.example', created_at: 'yesterday' },
    { email: 'c@there.example', created_at: '2999-01-01T00:00:00Z' },
    { email: 'good@there.example' },
  ])
  assert.equal([json.body.rows, json.body.added, json.body.failed], [7, 1, 6])
  assert.equal(
    json.body.errors.map(({ row, message }: { row: number; message: string }) => [
      row,
      /[^.]*/.exec(message)![0].slice(0, 40),
    ]),
    [
      [1, 'The address has an invalid domain'],
      [2, 'The address must be one address: a suppr'],
      [3, '`email` must be an address'],
      [4, '`reason` must be one of manual, bounce, '],
      [5, '`created_at` must be a time in ISO 8601,'],
      [6, '`created_at` must be a time in ISO 8601,'],
    ],
  )
  const csv = await importCsv('email,reason\nann@,\nok@there.example,bounce\n')
  assert.equal([csv.body.added, csv.body.errors[0].row, csv.body.errors[0].email], [1, 2, 'ann@'])
})

test('5,000 entries are imported and exported in one request each', async () => {
  const { exported, importCsv } = fresh()
  const lines = Array.from({ length: 5_000 }, (_, i) => `gone${i}@there.example,bounce,${AT}`)
  const { body } = await importCsv(`email,reason,created_at\n${lines.join('\n')}\n`)
  assert.is(body.added, 5_000)
  const entries: { email: string }[] = await exported()
  assert.is(new Set(entries.map(({ email }) => email)).size, 5_000)
})

test('a body that is no such file is refused', async () => {
  const { apiKey, call, importCsv } = fresh()
  const invalid = { status: 422, name: 'validation_error' }
  assertRefusal(await importCsv('email\n"open@there.example'), invalid)
  assertRefusal(await call('POST', '/suppressions/import', { body: { data: 'x' } }), invalid)
  assertRefusal(await importCsv('email\n', 'text/plain'), { status: 415, name: 'validation_error' })
  assertRefusal(await call('GET', '/suppressions/export?reason=x', { key: apiKey }), invalid)
})

test('nothing of another account is exported', async () => {
  const { importJson } = fresh()
  await importJson(ENTRIES)
  assert.equal(await fresh().exported(), [])
})

test.run()
