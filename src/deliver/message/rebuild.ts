/**
 * A delivery's message as it was sent, made again from what is stored: the message itself is not. Its own signatures
 * tell whether that has succeeded.
 */
import { signatureField, signatureHolds } from '../../dkim/signature.ts'
import { type Id, parseWireId } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { type HeaderField, serializeFields } from '../../smtp/header-field.ts'
import { findKeyFacts } from '../../store/accounts/domains.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import { readEmailSource } from '../../store/mail/email-source.ts'
import type { Find } from '../../store/read.ts'
import type { Db, DeliveryRow } from '../../store/schema.ts'
import { createComposer } from './composed.ts'
import { type StoredSignature, unsignedFields } from './signed-head.ts'

/**
 * `exact`: as the last attempt that has ended sent it, and its signatures hold.
 * `unsigned`: likewise, but it was not signed, so that nothing proves it.
 * `not-sent`: no attempt has ended; as it would be, without what an attempt adds.
 * `inexact`: a key is gone, or the signatures do not hold, as after a change of the composer.
 */
export const FIDELITIES = ['exact', 'unsigned', 'not-sent', 'inexact'] as const
export type Fidelity = (typeof FIDELITIES)[number]

export interface RebuiltMessage {
  fidelity: Fidelity
  /** With the empty line at its end. */
  head: Buffer
  body: Buffer
}

interface RebuildParts {
  db: Db
  find: Find
  blobs: BlobFiles
  secrets: SecretKeys
}

interface DeliveryName {
  accountId: Id
  emailId: Id
  ordinal: number
}

/** Undefined when the account has no such delivery (any more). */
export async function rebuildMessage(
  parts: RebuildParts,
  { accountId, emailId, ordinal }: DeliveryName,
): Promise<RebuiltMessage | undefined> {
  const { find, secrets } = parts
  const source = await readEmailSource(find, accountId, emailId)
  const [delivery] = source
    ? await find('deliveries', [{ emailId, ordinal }], ['address', 'signedAt', 'signatures'])
    : []
  if (!source || !delivery) return undefined
  const email = await createComposer(parts)(source)
  const message = email.messageFor({ ordinal, address: delivery.address })
  const { signedAt } = delivery
  if (signedAt === null) return messageOf('not-sent', message.fields, message.body)
  const fields = unsignedFields({ message, ref: { emailId, ordinal }, secrets }, signedAt)
  const signed = { domain: email.fromDomain, bodyHash: message.bodyHash, fields }
  const { fidelity, signatures } = await signaturesOf(parts.db, { ...delivery, signedAt }, signed)
  return messageOf(fidelity, [...signatures, ...fields], message.body)
}

function messageOf(fidelity: Fidelity, fields: readonly HeaderField[], body: Buffer): RebuiltMessage {
  return { fidelity, head: Buffer.concat([serializeFields([...fields]), Buffer.from('\r\n')]), body }
}

/** The DKIM-Signature fields; that of a key which is gone cannot be made. */
async function signaturesOf(
  db: Db,
  { signedAt, signatures }: Pick<DeliveryRow, 'signatures'> & { signedAt: number },
  { domain, bodyHash, fields }: { domain: string; bodyHash: string; fields: readonly HeaderField[] },
): Promise<{ fidelity: Fidelity; signatures: HeaderField[] }> {
  if (signatures === null) return { fidelity: 'unsigned', signatures: [] }
  const made: HeaderField[] = []
  let fidelity: Fidelity = 'exact'
  for (const { keyId, bytes: text } of JSON.parse(signatures) as StoredSignature[]) {
    const key = await findKeyFacts(db, parseWireId('key', keyId)!)
    if (!key) {
      fidelity = 'inexact'
      continue
    }
    const { token: selector, algorithm, publicKey } = key
    const identity = { domain, selector, algorithm, publicKey }
    const bytes = Buffer.from(text, 'base64')
    if (!signatureHolds(fields, bodyHash, identity, signedAt, bytes)) fidelity = 'inexact'
    made.push(signatureField(fields, bodyHash, identity, signedAt, bytes))
  }
  return { fidelity, signatures: made }
}
