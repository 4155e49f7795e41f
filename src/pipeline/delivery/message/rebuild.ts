/**
 * Rebuilds the message of a delivery as it was sent. Messages are not stored; the stored signatures or their
 * fingerprint show whether the rebuilt message equals the sent one.
 */

import { type Id, parseWireId } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { loadSigningKey } from '../../../protocols/dkim/keys.ts'
import { signatureField, signatureHolds, signMessage } from '../../../protocols/dkim/signature.ts'
import { type HeaderField, serializeFields } from '../../../protocols/smtp/header-field.ts'
import { findKeyFacts, findKeysToProve } from '../../../resources/domains/domain-rows.ts'
import { dkimContext } from '../../../resources/domains/domains.ts'
import { readEmailSource } from '../../../resources/emails/email-source.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Db, DeliveryRow } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { createComposer } from './composed.ts'
import { entriesOf } from './signature-fingerprint.ts'
import { type StoredSignature, unsignedFields } from './signed-head.ts'

/**
 * `exact`: the message equals the one that the last finished attempt sent, as its signatures prove.
 * `unsigned`: the same, but without signatures nothing proves it. `not-sent`: no attempt has finished, and
 * the message lacks what an attempt adds. `inexact`: a key is missing or the signatures differ, for example
 * after a change of the composer.
 */
type Fidelity = 'exact' | 'unsigned' | 'not-sent' | 'inexact'

export interface RebuiltMessage {
  fidelity: Fidelity
  /** Header section with the empty line at its end. */
  head: Buffer
  body: Buffer
}

interface RebuildOptions {
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

/** @returns undefined when the account has no such delivery */
export async function rebuildMessage(
  options: RebuildOptions,
  { accountId, emailId, ordinal }: DeliveryName,
): Promise<RebuiltMessage | undefined> {
  const { find, secrets } = options
  const source = await readEmailSource(find, accountId, emailId)
  const [delivery] = source
    ? await find('deliveries', [{ emailId, ordinal }], ['address', 'signedAt', 'signatures', 'proof'])
    : []
  if (!source || !delivery) return undefined
  const email = await createComposer(options)(source)
  const message = email.messageFor({ ordinal, address: delivery.address })
  const { signedAt } = delivery
  if (signedAt === null) return messageOf('not-sent', message.fields, message.body)
  const fields = unsignedFields({ message, ref: { emailId, ordinal }, secrets }, signedAt)
  const signed = { domain: email.fromDomain, bodyHash: message.bodyHash, fields, signedAt }
  const { fidelity, signatures } =
    delivery.proof === null
      ? await signaturesOf(options.db, delivery, signed)
      : await signedAnew(options, { domainId: email.domainId, proof: delivery.proof }, signed)
  return messageOf(fidelity, [...signatures, ...fields], message.body)
}

function messageOf(fidelity: Fidelity, fields: readonly HeaderField[], body: Buffer): RebuiltMessage {
  return { fidelity, head: Buffer.concat([serializeFields([...fields]), Buffer.from('\r\n')]), body }
}

interface SignedParts {
  domain: string
  bodyHash: string
  fields: readonly HeaderField[]
  signedAt: number
}

interface Signatures {
  fidelity: Fidelity
  /** The DKIM-Signature fields. */
  signatures: HeaderField[]
}

/**
 * Signs again, and keeps the signatures that match the fingerprint. The signature of a deleted key cannot be
 * made again.
 */
async function signedAnew(
  { db, secrets }: RebuildOptions,
  { domainId, proof }: { domainId: Id | null; proof: Uint8Array },
  { domain, bodyHash, fields, signedAt }: SignedParts,
): Promise<Signatures> {
  const known = domainId === null ? [] : await findKeysToProve(db, domainId)
  const made: HeaderField[] = []
  const entries = entriesOf(proof)
  for (const { isBy, isOf } of entries)
    for (const { id, token, algorithm, privateKey } of known) {
      if (!isBy(id)) continue
      const pkcs8 = secrets.open(privateKey, dkimContext(token))
      const key = loadSigningKey({ domain, selector: token, algorithm }, pkcs8)
      const [signature] = await signMessage(fields, bodyHash, [key], signedAt)
      if (isOf(signature!.base64)) made.push(signature!.field)
    }
  return { fidelity: made.length === entries.length ? 'exact' : 'inexact', signatures: made }
}

/**
 * Verifies the signatures that are stored with the delivery, which is the case while it is retried, and for
 * deliveries of older versions.
 */
async function signaturesOf(
  db: Db,
  { signatures }: Pick<DeliveryRow, 'signatures'>,
  { domain, bodyHash, fields, signedAt }: SignedParts,
): Promise<Signatures> {
  if (signatures === null) return { fidelity: 'unsigned', signatures: [] }
  const made: HeaderField[] = []
  let fidelity: Fidelity = 'exact'
  for (const { keyId, bytes: base64 } of JSON.parse(signatures) as StoredSignature[]) {
    const key = await findKeyFacts(db, parseWireId('key', keyId)!)
    if (!key) {
      fidelity = 'inexact'
      continue
    }
    const { token: selector, algorithm, publicKey } = key
    const identity = { domain, selector, algorithm, publicKey }
    if (!signatureHolds(fields, bodyHash, identity, signedAt, base64)) fidelity = 'inexact'
    made.push(signatureField(fields, bodyHash, identity, signedAt, base64))
  }
  return { fidelity, signatures: made }
}
