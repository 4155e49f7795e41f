import * as assert from 'uvu/assert'
import { CSV_HEADER, emailCsv } from '../../../../../src/interfaces/api/emails/csv.ts'
import type { ListedEmail } from '../../../../../src/resources/search/list.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http/wire/email-csv')
const EMAIL: ListedEmail = {
  id: Buffer.from('0199000000007000800000000000000a', 'hex'),
  sender: '[{"name":"Ann","address":"ann@here.test"}]',
  toList: '[{"address":"bob@there.test"}]',
  ccList: null,
  bccList: null,
  replyToList: null,
  subject: 'Hello',
  messageId: '<1@here.test>',
  status: 'delivered',
  error: null,
  openCount: 1,
  clickCount: 0,
  broadcastId: null,
  topicId: null,
  scheduledAt: null,
  createdAt: 0,
  lastEventAt: 1,
}

/** Reads CSV by the rules of RFC 4180, on its own. */
function cellsOf(line: string): string[] {
  const cells = line.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(?:,|\r\n$)/gy)
  return [...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain!)
}

const cell = (over: Partial<ListedEmail>, column: string) => {
  const line = emailCsv([{ ...EMAIL, ...over }])
  const cells = cellsOf(line)
  const columns = cellsOf(CSV_HEADER)
  assert.is(cells.length, columns.length, line)
  return cells[columns.indexOf(column)]
}

test('CSV export: a line has the fields of the list, and the error', () => {
  assert.is(
    CSV_HEADER + emailCsv([EMAIL]),
    'id,from,to,cc,bcc,reply_to,subject,message_id,status,last_event,error,open_count,click_count,broadcast_id,' +
      'topic_id,scheduled_at,created_at,last_event_at\r\n' +
      'eml_01990000-0000-7000-8000-00000000000a,Ann <ann@here.test>,bob@there.test,,,,Hello,<1@here.test>,' +
      'delivered,delivered,,1,0,,,,1970-01-01T00:00:00.000Z,1970-01-01T00:00:00.001Z\r\n',
  )
})

const TEXTS = [
  'a,b',
  'say "hi"',
  '"',
  '","',
  'two\r\nlines',
  'a\nb',
  '',
  ' ',
  'é😀',
  ';',
  "it's",
  'a\0b',
  '\u2028',
]
for (const subject of TEXTS)
  test(`CSV export: ${JSON.stringify(subject)} is restored by a parser`, () => {
    assert.is(cell({ subject }, 'subject'), subject)
    assert.is(cell({ error: subject }, 'error'), subject)
  })

const FORMULAS = [
  '=1+1',
  '+1',
  '-1',
  '@SUM(A1)',
  ' =1',
  '\t=1',
  '\r=1',
  '\n=1',
  '\u00a0=1',
  '\ufeff=1',
  '＝1',
  '＋1',
  '－1',
  '＠1',
  "=cmd|' /C calc'!A0",
  '"=1',
]
for (const subject of FORMULAS)
  test(`CSV export: ${JSON.stringify(subject)} is not a formula`, () => {
    const shown = cell({ subject }, 'subject')!
    assert.ok(shown === `'${subject}` || (shown === subject && subject.startsWith('"')))
  })

test('CSV export: display names are not formulas', () => {
  const list = '[{"name":"=HYPERLINK(1)","address":"a@there.test"},{"address":"b@there.test"}]'
  for (const [key, column] of [
    ['sender', 'from'],
    ['toList', 'to'],
    ['ccList', 'cc'],
    ['bccList', 'bcc'],
    ['replyToList', 'reply_to'],
  ] as const)
    assert.match(cell({ [key]: list }, column)!, /^(?:'=|")/)
})

test('CSV export: several addresses share a cell', () => {
  const toList = '[{"name":"B, C","address":"b@there.test"},{"address":"c@there.test"}]'
  assert.is(cell({ toList }, 'to'), '"B, C" <b@there.test>, c@there.test')
})

test.run()
