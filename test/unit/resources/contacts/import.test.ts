import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { contactsHeader, exportContacts } from '../../../../src/resources/contacts/export.ts'
import { ImportFault } from '../../../../src/resources/contacts/import/fault.ts'
import { readProperties } from '../../../../src/resources/contacts/properties.ts'
import { listPropertyKeys } from '../../../../src/resources/contacts/property-keys.ts'
import type { ContactImportRow, ContactRow, Db } from '../../../../src/store/model/schema.ts'
import { openAudience } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('contacts/import')

const countsOf = (report: ContactImportRow | undefined) => {
  const { state, rowCount, createdCount, updatedCount, unchangedCount, skippedCount, failedCount } = report!
  return [state, rowCount, [createdCount, updatedCount, unchangedCount, skippedCount, failedCount]]
}
const errorsOf = (report: ContactImportRow | undefined) =>
  (JSON.parse(report!.errors) as { row: number; message: string }[]).map(({ row, message }) => [row, message])
const shown = ({ email, firstName, lastName, unsubscribed, properties }: ContactRow) => [
  ...[email, firstName, lastName, unsubscribed],
  Object.fromEntries(readProperties(properties)),
]

/** @returns what the file is refused for */
async function faultOf(importing: Promise<unknown>): Promise<ImportFault> {
  const error = await importing.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.instance(error, ImportFault)
  return error as ImportFault
}

test('import: columns become fields and properties by name', async t => {
  const { importFile, contacts, audienceId, audienceOf } = await openAudience(t)
  const report = await importFile(
    'Email,First Name,last-name,Unsubscribed,Company,City\r\n' +
      'Ann@There.test,Ann,Årup,no,"Ann, ""the"" Co.",\r\n' +
      ' bob@there.test ,,,YES,,Aarhus\r\n',
  )
  assert.equal(countsOf(report), ['done', 2, [2, 0, 0, 0, 0]])
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', 'Ann', 'Årup', 0, { Company: 'Ann, "the" Co.' }],
    ['bob@there.test', null, null, 1, { City: 'Aarhus' }],
  ])
  const { contactCount, unsubscribedCount } = await audienceOf(audienceId)
  assert.equal([contactCount, unsubscribedCount], [2, 1])
})

test('import: failed rows are reported by number, the others are imported', async t => {
  const { importFile, contacts } = await openAudience(t)
  const report = await importFile(
    [
      'email,first_name,unsubscribed,plan',
      'ann@there.test,Ann,,pro',
      'nobody,,,',
      ',Kim,,',
      '',
      '"two\r\nlines@there.test",,,',
      'bob@there.test,"B\nob",,',
      'cid@there.test,,perhaps,',
      'dan@there.test,,,x,too many',
      `eva@there.test,,,${'x'.repeat(501)}`,
      'fay@there.test,\ufffd,,',
      'gil@there.test,Gil,false,free',
    ].join('\r\n'),
  )
  assert.equal(countsOf(report), ['done', 10, [4, 0, 0, 0, 6]])
  assert.equal(
    errorsOf(report).map(([row, message]) => [row, String(message).split(/[,.]/)[0]]),
    [
      [3, 'The address has no "@"'],
      [4, 'The cell `email` must not be empty'],
      [6, 'The address has a local part that is not a dot-atom'],
      [8, 'The cell `unsubscribed` must be true or false'],
      [10, 'The cell `plan` must contain at most 500 characters; got 501'],
      [
        11,
        'The cell `first_name` must be valid in the charset of the file (UTF-8 unless the content type sets another)',
      ],
      [7, 'A line break in the cell `first_name` was replaced by a space'],
      [9, 'Cells beyond the 4 of the header row were ignored'],
    ],
  )
  assert.equal(
    (await contacts()).map(({ email }) => email),
    ['ann@there.test', 'bob@there.test', 'dan@there.test', 'gil@there.test'],
  )
  assert.is((await contacts())[1]!.firstName, 'B ob')
})

test('import: a status that is not understood is asked about before the first row is stored', async t => {
  const { importFile, contacts, rows } = await openAudience(t)
  const fault = await faultOf(importFile('email,Status\nann@there.test,unsubscribed\nbob@there.test,VIP\n'))
  assert.is(fault.part, 'Status')
  assert.match(fault.message, 'The column `Status` may say who has left: it has `VIP` in row 3')
  assert.equal([await contacts(), rows('select * from contact_imports')], [[], []])
})

test('import: the tags of a contact who has left are kept', async t => {
  const { importFile, contacts } = await openAudience(t)
  await importFile('email,Tags\nann@there.test,"VIP, Unsubscribed"\n')
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', null, null, 1, { Tags: 'VIP, Unsubscribed' }],
  ])
})

test('import: with a column map, a column that may say who has left is no property', async t => {
  const { importFile, contacts } = await openAudience(t)
  const columnMap = { fields: new Map([['email', 'email'] as const]), properties: new Map() }
  await importFile('email,State,Tags\nann@there.test,NY,VIP\nbob@there.test,active,unsubscribed\n', {
    columnMap,
  })
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', null, null, 0, {}],
    ['bob@there.test', null, null, 1, {}],
  ])
})

test('import: other values of a column that may say who has left are a property', async t => {
  const { importFile, contacts, db, audienceId } = await openAudience(t)
  await importFile('email,Newsletter,State\nann@there.test,weekly,NY\nbob@there.test,no,active\n')
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', null, null, 0, { Newsletter: 'weekly', State: 'NY' }],
    ['bob@there.test', null, null, 1, {}],
  ])
  const keys = (await listPropertyKeys(db, audienceId)).map(({ key }) => key)
  assert.equal(keys.sort(), ['Newsletter', 'State'])
})

test('import: an address is read without brackets and characters that are not seen', async t => {
  const { importFile, contacts } = await openAudience(t)
  const cells = [
    '\u200bann@there.test\u200b',
    '<bob@there.test>',
    'mailto:kim@there.test',
    '\ufefflee@there.test',
    '\u2068ned@there.test\u2069',
    '\u200e<olga\u00ad@there.test>',
  ]
  const report = await importFile(`email\n${cells.join('\n')}\n`)
  assert.match(JSON.stringify(report), /Invisible characters in the cell `email` were removed: U\+200B\./)
  assert.equal(
    (await contacts()).map(({ email }) => email),
    ['ann', 'bob', 'kim', 'lee', 'ned', 'olga'].map(name => `${name}@there.test`),
  )
})

test('import: characters that are not seen stay where they belong to a name or to a domain, and blanks are refused by name', async t => {
  const { importFile, contacts } = await openAudience(t)
  const cells = ['ann@نامه\u200cای.example', 'مه\u200cسا <bob@there.test>', 'k\u00a0im@there.test']
  const report = await importFile(`email\n${cells.join('\n')}\n`)
  assert.not.match(JSON.stringify(report), /Invisible characters/)
  assert.match(JSON.stringify(report), /The address contains the invisible character U\+00A0\./)
  assert.equal(
    (await contacts()).map(({ email, firstName }) => [email, firstName]),
    [
      ['ann@xn--mgba3gch31f060k.example', null],
      ['bob@there.test', 'مه\u200cسا'],
    ],
  )
})

test('import: of several addresses the first one is imported, with a note', async t => {
  const { importFile, contacts } = await openAudience(t)
  const report = await importFile(
    'First Name,E-mail 1 - Value\nAnn,ann@there.test ::: bob@there.test\nKim,kim@there.test\n',
  )
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', 'Ann', null, 0, {}],
    ['kim@there.test', 'Kim', null, 0, {}],
  ])
  assert.equal(errorsOf(report), [[2, 'The cell `email` has several addresses. The first one was imported.']])
  assert.equal(countsOf(report), ['done', 2, [2, 0, 0, 0, 0]])
})

test('import: a column that says who has left never resubscribes', async t => {
  const { importFile, contacts } = await openAudience(t)
  await importFile('email,unsubscribed\nann@there.test,true\n')
  await importFile('email,Status,opt-in\nann@there.test,subscribed,true\n')
  await importFile('email,Status,Unsubscribed\nbob@there.test,unsubscribed,false\n')
  assert.equal(
    (await contacts()).map(({ unsubscribed }) => unsubscribed),
    [1, 1],
  )
})

test('import: all errors are counted, the first 100 are reported', async t => {
  const { importFile } = await openAudience(t)
  const report = await importFile(`email\n${'nobody\n'.repeat(1_000)}ann@there.test\n`)
  assert.equal(countsOf(report), ['done', 1_001, [1, 0, 0, 0, 1_000]])
  assert.equal(
    errorsOf(report).map(([row]) => row),
    Array.from({ length: 100 }, (_, i) => i + 2),
  )
})

test('import: existing contacts are updated', async t => {
  const { importFile, contacts, add, rows, listen } = await openAudience(t)
  await listen()
  await add({
    email: 'ann@there.test',
    firstName: 'Ann',
    properties: new Map([
      ['plan', 'pro'],
      ['seats', '3'],
    ]),
  })
  await add({ email: 'bob@there.test', firstName: 'Bob' })
  await add({ email: 'kim@there.test', unsubscribed: true })
  const file =
    'email,first_name,unsubscribed,plan\n' +
    'ANN@there.test,,false,free\nbob@there.test,Bob,,\nkim@there.test,,false,\nbob@there.test,,yes,\nnew@there.test,,,\nNEW@there.test,New,,\n'
  assert.equal(countsOf(await importFile(file)), ['done', 6, [1, 3, 2, 0, 0]])
  assert.equal((await contacts()).map(shown), [
    ['ann@there.test', 'Ann', null, 0, { plan: 'free', seats: '3' }],
    ['bob@there.test', 'Bob', null, 1, {}],
    ['kim@there.test', null, null, 1, {}],
    ['new@there.test', 'New', null, 0, {}],
  ])
  assert.equal(
    countsOf(await importFile(file)),
    ['done', 6, [0, 0, 6, 0, 0]],
    'the same again changes nothing',
  )
  const events = rows<{ type: string }>('select type from events').map(({ type }) => type)
  assert.equal(events.sort(), [...Array(4).fill('contact.created'), ...Array(2).fill('contact.updated')])
})

test('import: existing contacts are skipped on request', async t => {
  const { importFile, contacts, add } = await openAudience(t)
  await add({ email: 'ann@there.test', firstName: 'Ann' })
  const file = 'email,first_name\nann@there.test,Other\nbob@there.test,Bob\nbob@there.test,Twice\n'
  assert.equal(countsOf(await importFile(file, { onExisting: 'skip' })), ['done', 3, [1, 0, 0, 2, 0]])
  assert.equal(
    (await contacts()).map(({ firstName }) => firstName),
    ['Ann', 'Bob'],
  )
})

test('import: a file that is no CSV to its end is refused before the first row is stored', async t => {
  const { importFile, contacts, rows } = await openAudience(t)
  const good = Array.from({ length: 450 }, (_, i) => `c${i}@there.test,x\n`).join('')
  for (const rest of ['d@there.test,"never closed\n', `d@there.test,"${'x'.repeat(300_000)}\n`]) {
    const fault = await faultOf(importFile(`email,k\n${good}${rest}`))
    assert.is(fault.part, 'row 452')
  }
  assert.equal([await contacts(), rows('select * from contact_imports')], [[], []])
})

test('import: rows before invalid CSV are kept if no column has to be looked at first', async t => {
  const { importFile, contacts, rows } = await openAudience(t)
  const good = Array.from({ length: 450 }, (_, i) => `c${i}@there.test,x\n`).join('')
  for (const rest of ['d@there.test,"never closed\n', `d@there.test,"${'x'.repeat(300_000)}\n`]) {
    const fault = await faultOf(importFile(`email,first_name\n${good}${rest}`))
    assert.is(fault.part, 'row 452')
    assert.match(fault.message, /450 rows before it/)
  }
  assert.is((await contacts()).length, 450)
  const reports = rows<{ state: string; row_count: number }>('select state, row_count from contact_imports')
  assert.equal(
    reports.map(({ state, row_count: count }) => [state, Number(count)]),
    Array(2).fill(['failed', 450]),
  )
})

test('import: complete rows before a lost connection are kept', async t => {
  const { importFile, contacts, rows } = await openAudience(t)
  const cut = new Error('the client left')
  async function* bytes() {
    yield Buffer.from('email\n')
    for (let i = 0; i < 500; i++) yield Buffer.from(`c${i}@there.test\n`)
    yield Buffer.from('half@there.te')
    throw cut
  }
  assert.is(await importFile(bytes()).catch((error: unknown) => error), cut)
  assert.is((await contacts()).length, 500)
  const [report] = rows<{ state: string; created_count: number }>(
    'select state, created_count from contact_imports',
  )
  assert.equal([report!.state, Number(report!.created_count)], ['interrupted', 500])
})

test('import: reading follows storing, and stops when the audience is deleted', async t => {
  const { importFile, run, accountId, audienceId, rows, clock } = await openAudience(t)
  let input = 0
  async function* endless() {
    yield Buffer.from('email\n')
    for (;;) {
      if (input === 1_000) await run('deleteAudience', { accountId, id: audienceId, at: clock.now() })
      yield Buffer.from(`c${input++}@there.test\n`)
    }
  }
  assert.is(await importFile(endless()), undefined)
  assert.ok(input < 3_000, `${input} rows were read`)
  assert.is(rows<{ id: Id }>('select id from audiences').length, 0)
})

test('import: imports of a dead process become interrupted, and lose their reports later', async t => {
  const { run, accountId, audienceId, rows, change, clock } = await openAudience(t)
  const key = { accountId, audienceId, id: audienceId }
  await run('beginImport', { ...key, fileName: null, keys: [], at: clock.now() })
  const states = () => rows<{ state: string }>('select state from contact_imports').map(({ state }) => state)
  await run('endLostImports', { before: clock.now(), at: clock.now() })
  assert.equal(states(), ['running'])
  await run('endLostImports', { before: clock.now() + 1, at: clock.now() })
  assert.equal(states(), ['interrupted'])
  change(`update contact_imports set errors = '[{"row":2,"email":"ann@","message":"x"}]'`)
  const errors = () => rows<{ errors: string }>('select errors from contact_imports').map(row => row.errors)
  await run('forgetImportReports', { endedBefore: clock.now() })
  assert.not.equal(errors(), ['[]'])
  await run('forgetImportReports', { endedBefore: clock.now() + 1 })
  assert.equal([states(), errors()], [['interrupted'], ['[]']])
})

test('import: new contacts name the import and the first row that they came from', async t => {
  // given: bob is no contact of an import
  const { importFile, add, contacts, newAudience, run, accountId, clock } = await openAudience(t)
  await add({ email: 'bob@there.test' })

  // when
  const first = await importFile(
    'email,city\n\nann@there.test,Graz\nbob@there.test,Linz\nann@there.test,Wels\n',
    {
      fileName: 'readers.csv',
    },
  )
  await importFile('email,city\nann@there.test,Enns\n', { fileName: 'again.csv' })

  // then
  const [ann, bob] = await contacts()
  assert.is(first!.fileName, 'readers.csv')
  assert.equal([ann!.importId, ann!.importRow], [first!.id, 3])
  assert.equal([bob!.importId, bob!.importRow], [null, null])
  const other = await newAudience()
  await run('copyContact', {
    ...{ accountId, audienceId: other, id: newId(clock.now()), at: clock.now() },
    from: { audienceId: ann!.audienceId, id: ann!.id },
  })
  const [copy] = await contacts(other)
  assert.equal([copy!.importId, copy!.importRow], [first!.id, 3])
})

async function exported(db: Db, audienceId: Id): Promise<string> {
  const keys = (await listPropertyKeys(db, audienceId)).map(({ key }) => key)
  let csv = contactsHeader(keys)
  for (let after: Id | null = null; ; ) {
    const batch = await exportContacts(db, 0, { audienceId, filters: null, keys, after })
    csv += batch.csv
    if (batch.next === null) return csv
    after = batch.next
  }
}

/** Valid values, made of formulas, quotes, separators and the characters that guard against them. */
const text = fc
  .string({ unit: fc.constantFrom(...`abÅ€😀'"=+-@,;|\t .\ufeff\u00a0＝`), minLength: 1, maxLength: 12 })
  .filter(value => value.trim() !== '')
const name = text.map(value => value.trim())
const key = fc
  .oneof(
    fc.constantFrom('Email', 'First Name', "'=x", '=x', 'a,b'),
    text.map(value => `k${value}k`),
  )
  .filter(value => !/[\t|]/.test(value))
const person = fc.record({
  firstName: fc.option(name),
  lastName: fc.option(name),
  unsubscribed: fc.boolean(),
  properties: fc.dictionary(key, text, { maxKeys: 4 }),
})

test('import: limits of properties per audience and per contact apply', async t => {
  const { db, audienceId, newAudience, add, contacts, importFile } = await openAudience(t)
  const propertiesFrom = (first: number, count: number) =>
    new Map(Array.from({ length: count }, (_, n) => [`k${first + n}`, 'x']))
  for (let i = 0; i < 5; i++)
    await add({ email: `c${i}@there.test`, properties: propertiesFrom(i * 100, 100) })
  const file = await exported(db, audienceId)
  const copy = await newAudience()
  assert.equal(countsOf(await importFile(file, { audienceId: copy })), ['done', 5, [5, 0, 0, 0, 0]])
  assert.equal((await contacts(copy)).map(shown), (await contacts()).map(shown))

  const keys = [...propertiesFrom(0, 101).keys()]
  const full = `email,${keys}\nfull@there.test,${keys}\nc0@there.test,${','.repeat(99)},x\n`
  const report = await importFile(full, { audienceId: copy })
  assert.equal(countsOf(report), ['done', 2, [0, 0, 0, 0, 2]])
  assert.equal(errorsOf(report), [
    [2, 'A contact may have at most 100 properties.'],
    [3, 'A contact may have at most 100 properties.'],
  ])
  const other = await faultOf(importFile('email,other\nnew@there.test,y z\n', { audienceId: copy }))
  assert.match(other.message, /at most 500 different properties/)
})

test('import: an exported file restores the contacts', async t => {
  const { db, newAudience, add, contacts, importFile } = await openAudience(t)
  await fc.assert(
    fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 6 }), async people => {
      const [from, to] = [await newAudience(), await newAudience()]
      for (const [i, { properties, ...fields }] of people.entries())
        await add(
          { email: `+c${i}@there.test`, ...fields, properties: new Map(Object.entries(properties)) },
          from,
        )
      const file = await exported(db, from)
      assert.equal(countsOf(await importFile(file, { audienceId: to })).slice(0, 2), ['done', people.length])
      const sorted = (rows: ContactRow[]) =>
        rows.map(row => {
          const [email, first, last, gone, properties] = shown(row)
          return [email, first, last, gone, Object.entries(properties as object).sort()]
        })
      assert.equal(sorted(await contacts(to)), sorted(await contacts(from)), file)
    }),
    { numRuns: 30 },
  )
})

test.run()
