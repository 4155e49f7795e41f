/** The message of one delivery: the email's body, composed once and kept a while, and the delivery's own signed head. */
import type { SigningKey } from '../dkim/keys.ts'
import { signMessage } from '../dkim/signature.ts'
import { deletedReason } from '../domains/deleted.ts'
import { type Id, idKey } from '../lib/ids.ts'
import type { SecretKeys } from '../lib/secret-keys.ts'
import { type HeaderField, serializeFields } from '../smtp/header-field.ts'
import { createRefToken, type DeliveryRef, returnPath } from '../smtp/verp.ts'
import type { BlobFiles } from '../store/blobs.ts'
import { createEmailSources, type EmailSource } from '../store/email-source.ts'
import type { Find } from '../store/read.ts'
import type { Db } from '../store/schema.ts'
import { type Composed, createComposer } from './composed.ts'
import type { KeyRing, SigningDomain } from './key-ring.ts'
import type { MessageTls } from './policy/way.ts'
import { messageTlsOf } from './policy/wish.ts'

export interface OutgoingMessage {
  mailFrom: string
  /** Head and body, CRLF lines. */
  bytes: Buffer[]
  sizeBytes: number
  smtpUtf8: boolean
  /** What is asked of the connection it goes over. */
  tls: MessageTls
  /** When it was to be sent first: accepted, or scheduled. Epoch ms, the `Date` field. */
  dueAt: number
  /** Epoch ms, the `t=` of the signatures. */
  signedAt: number
  /** JSON `[{keyId, bytes}]`, base64; null for an unsigned message. */
  signatures: string | null
}

/** As kept in the `signatures` of a delivery. */
export interface StoredSignature {
  keyId: string
  /** Base64. */
  bytes: string
}

/** Why no message can be made of an email that was accepted. */
export interface NoMessage {
  reason: string
}

type Delivery = DeliveryRef & { accountId: Id; source?: EmailSource }

export interface MessageMaker {
  /** @param delivery with the email itself, where it is at hand; else it is read */
  make(delivery: Delivery, now: number): Promise<OutgoingMessage | NoMessage>
}

interface MessageOptions {
  db: Db
  find: Find
  blobs: BlobFiles
  secrets: SecretKeys
  keyRing: KeyRing
}

export const CORRELATION_HEADER = 'X-Posthorn-Ref'
const KEPT_EMAILS = 32
const LARGEST_KEPT_BYTES = 1024 * 1024

export function createMessageMaker({ db, find, blobs, secrets, keyRing }: MessageOptions): MessageMaker {
  const kept = new Map<string, Composed>()
  const readSource = createEmailSources(find)
  const composeEmail = createComposer({ db, blobs })

  const composed = async ({
    accountId,
    emailId,
    source: atHand,
  }: Delivery): Promise<Composed | undefined> => {
    const key = idKey(emailId)
    const known = kept.get(key)
    if (known) return known
    const source = atHand ?? (await readSource(accountId, emailId))
    if (!source) return undefined
    const fresh = await composeEmail(source)
    if (source.recipientCount > 1 && fresh.body.length <= LARGEST_KEPT_BYTES) {
      if (kept.size >= KEPT_EMAILS) kept.delete(kept.keys().next().value!)
      kept.set(key, fresh)
    }
    return fresh
  }

  return {
    async make(delivery, now) {
      const email = await composed(delivery)
      if (!email) return { reason: 'the email is gone' }
      const signing =
        email.domainId === null ? UNSIGNED : await keyRing.keysOf(email.domainId, email.fromDomain)
      if (!signing) return { reason: deletedReason(email.fromDomain) }
      const ref = { emailId: delivery.emailId, ordinal: delivery.ordinal }
      const correlation = createRefToken(secrets, 'correlation', ref, now)
      const unsigned = [...email.fields, { name: CORRELATION_HEADER, value: correlation }]
      const signed = await sign(unsigned, email.bodyHash, signing.keys, now)
      const head = Buffer.concat([serializeFields([...signed.fields, ...unsigned]), CRLF])
      return {
        mailFrom: returnPath(createRefToken(secrets, 'verp', ref, now), email.fromDomain),
        bytes: [head, email.body],
        sizeBytes: head.length + email.body.length,
        smtpUtf8: email.smtpUtf8,
        tls: messageTlsOf(email.tlsWish, signing.tls),
        dueAt: email.dueAt,
        signedAt: now,
        signatures: signed.stored,
      }
    },
  }
}

const UNSIGNED: SigningDomain = { keys: [], tls: 'opportunistic' }
const CRLF = Buffer.from('\r\n')

async function sign(
  fields: readonly HeaderField[],
  hash: string,
  keys: readonly (SigningKey & { keyId: string })[],
  now: number,
): Promise<{ fields: HeaderField[]; stored: string | null }> {
  if (keys.length === 0) return { fields: [], stored: null }
  const signatures = await signMessage(fields, hash, keys, now)
  const stored: StoredSignature[] = signatures.map(({ key, bytes }) => ({
    keyId: key.keyId,
    bytes: bytes.toString('base64'),
  }))
  return { fields: signatures.map(({ field }) => field), stored: JSON.stringify(stored) }
}
