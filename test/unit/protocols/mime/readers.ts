/**
 * Two foreign parsers, mailparser and postal-mime, brought to one form, so that a test can ask both the
 * same.
 */
import { createRequire } from 'node:module'
import PostalMime, { type Address, decodeWords } from 'postal-mime'

export interface ReadMessage {
  subject: string
  from: ReadMailbox[]
  to: ReadMailbox[]
  cc: ReadMailbox[]
  replyTo: ReadMailbox[]
  messageId: string
  /** Epoch ms. */
  date: number
  /** LF line ends; null where there is no such part. */
  text: string | null
  html: string | null
  attachments: ReadAttachment[]
  /** A field's decoded value, by lower-case name; empty where there is none. */
  header(name: string): string
}

export interface ReadMailbox {
  name: string
  address: string
}

export interface ReadAttachment {
  filename: string | null
  contentType: string
  disposition: string | null
  contentId: string | null
  content: Buffer
}

type Reader = (message: Buffer) => Promise<ReadMessage>

interface MailparserAddresses {
  value: { name: string; address?: string }[]
}

interface Mailparser {
  simpleParser(
    message: Buffer,
    options: Record<string, boolean>,
  ): Promise<{
    subject?: string
    from?: MailparserAddresses
    to?: MailparserAddresses
    cc?: MailparserAddresses
    replyTo?: MailparserAddresses
    messageId?: string
    date?: Date
    text?: string
    html?: string | false
    headers: Map<string, unknown>
    attachments: {
      filename?: string
      contentType: string
      contentDisposition?: string
      cid?: string
      content: Buffer
    }[]
  }>
}

const { simpleParser } = createRequire(import.meta.url)('mailparser') as Mailparser

export async function readWithMailparser(message: Buffer): Promise<ReadMessage> {
  const mail = await simpleParser(message, {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
    keepCidLinks: true,
  })
  const mailboxes = (list: MailparserAddresses | undefined) =>
    (list?.value ?? []).map(({ name, address }) => ({ name, address: address ?? '' }))
  return {
    subject: mail.subject ?? '',
    from: mailboxes(mail.from),
    to: mailboxes(mail.to),
    cc: mailboxes(mail.cc),
    replyTo: mailboxes(mail.replyTo),
    messageId: mail.messageId ?? '',
    date: mail.date?.getTime() ?? Number.NaN,
    text: lines(mail.text),
    html: lines(mail.html || undefined),
    attachments: mail.attachments.map(part => ({
      filename: part.filename ?? null,
      contentType: part.contentType,
      disposition: part.contentDisposition ?? null,
      contentId: part.cid ?? null,
      content: part.content,
    })),
    header: name => decodeWords(mail.headers.get(name)?.toString() ?? ''),
  }
}

export async function readWithPostalMime(message: Buffer): Promise<ReadMessage> {
  const mail = await PostalMime.parse(message, { forceRfc822Attachments: true })
  const mailboxes = (list: Address | Address[] | undefined) =>
    [list ?? []].flat().map(({ name, address }) => ({ name, address: address ?? '' }))
  return {
    subject: mail.subject ?? '',
    from: mailboxes(mail.from),
    to: mailboxes(mail.to),
    cc: mailboxes(mail.cc),
    replyTo: mailboxes(mail.replyTo),
    messageId: mail.messageId ?? '',
    date: Date.parse(mail.date ?? ''),
    text: lines(mail.text),
    html: lines(mail.html),
    attachments: mail.attachments.map(part => ({
      filename: part.filename,
      contentType: part.mimeType,
      disposition: part.disposition,
      contentId: part.contentId?.replace(/^<|>$/g, '') ?? null,
      content: Buffer.from(part.content as ArrayBuffer),
    })),
    header: name => decodeWords(mail.headers.find(({ key }) => key === name)?.value ?? ''),
  }
}

export const readers: readonly [name: string, read: Reader][] = [
  ['mailparser', readWithMailparser],
  ['postal-mime', readWithPostalMime],
]

function lines(text: string | undefined): string | null {
  return text === undefined ? null : text.replaceAll('\r\n', '\n')
}
