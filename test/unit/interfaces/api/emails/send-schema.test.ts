import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { readSendEmail } from '../../../../../src/interfaces/api/emails/send-schema.ts'
import { isRemote, type SubmittedAttachment } from '../../../../../src/pipeline/accept/submission.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: a request to send')
const GOOD = { from: 'Ann <ann@here.example>', to: 'bob@there.example', subject: 'hi', text: 'hello' }

function attachmentOf(input: object): SubmittedAttachment {
  const [attachment] = readSendEmail({ ...GOOD, attachments: [input] }).attachments
  if (isRemote(attachment!)) throw new Error('the attachment is to be fetched')
  return attachment!
}

function contentOf(content: unknown): string | undefined {
  try {
    return Buffer.from(attachmentOf({ content }).content).toString('latin1')
  } catch (error) {
    if (error instanceof ApiError && error.errorName === 'invalid_attachment') return undefined
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
  test(`${JSON.stringify(text)} is not base64`, () => {
    assert.is(contentOf(text), undefined)
  })

const BYTES = [0, 1, 127, 128, 255]
const BASE64 = Buffer.from(BYTES).toString('base64')
for (const [what, content] of Object.entries({
  'base64 text': BASE64,
  'a data URL': `data:image/png;base64,${BASE64}`,
  'a data URL with parameters': `data:text/plain;charset=utf-8;base64,${BASE64}`,
  'a data URL without a type': `data:;base64,${BASE64}`,
  'a data URL in capitals': `DATA:image/png;BASE64,${BASE64}`,
  'a list of integers': BYTES,
  'a Buffer as JSON puts it': Buffer.from(BYTES).toJSON(),
  'packed bytes': Uint8Array.from(BYTES),
  'packed bytes in a Buffer': { type: 'Buffer', data: Uint8Array.from(BYTES) },
}))
  test(`${what} is the bytes it stands for`, () => {
    assert.is(contentOf(content), Buffer.from(BYTES).toString('latin1'))
  })

for (const content of [Float64Array.of(1, 256), { type: 'Buffer', data: Float64Array.of(0.5) }])
  test(`arrays with values other than bytes are refused: ${JSON.stringify(content)}`, () => {
    assert.is(contentOf(content), undefined)
  })

for (const [input, content, type, bytes] of [
  ['text/plain', 'Hello, wörld!', 'text/plain; charset=utf-8', 'Hello, wörld!'],
  ['text/plain; charset=iso-8859-1', 'wörld', 'text/plain; charset=utf-8', 'wörld'],
  ['text/plain; CHARSET="x"; a=b', 'ö', 'text/plain; a=b; charset=utf-8', 'ö'],
  ['Text/Calendar; method=REQUEST', 'BEGIN:VCALENDAR', 'Text/Calendar; method=REQUEST; charset=utf-8', ''],
  ['text/plain', 'aGVsbG8=', 'text/plain', 'hello'],
  ['text/plain', '', 'text/plain', ''],
] as const)
  test(`${JSON.stringify(content)} as ${input} is ${type}`, () => {
    const attachment = attachmentOf({ content, content_type: input })
    assert.is(attachment.contentType, type)
    assert.is(Buffer.from(attachment.content).toString(), bytes || content)
  })

test('email body: every field is in the submission', () => {
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

test('attachment: a path is kept with name, type and content id', () => {
  const { attachments } = readSendEmail({
    ...GOOD,
    attachments: [
      { path: 'https://files.example/a.pdf' },
      { path: 'x', filename: 'b', content_type: 'text/plain', content_id: '<c>', content: null },
    ],
  })
  assert.equal(attachments, [
    { url: 'https://files.example/a.pdf', filename: null, contentType: null, contentId: null },
    { url: 'x', filename: 'b', contentType: 'text/plain', contentId: 'c' },
  ])
})

test('email body: an empty html or text beside the other is kept', () => {
  assert.equal(
    [readSendEmail({ ...GOOD, html: '' }).html, readSendEmail({ ...GOOD, html: '' }).text],
    ['', 'hello'],
  )
  assert.is(readSendEmail({ ...GOOD, html: '<p>', text: '' }).text, '')
})

for (const field of ['cc', 'bcc', 'reply_to'])
  test(`an empty ${field} counts as absent`, () => {
    const { cc, bcc, replyTo } = readSendEmail({ ...GOOD, [field]: '' })
    assert.equal([cc, bcc, replyTo], [[], [], []])
  })

for (const [input, tags] of [
  [
    { country: 'br', seats: 3, paying: true },
    [
      { name: 'country', value: 'br' },
      { name: 'seats', value: 3 },
      { name: 'paying', value: true },
    ],
  ],
  [JSON.parse('{"__proto__":"a"}'), [{ name: '__proto__', value: 'a' }]],
  [{}, []],
  [[{ name: 'a', value: 'b' }], [{ name: 'a', value: 'b' }]],
] as const)
  test(`tags ${JSON.stringify(input)} are a list of names and values`, () => {
    assert.equal(readSendEmail({ ...GOOD, tags: input }).tags, tags)
  })

test('attachment: a missing file name is derived from its position', () => {
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
