/**
 * Creates and reads signed download tokens. A token gives access to one file until its expiry, without a
 * credential.
 */
import type { Id } from '../../../lib/ids.ts'
import type { SecretKeys } from '../../../lib/secret-keys.ts'
import { numberField, signToken, verifyToken } from '../../../lib/signed-token.ts'

/** Kinds of files, with their number in the token. */
const KINDS = {
  'email-attachment': 1,
  'inbound-attachment': 2,
  'inbound-message': 3,
} as const

export interface FileRef {
  kind: keyof typeof KINDS
  accountId: Id
  /** Id of the email or the received message. */
  ownerId: Id
  /** Id of the attachment, or the owner's id for the message itself. */
  fileId: Id
}

const VERSION = 1
const EXPIRY_BYTES = 6
const FORMAT = { purpose: 'download', macBytes: 32, text: 'base64url' } as const

/**
 * @param expiresAt in ms since the epoch
 * @returns base64url
 */
export function createDownloadToken(secrets: SecretKeys, ref: FileRef, expiresAt: number): string {
  return signToken(secrets, FORMAT, [
    Buffer.of(VERSION, KINDS[ref.kind]),
    ref.accountId,
    ref.ownerId,
    ref.fileId,
    numberField(expiresAt, EXPIRY_BYTES),
  ])
}

/** Reads a token, including an expired one. Returns undefined if the signature is not valid. */
export function readDownloadToken(
  secrets: SecretKeys,
  token: string,
): (FileRef & { expiresAt: number }) | undefined {
  const fields = verifyToken(secrets, FORMAT, token)
  if (fields?.number(1) !== VERSION) return undefined
  const number = fields.number(1)
  const kind = (Object.keys(KINDS) as FileRef['kind'][]).find(name => KINDS[name] === number)
  return (
    kind && {
      kind,
      accountId: fields.id(),
      ownerId: fields.id(),
      fileId: fields.id(),
      expiresAt: fields.number(EXPIRY_BYTES),
    }
  )
}
