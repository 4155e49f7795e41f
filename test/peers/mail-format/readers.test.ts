import * as assert from 'uvu/assert'
import type { NamedAddress } from '../../kit/kinds-of-mail.ts'
import { type SentMail, type SentMails, sendEveryKind } from '../../kit/sent-mail.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { readers } from '../../unit/protocols/mime/readers.ts'
import { runPython, runScript, temporaryFolder, writeMessages } from './tools.ts'

const test = suite('peers/mail-format: readers of every kind of mail')

interface Part {
  /** Without parameters. */
  type: string
  charset: string | null
  method: string | null
  disposition: string | null
  filename: string | null
  /** Content-ID with angle brackets. */
  contentId: string | null
  /** Base64. */
  content: string
}

/** Mail as a reader parses it; `parts` are its leaves, in their order. */
interface Read {
  subject: string
  from: [name: string, address: string][]
  to: [name: string, address: string][]
  inReplyTo: string | null
  references: string | null
  parts: Part[]
}

const GMIME = 'python3-gi and gir1.2-gmime-3.0'
const PROGRAMS: readonly [name: string, read: (folder: string) => Promise<unknown>][] = [
  ['GMime', folder => runPython('read_parts.py', [folder, 'gmime'], GMIME)],
  ['Python with its default policy', folder => runPython('read_parts.py', [folder, 'compat32'], 'python3')],
  ['Python with its modern policy', folder => runPython('read_parts.py', [folder, 'modern'], 'python3')],
  ['Ruby mail', folder => runScript(['/usr/bin/ruby'], 'read_parts.rb', [folder], 'ruby-mail')],
  ['Email::MIME', folder => runScript(['/usr/bin/perl'], 'read_parts.pl', [folder], 'libemail-mime-perl')],
]

let sent: SentMails
test.before(async () => {
  sent = await sendEveryKind()
})
test.after(() => sent?.close())

for (const [name, read] of PROGRAMS)
  test(`${name} reads every kind of mail as it was sent`, async t => {
    const seen = await readBy(t, read)
    for (const [at, mail] of sent.mails.entries()) assert.equal(seenOf(seen[at]!), expected(mail), mail.kind)
  })

for (const [name, read] of readers)
  test(`${name} reads every kind of mail as it was sent`, async () => {
    for (const mail of sent.mails) {
      const seen = await read(mail.message)
      const { kind, subject, from, to, headers, text, html, files } = mail
      assert.equal([seen.subject, seen.from, seen.to], [subject, [from], [to]], kind)
      assert.equal([trimmed(seen.text), trimmed(seen.html)], [trimmed(text), trimmed(html)], kind)
      assert.is(seen.header('in-reply-to'), headers['In-Reply-To'] ?? '', kind)
      assert.equal(
        seen.attachments.map(({ content, ...file }) => ({
          ...file,
          content: bytes(file.contentType, content),
        })),
        files.map(({ filename, type, contentId, content }) => ({
          filename,
          contentType: type,
          disposition: contentId === null ? 'attachment' : 'inline',
          contentId,
          content: bytes(type, content),
        })),
        kind,
      )
    }
  })

async function readBy(t: TestContext, read: (folder: string) => Promise<unknown>): Promise<Read[]> {
  const folder = await temporaryFolder(t)
  await writeMessages(
    folder,
    sent.mails.map(({ message }) => message),
  )
  const seen = (await read(folder)) as Record<string, Read>
  return sent.mails.map((_, at) => seen[`${at}.eml`]!)
}

/** Texts, whose line ends are the wire's and which may end in one more, are compared as texts. */
function seenOf({ parts, ...head }: Read) {
  const [words, files] = [parts.filter(isText), parts.filter(part => !isText(part))]
  return {
    ...head,
    words: words.map(({ content, ...facts }) => ({ ...facts, content: ended(decoded(content)) })),
    files,
  }
}

function isText({ disposition }: Part): boolean {
  return disposition === null
}

function decoded(base64: string): string {
  return Buffer.from(base64, 'base64').toString()
}

function expected({ subject, from, to, headers, text, html, files }: SentMail): ReturnType<typeof seenOf> {
  const none = { method: null, disposition: null, filename: null, contentId: null }
  const words = (type: string, content: string | null) =>
    content === null ? [] : [{ type, charset: 'utf-8', ...none, content: ended(content) }]
  return {
    subject,
    from: [mailbox(from)],
    to: [mailbox(to)],
    inReplyTo: headers['In-Reply-To'] ?? null,
    references: headers.References ?? null,
    words: [...words('text/plain', text), ...words('text/html', html)],
    files: files.map(({ contentId, content, ...file }) => ({
      ...file,
      disposition: contentId === null ? 'attachment' : 'inline',
      contentId: contentId === null ? null : `<${contentId}>`,
      content: content.toString('base64'),
    })),
  }
}

function mailbox({ name, address }: NamedAddress): [name: string, address: string] {
  return [name, address]
}

/** LF line ends, of which the last one is there. */
function ended(text: string | null): string | null {
  return text === null ? null : `${text.replaceAll('\r\n', '\n').replace(/\n?$/, '')}\n`
}

/** postal-mime changes the line ends of calendars. */
function bytes(type: string, content: Buffer): string {
  return type === 'text/calendar' ? content.toString().replaceAll('\r\n', '\n') : content.toString('base64')
}

/** postal-mime adds line ends. */
function trimmed(text: string | null): string | null {
  return text === null ? null : text.replace(/\n+$/, '')
}

test.run()
