/** A stored email composed: what the messages to all its recipients have in common. */
import type { StoredAttachment } from '../accept/new-email.ts'
import { bodyHash } from '../dkim/body-hash.ts'
import { type Id, idText, wireId } from '../lib/ids.ts'
import type { Attachment } from '../mime/attachment-entity.ts'
import { type ComposedBody, composeBody } from '../mime/compose-body.ts'
import { composeHead } from '../mime/compose-head.ts'
import { splitMessage } from '../mime/whole-message.ts'
import { needsSmtpUtf8 } from '../smtp/address.ts'
import type { HeaderField } from '../smtp/header-field.ts'
import type { BlobFiles } from '../store/blobs.ts'
import type { Content } from '../store/contents.ts'
import type { EmailSource } from '../store/email-source.ts'
import { parseMailboxes } from '../store/emails.ts'
import type { Db } from '../store/schema.ts'
import { createFindPersonal } from '../templates/personal.ts'
import { type TlsWish, tlsWishOf } from './policy/wish.ts'

/** Addresses alone bring such into a header. */
const NOT_ASCII = /[^\x00-\x7f]/

/** Of all mail of this product; five to fifteen characters, as Gmail asks for. */
const FEEDBACK_SENDER = 'posthorn'

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
export type ComposeEmail = (source: EmailSource) => Promise<Composed>

/** What emails of a broadcast have in common is parsed, and where it says the same to everybody encoded, once. */
export function createComposer({ db, blobs }: { db: Db; blobs: BlobFiles }): ComposeEmail {
  const findPersonal = createFindPersonal()
  const composeCommon = createComposeCommon()
  return async source => {
    if (source.raw !== null) return takeWhole(source, await blobs.read(db, source.raw))
    const content = findPersonal(source, () => '')
    if (source.attachments === null && isShared(source))
      return compose(source, composeCommon(source, content))
    const attachments = await attachmentsOf(source, db, blobs)
    const body = composeBody({ ...content, attachments, seed: source.messageId })
    return compose(source, { ...body, bodyHash: bodyHash(body.body) })
  }
}

type HashedBody = ComposedBody & { bodyHash: string }

/** Nothing in the body is the recipient's own. */
function isShared({ broadcastId, variables }: EmailSource): boolean {
  return broadcastId !== null && variables === null
}

function createComposeCommon() {
  const composed = new WeakMap<Content, HashedBody>()
  return ({ broadcastId }: EmailSource, content: Content): HashedBody => {
    const known = composed.get(content)
    if (known) return known
    const body = composeBody({ ...content, attachments: [], seed: idText(broadcastId!) })
    const hashed = { ...body, bodyHash: bodyHash(body.body) }
    composed.set(content, hashed)
    return hashed
  }
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

function compose(source: EmailSource, { fields, body, bodyHash: hash }: HashedBody): Composed {
  const [from] = parseMailboxes(source.sender)
  const to = parseMailboxes(source.toList)
  const cc = parseMailboxes(source.ccList)
  const replyTo = parseMailboxes(source.replyToList)
  const dueAt = source.scheduledAt ?? source.createdAt
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
    fields: [...head, ...feedbackFields(source), ...fields],
    body,
    bodyHash: hash,
    tlsWish: wish,
    smtpUtf8: [from!, ...to, ...cc, ...replyTo].some(({ address }) => needsSmtpUtf8(address)),
  }
}

/** By which mailbox providers tell senders how their broadcasts are received: broadcast, account, stream, sender. */
function feedbackFields({ accountId, broadcastId }: EmailSource): HeaderField[] {
  if (broadcastId === null) return []
  const value = `${wireId('brd', broadcastId)}:${wireId('acc', accountId)}:broadcast:${FEEDBACK_SENDER}`
  return [{ name: 'Feedback-ID', value }]
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
