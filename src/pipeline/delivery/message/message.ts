/**
 * Builds the message of one delivery: composes the email, adds what is specific to the recipient, and signs
 * the result. Emails with several recipients are cached after composing.
 *
 * In: a delivery. Out: the message with its return path, or the reason why there is none. Called by the
 * delivery runner and the pre-signer.
 */

import { BoundedMap } from '../../../lib/bounded-map.ts'
import { type Id, idKey } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import type { Sign } from '../../../protocols/dkim/sign.ts'
import { fieldsText } from '../../../protocols/smtp/header-field.ts'
import { createRefToken, type DeliveryRef, returnPath } from '../../../protocols/smtp/verp.ts'
import { deletedReason } from '../../../resources/domains/deleted.ts'
import { createEmailSources, type EmailSource } from '../../../resources/emails/email-source.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { storedAttachments } from '../../accept/stored-attachments.ts'
import type { MessageTls } from '../tls-policy/next-hop.ts'
import { messageTlsOf } from '../tls-policy/sender-tls-preference.ts'
import { type Composed, createComposer } from './composed.ts'
import type { KeyRing, SigningDomain } from './key-ring.ts'
import { createSignatureCache } from './signature-cache.ts'
import { type MadeSignatures, type StoredSignature, signHead } from './signed-head.ts'

export interface OutgoingMessage {
  /** Return path; empty for notifications (RFC 3464 §2). */
  mailFrom: string
  /** ORCPT of the client that submitted the message; undefined without one. */
  originalRecipient?: string | undefined
  /** Header section and body with CRLF line ends. */
  bytes: Buffer[]
  sizeBytes: number
  smtpUtf8: boolean
  /** TLS requirement for the connection. */
  tls: MessageTls
  /**
   * Time at which the message was accepted or scheduled to be sent, in ms since the epoch. It becomes the
   * `Date` field.
   */
  dueAt: number
  /** Time of the signatures (`t=`), in ms since the epoch. */
  signedAt: number
  /** Null for an unsigned message. */
  signatures: readonly StoredSignature[] | null
}

/** States why no message can be built for an accepted email. */
export interface NoMessage {
  reason: string
}

type Delivery = DeliveryRef & { accountId: Id; address: string; source?: EmailSource | undefined }

export interface MessageMaker {
  /**
   * Returns the memory that the message of a delivery takes while it is built and sent, in bytes. The email
   * is read into the delivery for `make`.
   */
  memoryOf(delivery: Delivery): Promise<number>
  /**
   * Builds the message. Signatures that were made ahead or by a previous attempt are reused if they are by
   * the same keys.
   * @param delivery may contain the email; otherwise the email is read from the store
   */
  make(delivery: Delivery & { attempt?: number }, now: number): Promise<OutgoingMessage | NoMessage>
  /** Whether the signature cache takes further entries. */
  hasRoom(now: number): boolean
  /**
   * Makes the signatures of a delivery that cannot be sent yet, and keeps them.
   * @returns false when they exist, or none are needed
   */
  signAhead(delivery: Delivery, now: number): Promise<boolean>
}

interface MessageOptions {
  db: Db
  find: Find
  blobs: BlobFiles
  secrets: SecretKeys
  keyRing: KeyRing
  sign: Sign
}

const CACHED_EMAILS_MAX = 32
const CACHED_EMAIL_BYTES_MAX = 1024 * 1024

export function createMessageMaker({
  db,
  find,
  blobs,
  secrets,
  keyRing,
  sign,
}: MessageOptions): MessageMaker {
  const cache = createSignatureCache()
  const composed = createComposedEmails(find, createComposer({ db, find, blobs, secrets }))
  const signingOf = ({ domainId, fromDomain }: Composed) =>
    domainId === null ? UNSIGNED : keyRing.keysOf(domainId, fromDomain)

  return {
    memoryOf: composed.memoryOf,
    async make(delivery, now) {
      const email = await composed.of(delivery)
      if (!email) return { reason: 'the email is gone' }
      const signing = await signingOf(email)
      if (!signing) return { reason: deletedReason(email.fromDomain) }
      const ref = { emailId: delivery.emailId, ordinal: delivery.ordinal }
      const former = cache.take(ref) ?? (await formerSignatures(find, ref, delivery.attempt))
      const message = email.messageFor(delivery)
      const { fields, signedAt, signatures } = await signHead(
        { message, ref, secrets },
        signing.keys,
        former,
        now,
        sign,
      )
      const head = Buffer.from(`${fieldsText(fields)}\r\n`)
      return {
        mailFrom: mailFromOf(secrets, email, ref, now),
        originalRecipient: email.originalOf?.(delivery.address),
        bytes: [head, message.body],
        sizeBytes: head.length + message.body.length,
        smtpUtf8: email.smtpUtf8,
        tls: messageTlsOf(email.tlsPreference, signing.tls),
        dueAt: email.dueAt,
        signedAt,
        signatures,
      }
    },
    hasRoom: cache.hasRoom,
    async signAhead(delivery, now) {
      const ref = { emailId: delivery.emailId, ordinal: delivery.ordinal }
      if (cache.has(ref)) return false
      const email = await composed.of(delivery)
      const signing = email && (await signingOf(email))
      if (!signing || signing.keys.length === 0) return false
      const message = email.messageFor(delivery)
      const made = await signHead({ message, ref, secrets }, signing.keys, undefined, now, sign)
      const { signedAt, signatures, digests } = made
      cache.put(ref, { signedAt, signatures: signatures!, digests: digests!() })
      return true
    },
  }
}

function createComposedEmails(find: Find, composeEmail: (source: EmailSource) => Promise<Composed>) {
  const bodies = new BoundedMap<string, Composed>(CACHED_EMAILS_MAX)
  const readSource = createEmailSources(find)
  return {
    async memoryOf(delivery: Delivery): Promise<number> {
      const { accountId, emailId } = delivery
      if (bodies.has(idKey(emailId))) return 0
      delivery.source ??= await readSource(accountId, emailId)
      return delivery.source ? memoryOf(find, delivery.source) : 0
    },
    /** Composes the email of a delivery. Returns undefined when the email is gone. */
    async of({ accountId, emailId, source: atHand }: Delivery): Promise<Composed | undefined> {
      const key = idKey(emailId)
      const known = bodies.get(key)
      if (known) return known
      const source = atHand ?? (await readSource(accountId, emailId))
      if (!source) return undefined
      const fresh = await composeEmail(source)
      if (source.recipientCount > 1 && fresh.sizeBytes <= CACHED_EMAIL_BYTES_MAX) bodies.set(key, fresh)
      return fresh
    },
  }
}

/** A file is in memory as it is stored and in base64; a page as characters of two bytes and encoded. */
const MEMORY_PER_BYTE = { attachment: 2.4, content: 4 }

async function memoryOf(find: Find, { raw, attachments, content }: EmailSource): Promise<number> {
  if (raw !== null) {
    const [blob] = await find('blobs', [{ hash: raw }], ['sizeBytes'])
    return blob?.sizeBytes ?? 0
  }
  const characters = (content.html?.length ?? 0) + (content.text?.length ?? 0)
  const fileBytes = storedAttachments(attachments).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  return fileBytes * MEMORY_PER_BYTE.attachment + characters * MEMORY_PER_BYTE.content
}

/** Returns the signatures of the previous attempt. */
async function formerSignatures(
  find: Find,
  ref: DeliveryRef,
  attempt = 1,
): Promise<MadeSignatures | undefined> {
  if (attempt === 1) return undefined
  const [row] = await find('deliveries', [ref], ['signedAt', 'signatures'])
  return row && row.signedAt !== null && row.signatures !== null
    ? { signedAt: row.signedAt, signatures: JSON.parse(row.signatures) as StoredSignature[] }
    : undefined
}

/** Returns the return path with the token of the delivery, or the null sender of a notification. */
function mailFromOf(secrets: SecretKeys, email: Composed, ref: DeliveryRef, now: number): string {
  return email.hasNullSender ? '' : returnPath(createRefToken(secrets, 'verp', ref, now), email.fromDomain)
}

const UNSIGNED: SigningDomain = { keys: [], tls: 'opportunistic' }
