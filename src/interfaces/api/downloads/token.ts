/**
 * Creates and reads signed download tokens. A token gives access to one file until its expiry, without a
 * credential.
 */
import type { Id } from '../../../lib/ids.ts'
import { equalBytes, type SecretKeys } from '../../../lib/secret-keys.ts'

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
const ACCOUNT_AT = 2
const OWNER_AT = 18
const FILE_AT = 34
const EXPIRY_AT = 50
const EXPIRY_BYTES = 6
const MAC_AT = EXPIRY_AT + EXPIRY_BYTES
const TOKEN_BYTES = MAC_AT + 32

/**
 * @param expiresAt in ms since the epoch
 * @returns base64url
 */
export function createDownloadToken(secrets: SecretKeys, ref: FileRef, expiresAt: number): string {
  const bytes = Buffer.alloc(TOKEN_BYTES)
  bytes[0] = VERSION
  bytes[1] = KINDS[ref.kind]
  bytes.set(ref.accountId, ACCOUNT_AT)
  bytes.set(ref.ownerId, OWNER_AT)
  bytes.set(ref.fileId, FILE_AT)
  bytes.writeUIntBE(expiresAt, EXPIRY_AT, EXPIRY_BYTES)
  bytes.set(secrets.mac('download', bytes.subarray(0, MAC_AT)), MAC_AT)
  return bytes.toString('base64url')
}

/** Reads a token, including an expired one. Returns undefined if the signature is not valid. */
export function readDownloadToken(
  secrets: SecretKeys,
  token: string,
): (FileRef & { expiresAt: number }) | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined
  const kind = (Object.keys(KINDS) as FileRef['kind'][]).find(name => KINDS[name] === bytes[1])
  if (bytes[0] !== VERSION || kind === undefined) return undefined
  if (!equalBytes(bytes.subarray(MAC_AT), secrets.mac('download', bytes.subarray(0, MAC_AT))))
    return undefined
  return {
    kind,
    accountId: new Uint8Array(bytes.subarray(ACCOUNT_AT, OWNER_AT)),
    ownerId: new Uint8Array(bytes.subarray(OWNER_AT, FILE_AT)),
    fileId: new Uint8Array(bytes.subarray(FILE_AT, EXPIRY_AT)),
    expiresAt: bytes.readUIntBE(EXPIRY_AT, EXPIRY_BYTES),
  }
}
