import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import { readAttachments } from '../../../../../src/interfaces/api/emails/attachment-schema.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('api: contents of attachments that are texts')
const base64 = (text: string) => Buffer.from(text).toString('base64')
const UTF_8 = '; charset=utf-8'

function read(file: Record<string, unknown>) {
  const { attachments, doubtfulContents } = readAttachments([{ filename: 'x.pdf', content: 'AA==' }, file])
  const { content, contentType } = attachments[1] as { content: Uint8Array; contentType: string }
  return { text: Buffer.from(content).toString(), contentType, doubtfulContents }
}

for (const [file, text, contentType] of [
  [{ filename: 'notes.txt', content: 'Hello, Zoë!' }, 'Hello, Zoë!', `text/plain${UTF_8}`],
  [{ filename: 'list.csv', content: 'a;b\n1;2' }, 'a;b\n1;2', `text/csv${UTF_8}`],
  [
    { filename: 'invite.ics', content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR' },
    'BEGIN:VCALENDAR\r\nEND:VCALENDAR',
    `text/calendar${UTF_8}`,
  ],
  [{ filename: 'data.json', content: '{"a":1}' }, '{"a":1}', `application/json${UTF_8}`],
  [{ filename: 'logo.svg', content: '<svg/>' }, '<svg/>', `image/svg+xml${UTF_8}`],
  [{ content_type: 'text/plain', content: 'two words' }, 'two words', `text/plain${UTF_8}`],
  [{ filename: 'a.txt', content: 'buy milk and bread' }, 'buy milk and bread', `text/plain${UTF_8}`],
] as const)
  test(`${JSON.stringify(file)} is plain text`, () => {
    assert.equal(read(file), { text, contentType, doubtfulContents: [] })
  })

for (const file of [
  { filename: 'photo.png', content: 'Hello, Zoë!' },
  { content: 'Hello, Zoë!' },
  { filename: 'notes.txt', content_type: 'image/png', content: 'Hello, Zoë!' },
])
  test(`${JSON.stringify(file)} is refused`, () => {
    assert.throws(
      () => read(file),
      (error: unknown) => {
        return error instanceof ApiError && /`content` must be valid base64/.test(error.message)
      },
    )
  })

for (const [file, isDoubtful] of [
  [{ filename: 'a.txt', content: 'hello123' }, true],
  [{ content_type: 'text/plain', content: 'test' }, true],
  [{ filename: 'a.csv', content: 'yes\nno12\nmaybe123' }, true],
  [{ filename: 'a.json', content: 'null' }, true],
  [{ filename: 'a.txt', content: base64('hello') }, false],
  [{ filename: 'a.txt', content: base64('Grüße\n\t') }, false],
  [{ filename: 'a.txt', content: Buffer.from('\ufeffhi', 'utf16le').toString('base64') }, false],
  [{ content_type: 'text/plain; charset=iso-8859-1', content: 'R3L83w==' }, false],
  [{ content_type: 'text/plain; charset=utf-8', content: 'R3L83w==' }, true],
  [{ filename: 'a.png', content: 'iVBORw0KGgo=' }, false],
  [{ filename: 'a.txt', content: [0xb5, 0xeb] }, false],
  [{ filename: 'a.txt', content: `data:text/plain;base64,R3L83w==` }, false],
] as const)
  test(`${JSON.stringify(file)} is ${isDoubtful ? 'decoded with a warning' : 'read without a warning'}`, () => {
    assert.equal(read(file).doubtfulContents, isDoubtful ? ['attachments[1].content'] : [])
  })

test.run()
