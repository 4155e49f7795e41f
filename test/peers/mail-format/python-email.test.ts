import * as assert from 'uvu/assert'
import { fc } from '../../kit/property.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { awkwardText, seed } from '../../unit/protocols/mime/arbitraries.ts'
import { cases, type Given } from '../../unit/protocols/mime/cases.ts'
import { bodySource, compose, headSource, mailbox } from '../../unit/protocols/mime/messages.ts'
import { runPython, temporaryFolder, writeMessages } from './tools.ts'

const test = suite('peers/mail-format: Python email')

interface Seen {
  subject: string
  from: [name: string, address: string][]
  to: [name: string, address: string][]
  cc: [name: string, address: string][]
  replyTo: [name: string, address: string][]
  messageId: string
  /** Epoch seconds. */
  date: number
  text: string | null
  html: string | null
  attachments: {
    filename: string
    contentType: string
    disposition: string
    contentId: string | null
    content: string
  }[]
  defects: string[]
}

/**
 * A file name outside ASCII stands in Content-Type as encoded words in quotes. Python reads them and remarks
 * on it.
 */
const NAME_IN_TYPE =
  /^Content-Type: InvalidHeaderDefect\('(?:encoded word inside quoted string|missing trailing whitespace after encoded-word)'\)$/

test('reads every message of the table as it was meant, and finds no defect', async t => {
  const seen = await read(
    t,
    cases.map(([, input]) => input),
  )
  for (const [at, [what, input]] of cases.entries()) {
    assertSeen(seen[at]!, input, what)
    assert.equal(
      seen[at]!.defects.filter(defect => !NAME_IN_TYPE.test(defect)),
      [],
      what,
    )
  }
})

test('reads a hundred and fifty awkward messages exactly', async t => {
  const input = fc.sample(awkwardMessage, { seed, numRuns: 150 })
  for (const [at, message] of (await read(t, input)).entries())
    assertSeen(message, input[at]!, JSON.stringify(input[at]))
})

test('reads an attached message as a message', async t => {
  const eml = 'From: x@y.test\r\nSubject: inner\r\n\r\nhi \r\n.\r\n'
  const input: Given = {
    text: 'see below',
    attachments: [
      { filename: 'mail.eml', contentType: 'message/rfc822', contentId: null, content: Buffer.from(eml) },
    ],
  }
  const [message] = await read(t, [input])
  const [attached] = message!.attachments
  assert.is(attached!.contentType, 'message/rfc822')
  assert.is(`${Buffer.from(attached!.content, 'base64')}`, eml)
  assert.equal(message!.defects, [])
})

const headerText = awkwardText.map(text => text.toWellFormed().replace(/[\r\n]+/g, ' '))
/**
 * Display names as the address parser returns them, short enough for one encoded word: Python 3.11 keeps the
 * blank between two encoded words in a display name, against RFC 2047 §6.2.
 */
const displayName = headerText.map(text => {
  const line = text.replace(/[\x00-\x1f\x7f\x85\s]+/g, ' ').trim()
  return Buffer.from(line)
    .subarray(0, 40)
    .toString()
    .replace(/\ufffd+$/, '')
    .trim()
})
/** Python cuts outer blanks and angle brackets off, even where they are encoded. */
const fileName = awkwardText.map(text => text.replace(/^[\s\x1c-\x1f\x85<]+|[\s\x1c-\x1f\x85>]+$/g, ''))
const awkwardMessage = fc.record({
  subject: headerText,
  from: displayName.map(name => mailbox('ann@here.test', name)),
  to: fc.array(
    displayName.map(name => mailbox('bob@there.test', name)),
    { maxLength: 3 },
  ),
  text: fc.option(awkwardText, { nil: null }),
  html: awkwardText,
  attachments: fc.array(
    fileName.map(filename => ({
      filename,
      contentType: 'application/pdf',
      contentId: null,
      content: Buffer.from(filename),
    })),
    { maxLength: 3 },
  ),
})

function assertSeen(seen: Seen, input: Given, what: string) {
  const head = headSource(input)
  const { text, html, attachments } = bodySource(input)
  assert.is(seen.subject, head.subject.trim(), what)
  for (const key of ['to', 'cc', 'replyTo'] as const)
    assert.equal(
      seen[key],
      head[key].map(({ name, address }) => [name ?? '', address]),
      what,
    )
  assert.equal(seen.from, [[head.from.name ?? '', head.from.address]], what)
  assert.is(seen.messageId, head.messageId, what)
  assert.is(seen.date * 1000, head.sentAt, what)
  const isBlank = html === null && attachments.length === 0
  assert.is(ended(seen.text), ended(text === '' && html ? null : (text ?? (isBlank ? '' : null))), what)
  assert.is(ended(seen.html), ended(html === '' && text !== null ? null : html), what)
  assert.equal(
    seen.attachments.map(({ content, ...facts }) => ({ ...facts, content: Buffer.from(content, 'base64') })),
    attachments.map(({ filename, contentType, contentId, content }) => ({
      filename: filename.toWellFormed() || 'attachment',
      contentType: contentType.replace(/;.*/, ''),
      disposition: contentId === null ? 'attachment' : 'inline',
      contentId: contentId === null ? null : `<${contentId}>`,
      content: Buffer.from(content),
    })),
    what,
  )
}

/** A text without parts beside it ends in CRLF on the wire. */
function ended(text: string | null): string | null {
  return text === null
    ? null
    : `${text
        .toWellFormed()
        .replace(/\r\n|\r|\n/g, '\n')
        .replace(/\n?$/, '')}\n`
}

async function read(t: TestContext, input: readonly Given[]): Promise<Seen[]> {
  const folder = await temporaryFolder(t)
  await writeMessages(folder, input.map(compose))
  const seen = (await runPython('read_mail.py', [folder], 'python3')) as Record<string, Seen>
  return input.map((_, at) => seen[`${at}.eml`]!)
}

test.run()
