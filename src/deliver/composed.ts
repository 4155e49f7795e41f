/** A stored email composed: what the messages to all its recipients have in common. */
import type { StoredAttachment } from '../accept/new-email.ts'
import { bodyHash } from '../dkim/body-hash.ts'
import type { Id } from '../lib/ids.ts'
import type { Attachment } from '../mime/attachment-entity.ts'
import { composeBody } from '../mime/compose-body.ts'
import { composeHead } from '../mime/compose-head.ts'
import { splitMessage } from '../mime/whole-message.ts'
import { needsSmtpUtf8 } from '../smtp/address.ts'
import type { HeaderField } from '../smtp/header-field.ts'
import type { BlobFiles } from '../store/blobs.ts'
import type { EmailSource } from '../store/email-source.ts'
import { parseMailboxes } from '../store/emails.ts'
import type { Db } from '../store/schema.ts'
import { type TlsWish, tlsWishOf } from './policy/wish.ts'

/** Addresses alone bring such into a header. */
const NOT_ASCII = /[^\x00-\x7f]/

export interface Composed {
  fromDomain: string
  domainId: Id | null
  /** When it was to be sent first: accepted, or scheduled. Epoch ms, the `Date` field. */
  dueAt: number
  /** Without correlation and signatures. */
  fields: HeaderField[]
  body: Buffer
  bodyHash: string
  smtpUtf8: boolean
  /** What the email itself asks of connections. */
  tlsWish: TlsWish
}

/** The same email gives the same octets. @throws when a part of it is not there */
export async function composeEmail(
  source: EmailSource,
  { db, blobs }: { db: Db; blobs: BlobFiles },
): Promise<Composed> {
  return source.raw === null
    ? compose(source, await attachmentsOf(source, db, blobs))
    : takeWhole(source, await blobs.read(db, source.raw))
}

/** The message as it was submitted. */
function takeWhole(source: EmailSource, raw: Buffer): Composed {
  const [from] = parseMailboxes(source.sender)
  const { fields, body } = splitMessage(raw)
  const { wish, headers } = tlsWishOf(fields.map(({ name, value }) => [name, value]))
  return {
    fromDomain: from!.domain,
    domainId: source.domainId,
    dueAt: source.scheduledAt ?? source.createdAt,
    fields: headers.map(([name, value]) => ({ name, value })),
    body,
    bodyHash: bodyHash(body),
    tlsWish: wish,
    smtpUtf8: fields.some(({ value }) => NOT_ASCII.test(value)),
  }
}

function compose(source: EmailSource, attachments: Attachment[]): Composed {
  const [from] = parseMailboxes(source.sender)
  const to = parseMailboxes(source.toList)
  const cc = parseMailboxes(source.ccList)
  const replyTo = parseMailboxes(source.replyToList)
  const { html, text } = source.content
  const dueAt = source.scheduledAt ?? source.createdAt
  const { fields, body } = composeBody({ html, text, attachments, seed: source.messageId })
  const { wish, headers } = tlsWishOf(
    source.headers === null ? [] : (JSON.parse(source.headers) as [string, string][]),
  )
  const head = composeHead({
    from: from!,
    to,
    cc,
    replyTo,
    subject: source.subject,
    sentAt: dueAt,
    messageId: source.messageId,
    headers,
  })
  return {
    fromDomain: from!.domain,
    domainId: source.domainId,
    dueAt,
    fields: [...head, ...fields],
    body,
    bodyHash: bodyHash(body),
    tlsWish: wish,
    smtpUtf8: [from!, ...to, ...cc, ...replyTo].some(({ address }) => needsSmtpUtf8(address)),
  }
}

async function attachmentsOf({ attachments }: EmailSource, db: Db, blobs: BlobFiles): Promise<Attachment[]> {
  if (attachments === null) return []
  return Promise.all(
    (JSON.parse(attachments) as StoredAttachment[]).map(
      async ({ filename, contentType, contentId, hash }) => ({
        filename,
        contentType,
        contentId,
        content: await blobs.read(db, new Uint8Array(Buffer.from(hash, 'hex'))),
      }),
    ),
  )
}
