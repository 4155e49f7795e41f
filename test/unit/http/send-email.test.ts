import * as assert from 'uvu/assert'
import { Refused } from '../../../src/http/refused.ts'
import { readSendEmail } from '../../../src/http/wire/send-email.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('http: a request to send')
const GOOD = { from: 'Ann <ann@here.example>', to: 'bob@there.example', subject: 'hi', text: 'hello' }

function contentOf(content: string): string | undefined {
  try {
    const [attachment] = readSendEmail({ ...GOOD, attachments: [{ content }] }).attachments
    return Buffer.from(attachment!.content).toString('latin1')
  } catch (error) {
    if (error instanceof Refused && error.errorName === 'invalid_attachment') return undefined
    throw error
  }
}

for (const [text, bytes] of [
  ['', ''],
  ['YQ==', 'a'],
  ['YQ', 'a'],
  ['YWI=', 'ab'],
  ['YWI', 'ab'],
  ['YWJj', 'abc'],
  ['YWJjZA==', 'abcd'],
  ['+/+/', '\xfb\xff\xbf'],
  ['-_-_', '\xfb\xff\xbf'],
  ['YW\r\nJj\r\n', 'abc'],
  ['\tY W J j ', 'abc'],
] as const)
  test(`${JSON.stringify(text)} is base64 of ${JSON.stringify(bytes)}`, () => {
    assert.is(contentOf(text), bytes)
  })

for (const text of [
  'Y',
  'YWJjZ',
  '=',
  '==',
  '===',
  '====',
  'Y=',
  'Y==',
  'YQ=',
  'YQ===',
  'YWI==',
  'YWJj=',
  'YWJj====',
  'Y=Q=',
  '=YQ=',
  'YQ==YQ==',
  'YWJ*',
  'YWJj!',
  'YWJ.',
  'YW\0I=',
  'YWI＝',
  'é',
  'data:text/plain;base64',
  'hello world!',
])
  test(`${JSON.stringify(text)} is no base64`, () => {
    assert.is(contentOf(text), undefined)
  })

test('becomes a submission with every field in its place', () => {
  const submission = readSendEmail({
    ...GOOD,
    cc: ['C <c@there.example>'],
    bcc: 'd@there.example',
    replyTo: 'r@here.example',
    html: '<p>hello</p>',
    headers: { 'X-A': 'b' },
    tags: [{ name: 'a' }],
    attachments: [{ filename: 'a.txt', content: 'YQ==', contentId: '<a>' }],
  })
  assert.equal(submission.from, { name: 'Ann', address: 'ann@here.example', domain: 'here.example' })
  assert.equal(
    [submission.to, submission.cc, submission.bcc, submission.replyTo].map(([mailbox]) => mailbox?.address),
    ['bob@there.example', 'c@there.example', 'd@there.example', 'r@here.example'],
  )
  assert.equal([submission.subject, submission.html, submission.text], ['hi', '<p>hello</p>', 'hello'])
  assert.equal([submission.headers, submission.messageId], [[['X-A', 'b']], null])
  assert.equal(submission.tags, [{ name: 'a' }])
  const [attachment] = submission.attachments
  assert.equal(
    [attachment?.filename, attachment?.contentType, attachment?.contentId],
    ['a.txt', 'text/plain', 'a'],
  )
})

test('an empty html is an html', () => {
  assert.is(readSendEmail({ ...GOOD, text: undefined, html: '' }).html, '')
})

test('file names are derived from their place', () => {
  const { attachments } = readSendEmail({
    ...GOOD,
    attachments: [{ content: '' }, { content: '', filename: '' }],
  })
  assert.equal(
    attachments.map(({ filename }) => filename),
    ['attachment-1', 'attachment-2'],
  )
})

test.run()
