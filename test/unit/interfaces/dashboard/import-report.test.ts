import * as assert from 'uvu/assert'
import {
  groupsOf,
  rejectedCsv,
  splitNotes,
} from '../../../../src/interfaces/dashboard/web/labels/import-report.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: import report')
const row = (number: number, message: string, email: string | null = null) => ({
  row: number,
  email,
  message,
})
const BROKEN = 'A line break in the cell `NOTES` was replaced by a space.'

test('rows with the same message are counted, and single ones stand as they are', () => {
  const rows = [
    row(2, 'The address has no "@".'),
    row(3, BROKEN),
    row(4, BROKEN),
    row(5, 'The address has no "@".'),
    row(6, BROKEN),
    row(7, 'The cell `age` must be a number.'),
  ]
  assert.equal(
    groupsOf(rows).map(({ text }) => text),
    [
      '3 line breaks in NOTES were replaced by spaces.',
      '2 × The address has no "@".',
      'The cell age must be a number.',
    ],
  )
})

test('how many contacts were imported as unsubscribed stands apart', () => {
  const left = row(1, '12 contacts were imported as unsubscribed: 12 by the column `UNSUB_TIME`.')
  assert.equal(splitNotes([row(3, BROKEN), left]), {
    left: '12 contacts were imported as unsubscribed: 12 by the column UNSUB_TIME.',
    others: [row(3, BROKEN)],
  })
})

test('rejected rows are CSV that no spreadsheet runs', () => {
  assert.is(
    rejectedCsv([row(4, 'It has no "@".', '=cmd()')]),
    'row,email,reason\r\n4,"\'=cmd()","It has no ""@""."\r\n',
  )
})

test.run()
