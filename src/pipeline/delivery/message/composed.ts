/**
 * Composes stored emails: the parts that the messages to all recipients share are built once, and each
 * recipient's message is completed from them.
 *
 * In: a stored email. Out: header fields and body for each recipient, without signatures. Called by
 * `message.ts` and `rebuild.ts`.
 */

import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Id, idKey, idText, wireId } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { bodyHash } from '../../../protocols/dkim/body-hash.ts'
import type { Attachment } from '../../../protocols/mime/attachment-entity.ts'
import { composeBody, type WordedSource } from '../../../protocols/mime/compose-body.ts'
import { composeHead } from '../../../protocols/mime/compose-head.ts'
import { formatDate } from '../../../protocols/mime/date.ts'
import { splitMessage } from '../../../protocols/mime/whole-message.ts'
import { needsSmtpUtf8 } from '../../../protocols/smtp/address.ts'
import { requestFor } from '../../../protocols/smtp/dsn.ts'
import type { HeaderField } from '../../../protocols/smtp/header-field.ts'
import type { Content } from '../../../resources/emails/content.ts'
import { readStoredDsn } from '../../../resources/emails/dsn.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import type { EmailSource } from '../../../resources/emails/email-source.ts'
import { createLinkTermsCache } from '../../../resources/emails/link-terms.ts'
import { createFindPersonal, filledContent, NO_LINKS } from '../../../resources/templates/personal.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { readAttachments } from '../../accept/stored-attachments.ts'
import {
  createEmailLinks,
  type EmailLinks,
  type LinkedEmail,
  type LinkedRecipient,
} from '../../tracking/email-links.ts'
import { createRewritePlanCache } from '../../tracking/rewrite-plan-cache.ts'
import { type TlsPreference, tlsPreferenceOf } from '../tls-policy/sender-tls-preference.ts'
import { createTextDeriver } from './derived-text.ts'
import { createSplicer } from './spliced.ts'

/** Only addresses bring other characters into a header. */
const NOT_ASCII = /[^\x00-\x7f]/

/**
 * The sender part of `Feedback-ID`, the same for all mail of this product. Gmail requires 5 to 15 characters.
 */
const FEEDBACK_SENDER = 'mailhorn'

export interface Composed {
  fromDomain: string
  domainId: Id | null
  /**
   * Time at which the message was accepted or scheduled to be sent, in ms since the epoch. It becomes the
   * `Date` field.
   */
  dueAt: number
  smtpUtf8: boolean
  /** True for notifications, which nobody must answer by another one. */
  hasNullSender?: boolean
  /** Returns the ORCPT that the client gave for a recipient. */
  originalOf?(address: string): string | undefined
  /** TLS preference that the email itself states. */
  tlsPreference: TlsPreference
  /** Approximate memory that a cached copy takes. */
  sizeBytes: number
  /** Returns the same object for all recipients if their messages are equal. */
  messageFor(recipient: LinkedRecipient): ComposedMessage
}

/** A message without correlation header and signatures. */
export interface ComposedMessage {
  fields: HeaderField[]
  body: Buffer
  bodyHash: string
}

interface ComposerParts {
  db: Db
  find: Find
  blobs: BlobFiles
  secrets: SecretKeys
}

/**
 * Composing is deterministic: the same email gives the same bytes.
 * @throws when a part of the email is missing
 */
type ComposeEmail = (source: EmailSource) => Promise<Composed>

/**
 * Templates and contents of a broadcast are parsed once, and its files are read once. Bodies that are equal
 * for all recipients are encoded once.
 */
export function createComposer({ db, find, blobs, secrets }: ComposerParts): ComposeEmail {
  const findPersonal = createFindPersonal()
  const composeCommon = createComposeCommon()
  const attachmentsOf = createAttachmentReader({ db, blobs })
  const splice = createSplicer()
  const { textOf, withText } = createTextDeriver()
  const findTerms = createLinkTermsCache(find)
  const planOf = createRewritePlanCache()
  return async source => {
    if (source.raw !== null) return composeRaw(source, await blobs.read(db, source.raw))
    const owner = idKey(source.accountId)
    const terms = source.linkTermsId === null ? null : await findTerms(source.linkTermsId)
    const links = terms && createEmailLinks(secrets, terms, linkedEmail(source))
    // only content with variables is personal, and then has one recipient
    const isPersonal = source.variables !== null
    const filled = isPersonal && findPersonal(source, links?.personal(onlyRecipient(source)) ?? NO_LINKS)
    const personal = filled && withText(filled)
    const attachments = await attachmentsOf(source)
    // where an image stands in the HTML is known from the whole HTML only
    if (personal && !links?.isTracked && attachments.every(({ contentId }) => contentId === null)) {
      const words = splice(personal)
      if (words) {
        const text = words.text ?? (await textOf(filledContent(personal), owner))
        const body = hashed({ ...words, text, attachments, seed: source.messageId })
        return compose(source, body.body.length, links, () => body)
      }
    }
    const content = personal ? filledContent(personal) : source.content
    const text = await textOf(content, owner)
    const seed = isShared(source) ? idText(source.broadcastId!) : source.messageId
    const bodyOf = (html: string | null) => hashed({ html, text, attachments, seed })
    const sizeBytes = sizeOf(content, attachments)
    if (content.html && links?.isTracked) {
      const { html } = content
      return compose(source, sizeBytes, links, to => bodyOf(links.track(html, planOf(content), to)))
    }
    const make = () => bodyOf(content.html)
    const body = isShared(source) ? composeCommon(source, make) : make()
    return compose(source, sizeBytes, links, () => body)
  }
}

function hashed(source: WordedSource): ComposedMessage {
  const { fields, body, isRelaxed } = composeBody(source)
  return { fields, body, bodyHash: bodyHash(body, isRelaxed) }
}

/** Whether the body contains nothing specific to a recipient. */
function isShared({ broadcastId, variables }: EmailSource): boolean {
  return broadcastId !== null && variables === null
}

/** The files of a broadcast, and bodies with them, take up to 2 MB. Few are kept. */
const KEPT_WITH_FILES_MAX = 2

/** All emails of a broadcast have the same content object and the same files. */
function createComposeCommon() {
  const withoutFiles = new WeakMap<Content, ComposedMessage>()
  const withFiles = new BoundedMap<Content, ComposedMessage>(KEPT_WITH_FILES_MAX)
  return (
    { content, attachments }: Pick<EmailSource, 'content' | 'attachments'>,
    bodyOf: () => ComposedMessage,
  ): ComposedMessage => {
    const composed = attachments === null ? withoutFiles : withFiles
    const known = composed.get(content)
    if (known) return known
    const body = bodyOf()
    composed.set(content, body)
    return body
  }
}

function sizeOf({ html, text }: Content, attachments: readonly Attachment[]): number {
  const words = (html?.length ?? 0) + (text?.length ?? 0)
  return attachments.reduce((sum, { content }) => sum + content.length, words)
}

function linkedEmail({ accountId, id: emailId, sender, broadcastId, topicId }: EmailSource): LinkedEmail {
  return { accountId, emailId, broadcastId, topicId, fromDomain: parseStoredMailboxes(sender)[0]!.domain }
}

/** Returns the recipient of an email that is written for one recipient. */
function onlyRecipient({ toList }: EmailSource): LinkedRecipient {
  return { ordinal: 0, address: parseStoredMailboxes(toList)[0]?.address ?? '' }
}

/** Returns a message as it was submitted; the Date of a scheduled one is its time of delivery. */
function composeRaw(source: EmailSource, raw: Buffer): Composed {
  const { sender, scheduledAt } = source
  const dsn = readStoredDsn(source.dsn)
  const [from] = parseStoredMailboxes(sender)
  const { fields, body } = splitMessage(raw)
  const { wish, headers } = tlsPreferenceOf(fields.map(({ name, value }) => [name, value]))
  const message = {
    fields: headers.map(([name, value]) => ({
      name,
      value: scheduledAt !== null && name.toLowerCase() === 'date' ? formatDate(scheduledAt) : value,
    })),
    body,
    bodyHash: bodyHash(body),
  }
  return {
    fromDomain: from!.domain,
    domainId: source.domainId,
    dueAt: scheduledAt ?? source.createdAt,
    tlsPreference: wish,
    smtpUtf8: fields.some(({ value }) => NOT_ASCII.test(value)),
    sizeBytes: body.length,
    hasNullSender: dsn === 'notice',
    ...(dsn !== null &&
      dsn !== 'notice' && { originalOf: address => requestFor(dsn, address)?.original ?? undefined }),
    messageFor: isAddressed(message.fields) ? () => message : to => addressed(message, to),
  }
}

/** A message with a DKIM signature of its sender is left as it is. */
function isAddressed(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name }) => /^(?:to|cc|dkim-signature)$/i.test(name))
}

/**
 * Names the recipient of a message that names none, since filters take that for a sign of spam. Nobody else
 * gets this copy.
 */
function addressed(message: ComposedMessage, { address }: LinkedRecipient): ComposedMessage {
  return { ...message, fields: [...message.fields, { name: 'To', value: address }] }
}

function compose(
  source: EmailSource,
  sizeBytes: number,
  links: EmailLinks | null,
  bodyFor: (recipient: LinkedRecipient) => ComposedMessage,
): Composed {
  const [from] = parseStoredMailboxes(source.sender)
  const to = parseStoredMailboxes(source.toList)
  const cc = parseStoredMailboxes(source.ccList)
  const replyTo = parseStoredMailboxes(source.replyToList)
  const dueAt = source.scheduledAt ?? source.createdAt
  const { wish, headers } = tlsPreferenceOf(
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
  const common = [...head, ...feedbackFields(source)]
  return {
    fromDomain: from!.domain,
    domainId: source.domainId,
    dueAt,
    tlsPreference: wish,
    smtpUtf8: [from!, ...to, ...cc, ...replyTo].some(({ address }) => needsSmtpUtf8(address)),
    sizeBytes,
    messageFor(recipient) {
      const { body, bodyHash, fields } = bodyFor(recipient)
      return { body, bodyHash, fields: [...common, ...listFields(head, links, recipient), ...fields] }
    },
  }
}

/** Adds no fields when the sender has set its own unsubscribe header. */
function listFields(
  head: readonly HeaderField[],
  links: EmailLinks | null,
  recipient: LinkedRecipient,
): HeaderField[] {
  const isSaid = head.some(({ name }) => /^list-unsubscribe(?:-post)?$/i.test(name))
  return links?.isList && !isSaid ? links.listFields(recipient) : []
}

/**
 * `Feedback-ID` lets mailbox providers report to senders how their broadcasts are received. Its parts are
 * broadcast, account, stream and sender.
 */
function feedbackFields({ accountId, broadcastId }: EmailSource): HeaderField[] {
  if (broadcastId === null) return []
  const value = `${wireId('brd', broadcastId)}:${wireId('acc', accountId)}:broadcast:${FEEDBACK_SENDER}`
  return [{ name: 'Feedback-ID', value }]
}

/** Reads the files of a broadcast once while its emails follow each other. */
function createAttachmentReader(store: Pick<ComposerParts, 'db' | 'blobs'>) {
  const ofBroadcasts = new BoundedMap<string, Promise<Attachment[]>>(KEPT_WITH_FILES_MAX)
  return ({ attachments, broadcastId }: EmailSource): Promise<Attachment[]> | Attachment[] => {
    if (attachments === null) return []
    if (broadcastId === null) return readAttachments(store, attachments)
    const known = ofBroadcasts.get(attachments)
    if (known) return known
    const read = readAttachments(store, attachments)
    ofBroadcasts.set(attachments, read)
    read.catch(() => ofBroadcasts.delete(attachments))
    return read
  }
}
