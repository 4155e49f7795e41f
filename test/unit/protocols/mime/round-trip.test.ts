import * as assert from 'uvu/assert'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'
import { awkwardText, checked, checkedAsync } from './arbitraries.ts'
import { compose, mailbox, SENT_AT, wireLines } from './messages.ts'
import { readers } from './readers.ts'

const test = suite('mime/round-trip')

/**
 * Text that a header can carry: line breaks become blanks. postal-mime loses U+FEFF at the start of an
 * encoded word.
 */
const headerText = awkwardText.map(text =>
  text
    .toWellFormed()
    .replace(/\ufeff/g, '')
    .replace(/[\r\n]+/g, ' '),
)
/**
 * Display names as the address parser returns them: no control characters, single blanks, none outside; both
 * readers trim names.
 */
const displayName = headerText.map(text => text.replace(/[\x00-\x1f\x7f\s]+/g, ' ').trim())
/** Both readers decode what looks like an encoded word, even in a parameter, where RFC 2047 §5 forbids it. */
const fileName = awkwardText.map(text => text.toWellFormed().replaceAll('=?', '='))
const bodyText = awkwardText.map(text => text.replace(/\ufeff/g, ''))

for (const [reader, read] of readers) {
  test(`${reader} reads every subject as it was given`, () =>
    checkedAsync(headerText, async subject => {
      assert.is((await read(compose({ subject, text: 'x' }))).subject, subject.trim())
    }))

  test(`${reader} reads every display name as it was given, and no address more`, () =>
    checkedAsync(fc.tuple(displayName, displayName, displayName), async ([one, two, three]) => {
      const from = mailbox('a@b.test', one)
      const to = [mailbox('c@d.test', two), mailbox('e@f.test', three), mailbox('g@h.test')]
      const message = await read(compose({ from, to, cc: [to[1]!], replyTo: [from, to[0]!], text: 'x' }))
      const seen = (list: readonly { name: string | null; address: string }[]) =>
        list.map(({ name, address }) => ({ name: name ?? '', address }))
      assert.equal(seen(message.from), seen([from]))
      assert.equal(seen(message.to), seen(to))
      assert.equal(seen(message.cc), seen([to[1]!]))
      assert.equal(seen(message.replyTo), seen([from, to[0]!]))
      assert.is(message.date, SENT_AT)
      assert.is(message.messageId, '<1@send.here.test>')
    }))

  test(`${reader} reads text and HTML as they were given, but for line ends and half characters`, () =>
    checkedAsync(fc.tuple(bodyText, bodyText), async ([text, html]) => {
      const both = await read(compose({ text, html }))
      assert.is(normal(both.text), normal(text))
      assert.is(normal(both.html), normal(html))
      assert.is(normal((await read(compose({ text }))).text), normal(text))
      assert.is(normal((await read(compose({ html }))).html), normal(html))
    }))

  test(`${reader} reads every attachment with its name, octet by octet`, () =>
    checkedAsync(fc.tuple(fileName, fc.uint8Array({ maxLength: 300 })), async ([filename, content]) => {
      const attachments = [
        { filename, contentType: 'application/pdf', contentId: null, content },
        { filename: `${filename}.png`, contentType: 'image/png', contentId: 'a@b.test', content },
      ]
      const [inline, file] = (await read(compose({ html: 'cid:a@b.test', attachments }))).attachments
      assert.is(file!.filename, filename === '' ? 'attachment' : filename)
      assert.is(file!.contentType, 'application/pdf')
      assert.is(file!.disposition, 'attachment')
      assert.ok(file!.content.equals(content))
      assert.is(inline!.filename, `${filename}.png`)
      assert.is(inline!.contentId, 'a@b.test')
      assert.ok(inline!.content.equals(content))
    }))

  test(`${reader} finds a user's fields`, () =>
    checkedAsync(
      headerText.map(text => text.trim()),
      async value => {
        const message = await read(compose({ text: 'x', headers: [['X-Note', value.replaceAll('=?', '=')]] }))
        assert.is(blanks(message.header('x-note')), blanks(value.replaceAll('=?', '=')))
      },
    ))
}

test('whatever is given, the message is ASCII in lines of at most 998 octets, and the same each time', () => {
  const anything = fc.record({
    subject: awkwardText,
    html: fc.option(awkwardText),
    text: fc.option(awkwardText),
    seed: awkwardText,
    messageId: awkwardText,
    from: awkwardText.map(name => mailbox('a@b.test', name)),
    to: fc.array(awkwardText.map(name => mailbox('c@d.test', name))),
    headers: fc.array(
      fc.tuple(
        fc.constantFrom('X-Note', 'References', 'List-ID', 'In-Reply-To', `X-${'n'.repeat(800)}`),
        awkwardText,
      ),
    ),
    attachments: fc.array(
      fc.record({
        filename: awkwardText,
        contentType: fc.oneof(awkwardText, fc.constantFrom('message/rfc822', 'text/plain; charset=x')),
        contentId: fc.option(awkwardText),
        content: awkwardText.map(text => Buffer.from(text)),
      }),
      { maxLength: 4 },
    ),
  })
  checked(anything, input => {
    const message = compose(input)
    assert.ok(message.equals(compose(input)))
    assert.ok(message.every(octet => octet < 0x80))
    for (const line of wireLines(message)) {
      assert.ok(line.length <= 998, `${line.length} octets: ${line.slice(0, 80)}`)
      assert.not.match(line, /[\r\n]/)
    }
  })
})

/** The readers end text with a line end of their own. */
function normal(text: string | null): string {
  return (text ?? '')
    .toWellFormed()
    .replace(/\r\n|\r/g, '\n')
    .replace(/\n*$/, '')
}

function blanks(text: string): string {
  return text.replace(/[ \t]+/g, ' ')
}

test.run()
