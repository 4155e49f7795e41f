/**
 * Signed tokens of pixels and links. The token of a link contains its target, so that the link works as long
 * as the installation has its key, even after the email was deleted. Because of the signature it is no open
 * redirect.
 */
import type { Id } from '../../lib/ids.ts'
import { equalBytes, type SecretKeys } from '../../lib/secret-keys.ts'
import type { DeliveryRef } from '../../protocols/smtp/verp.ts'
import { TARGET_LENGTH_MAX } from './find-links.ts'

export interface TokenRecipient extends DeliveryRef {
  accountId: Id
}

export interface ClickedLink {
  recipient: TokenRecipient
  /** Index in the page or its template, from 0 to `LINK_NUMBER_MAX`; null when identified by its target. */
  number: number | null
  target: string
}

const VERSION = 1
const OPEN = 1
const CLICK = 2
const ACCOUNT_AT = 2
const EMAIL_AT = 18
const ORDINAL_AT = 34
const NUMBER_AT = 35
const TARGET_AT = 37
const OPEN_BYTES = NUMBER_AT
const MAC_BYTES = 16
const BY_TARGET = 0xffff
const TOKEN_LENGTH_MAX = Math.ceil(((TARGET_AT + TARGET_LENGTH_MAX + MAC_BYTES) * 4) / 3)

/** A token, and text that begins with a character that no token has. NUL is in no text. */
const COPIED = /^([\w-]*)[^\w\0-][^\0]*$/
/**
 * Returns the token at the start of the last segment of a link. What follows it, such as a full stop or a
 * bracket, was copied out of the text around the link.
 */
export function tokenOf(segment: string): string {
  return COPIED.exec(segment)?.[1] ?? segment
}

/** @returns base64url, like all tokens in this file */
export function createOpenToken(keys: SecretKeys, recipient: TokenRecipient): string {
  return signed(keys, headOf(OPEN, recipient, OPEN_BYTES))
}

/** The target must be printable ASCII of at most `TARGET_LENGTH_MAX` octets. */
export function createClickToken(
  keys: SecretKeys,
  recipient: TokenRecipient,
  { number, target }: Pick<ClickedLink, 'number' | 'target'>,
): string {
  const bytes = headOf(CLICK, recipient, TARGET_AT + target.length)
  bytes.writeUInt16BE(number ?? BY_TARGET, NUMBER_AT)
  bytes.write(target, TARGET_AT, 'latin1')
  return signed(keys, bytes)
}

/** Undefined when the token is invalid. */
export function readOpenToken(keys: SecretKeys, token: string): TokenRecipient | undefined {
  const bytes = verified(keys, token, OPEN)
  return bytes?.length === OPEN_BYTES ? recipientOf(bytes) : undefined
}

/** Undefined when the token is invalid. */
export function readClickToken(keys: SecretKeys, token: string): ClickedLink | undefined {
  const bytes = verified(keys, token, CLICK)
  if (!bytes || bytes.length <= TARGET_AT) return undefined
  const number = bytes.readUInt16BE(NUMBER_AT)
  return {
    recipient: recipientOf(bytes),
    number: number === BY_TARGET ? null : number,
    target: bytes.toString('latin1', TARGET_AT),
  }
}

function headOf(kind: number, { accountId, emailId, ordinal }: TokenRecipient, sizeBytes: number): Buffer {
  const bytes = Buffer.alloc(sizeBytes)
  bytes[0] = VERSION
  bytes[1] = kind
  bytes.set(accountId, ACCOUNT_AT)
  bytes.set(emailId, EMAIL_AT)
  bytes[ORDINAL_AT] = ordinal
  return bytes
}

function recipientOf(bytes: Buffer): TokenRecipient {
  return {
    accountId: new Uint8Array(bytes.subarray(ACCOUNT_AT, EMAIL_AT)),
    emailId: new Uint8Array(bytes.subarray(EMAIL_AT, ORDINAL_AT)),
    ordinal: bytes[ORDINAL_AT]!,
  }
}

function signed(keys: SecretKeys, bytes: Buffer): string {
  return Buffer.concat([bytes, macOf(keys, bytes)]).toString('base64url')
}

/** Returns the signed bytes; undefined when the signature, version or kind is wrong. */
function verified(keys: SecretKeys, token: string, kind: number): Buffer | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length < OPEN_BYTES + MAC_BYTES || bytes.toString('base64url') !== token) return undefined
  const content = bytes.subarray(0, -MAC_BYTES)
  const isValid = equalBytes(bytes.subarray(-MAC_BYTES), macOf(keys, content))
  return isValid && content[0] === VERSION && content[1] === kind ? content : undefined
}

function macOf(keys: SecretKeys, bytes: Buffer): Buffer {
  return keys.mac('tracking', bytes).subarray(0, MAC_BYTES)
}
