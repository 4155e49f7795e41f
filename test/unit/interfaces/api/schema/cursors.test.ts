import * as assert from 'uvu/assert'
import type { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { readEmailPage } from '../../../../../src/interfaces/api/emails/list-query.ts'
import { cutIdPage, readIdPage } from '../../../../../src/interfaces/api/pages/id-page.ts'
import { readCursorPage } from '../../../../../src/interfaces/api/schema/cursor.ts'
import { wireId } from '../../../../../src/lib/ids.ts'
import { newId } from '../../../../kit/new-id.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('schema/cursors')
const id = newId(1)
const eml = wireId('eml', id)
const LISTED = { prefixes: ['eml'], what: 'an email', name: 'Email', fallback: 7 } as const

/** The result, or the field that is at fault. */
function read<T>(reader: (query: URLSearchParams) => T, query: string): T | string {
  try {
    return reader(new URLSearchParams(query))
  } catch (error) {
    return `fault in ${(error as ApiError).errors![0]!.path}`
  }
}

const first = { limit: 20, offset: 0 }
for (const [query, page, emails] of [
  ['', { ...first, cursor: null }, { ...first, after: undefined, before: undefined }],
  [`after=${eml}`, { ...first, cursor: { id, side: 'older' } }, { ...first, after: id, before: undefined }],
  [`before=${eml}`, { ...first, cursor: { id, side: 'newer' } }, { ...first, after: undefined, before: id }],
  [`after=${eml}&before=${eml}`, 'fault in after', 'fault in before'],
  [`after=${eml}&offset=0`, 'fault in after', 'fault in after'],
  [`before=${eml}&offset=0`, 'fault in before', 'fault in before'],
  ['after=eml_1', 'fault in after', 'fault in after'],
  [
    'offset=5&limit=100',
    { limit: 100, offset: 5, cursor: null },
    { limit: 100, offset: 5, after: undefined, before: undefined },
  ],
  ['limit=101', 'fault in limit', 'fault in limit'],
  ['limit=0', 'fault in limit', 'fault in limit'],
] as const)
  test(`the page of ?${query.replaceAll(eml, 'eml_…')}`, () => {
    assert.equal(
      read(given => readCursorPage(given, 'eml', 'an email'), query),
      page,
    )
    assert.equal(read(readEmailPage, query), emails)
  })

for (const [query, expected] of [
  ['', { limit: 7, after: undefined, before: undefined }],
  [`after=${eml}&limit=100`, { limit: 100, after: id, before: undefined }],
  [`before=${eml}&limit=1`, { limit: 1, after: undefined, before: id }],
  [`after=${eml}&before=${eml}`, 'fault in before'],
  ['limit=101', 'fault in limit'],
  ['limit=0', 'fault in limit'],
  ['before=con_1', 'fault in before'],
] as const)
  test(`the page by ids of ?${query.replaceAll(eml, 'eml_…')}`, () => {
    assert.equal(
      read(given => readIdPage(given, LISTED), query),
      expected,
    )
  })

const ids = Array.from({ length: 5 }, () => newId(1))
const rows = ids.map(one => ({ id: wireId('eml', one) }))
for (const [limit, after, before, expected, hasMore] of [
  [2, undefined, undefined, [0, 1], true],
  [4, undefined, undefined, [0, 1, 2, 3], true],
  [5, undefined, undefined, [0, 1, 2, 3, 4], false],
  [2, 1, undefined, [2, 3], true],
  [2, 2, undefined, [3, 4], false],
  [2, 4, undefined, [], false],
  [2, undefined, 3, [1, 2], true],
  [2, undefined, 2, [0, 1], false],
  [2, undefined, 1, [0], false],
  [2, undefined, 0, [], false],
] as const)
  test(`${limit} of five rows after ${after}, before ${before}: ${expected}${hasMore ? ' and more' : ''}`, () => {
    const page = {
      limit,
      after: after === undefined ? undefined : ids[after],
      before: before === undefined ? undefined : ids[before],
    }
    assert.equal(cutIdPage(rows, page, LISTED), { total: 5, rows: expected.map(at => rows[at]!), hasMore })
  })

test('a page after an id that is not in the list is not found', () => {
  try {
    cutIdPage(rows, { limit: 1, after: newId(1), before: undefined }, LISTED)
    assert.unreachable()
  } catch (error) {
    assert.equal([(error as ApiError).status, (error as ApiError).message], [404, 'Email not found'])
  }
})

test.run()
