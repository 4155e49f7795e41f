import * as assert from 'uvu/assert'
import { MESSAGE_BYTES_MAX } from '../../../../src/pipeline/accept/message-limits.ts'
import { encodedSize, type SubmittedAttachment } from '../../../../src/pipeline/accept/submission.ts'
import { composeBody } from '../../../../src/protocols/mime/compose-body.ts'
import { htmlToText } from '../../../../src/protocols/mime/html/html-to-text.ts'
import { submissionOf } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accept/submission')
const MIB = 1024 * 1024

const attachment = (bytes: number, filename = 'a.bin'): SubmittedAttachment => ({
  filename,
  contentType: 'application/octet-stream',
  contentId: null,
  content: Buffer.alloc(bytes, 7),
})

function sizes(parts: { html?: string | null; text?: string | null; attachments?: SubmittedAttachment[] }) {
  const submission = submissionOf({ text: null, ...parts })
  const { html, text } = submission
  const attachments = parts.attachments ?? []
  const body = composeBody({ html, text, attachments: attachments.map(withBuffer), seed: 'seed' }).body
  return { estimated: encodedSize(submission), actual: body.length }
}

function withBuffer({ content, ...rest }: SubmittedAttachment) {
  return { ...rest, content: Buffer.from(content) }
}

test('message size: the limit is 40 MB', () => {
  assert.is(MESSAGE_BYTES_MAX, 40 * MIB)
})

test('message size: the estimate is never below the composed size', () => {
  const text = fc.option(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 500 }),
      fc.string({ maxLength: 2_000 }),
      fc
        .array(fc.constantFrom('\n', '\0', '=', 'ä', ' \n', '漢', 'x'), { maxLength: 2_000 })
        .map(parts => parts.join('')),
    ),
  )
  const attachments = fc.array(
    fc
      .record({ bytes: fc.nat(3_000), name: fc.string({ unit: 'binary', maxLength: 255 }) })
      .map(({ bytes, name }) => attachment(bytes, name)),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(text, text, attachments, (html, plain, files) => {
      const { estimated, actual } = sizes({ html, text: plain, attachments: files })
      assert.ok(estimated >= actual, `${estimated} < ${actual}`)
    }),
    { seed: 20261121, numRuns: 400 },
  )
})

test('message size: the estimate contains the text that is derived from the HTML', () => {
  for (const html of [
    `<p>${'漢字と仮名 '.repeat(20_000)}</p>`,
    '<a href="https://there.example/">=</a> '.repeat(9_000),
  ]) {
    const derived = sizes({ html, text: htmlToText(html)! }).actual
    const { estimated } = sizes({ html })
    assert.ok(estimated >= derived, `${estimated} < ${derived}`)
  }
})

test('message size: the estimate of a large message is accurate', () => {
  const cases = {
    'plain lines': { text: `${'x'.repeat(70)}\r\n`.repeat(40_000) },
    'long lines': { html: `<p>${'word '.repeat(600_000)}</p>` },
    'many equals signs': { html: '<a href="x?a=b&c=d">e</a>\n'.repeat(100_000) },
    'another script': { text: '漢字と仮名\n'.repeat(200_000) },
    'letters with accents': { text: 'Grüße aus Österreich\n'.repeat(100_000) },
    attachments: { text: 'see there', attachments: [attachment(3 * MIB), attachment(10)] },
  }
  for (const [name, parts] of Object.entries(cases)) {
    const { estimated, actual } = sizes(parts)
    assert.ok(estimated >= actual, `${name}: ${estimated} < ${actual}`)
    assert.ok(estimated <= actual * 1.02 + 5_000, `${name}: ${estimated} for ${actual}`)
  }
})

test('message size: the estimate of a small message is far below the limit', () => {
  const { estimated } = sizes({ html: 'ä'.repeat(100_000), text: '漢'.repeat(100_000) })
  assert.ok(estimated < MESSAGE_BYTES_MAX / 10)
})

test.run()
