/** Signed tokens that stand for one attachment until a time: whoever has one gets the file, without a credential. */
import type { Id } from '../lib/ids.ts'
import { equalBytes, type SecretKeys } from '../lib/secret-keys.ts'

export interface FileRef {
  accountId: Id
  emailId: Id
  attachmentId: Id
}

const VERSION = 1
/** What the ids that follow belong to; other files than attachments of emails get kinds of their own. */
const EMAIL_ATTACHMENT = 1
const ACCOUNT_AT = 2
const EMAIL_AT = 18
const ATTACHMENT_AT = 34
const EXPIRY_AT = 50
const EXPIRY_BYTES = 6
const MAC_AT = EXPIRY_AT + EXPIRY_BYTES
const TOKEN_BYTES = MAC_AT + 32

/** @param expiresAt epoch ms. @returns base64url */
export function createDownloadToken(secrets: SecretKeys, ref: FileRef, expiresAt: number): string {
  const bytes = Buffer.alloc(TOKEN_BYTES)
  bytes[0] = VERSION
  bytes[1] = EMAIL_ATTACHMENT
  bytes.set(ref.accountId, ACCOUNT_AT)
  bytes.set(ref.emailId, EMAIL_AT)
  bytes.set(ref.attachmentId, ATTACHMENT_AT)
  bytes.writeUIntBE(expiresAt, EXPIRY_AT, EXPIRY_BYTES)
  bytes.set(secrets.mac('download', bytes.subarray(0, MAC_AT)), MAC_AT)
  return bytes.toString('base64url')
}

/** What a token stands for, also when its time is over; undefined when it is not one of ours. */
export function readDownloadToken(
  secrets: SecretKeys,
  token: string,
): (FileRef & { expiresAt: number }) | undefined {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== TOKEN_BYTES || bytes.toString('base64url') !== token) return undefined
  if (bytes[0] !== VERSION || bytes[1] !== EMAIL_ATTACHMENT) return undefined
  if (!equalBytes(bytes.subarray(MAC_AT), secrets.mac('download', bytes.subarray(0, MAC_AT))))
    return undefined
  return {
    accountId: new Uint8Array(bytes.subarray(ACCOUNT_AT, EMAIL_AT)),
    emailId: new Uint8Array(bytes.subarray(EMAIL_AT, ATTACHMENT_AT)),
    attachmentId: new Uint8Array(bytes.subarray(ATTACHMENT_AT, EXPIRY_AT)),
    expiresAt: bytes.readUIntBE(EXPIRY_AT, EXPIRY_BYTES),
  }
}
