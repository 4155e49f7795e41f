/**
 * Signed tokens of pixels and links. The token of a link contains its target, so that the link works as long
 * as the installation has its key, even after the email was deleted. Because of the signature it is no open
 * redirect.
 */
import type { Id } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { numberField, signToken, type TokenFields, verifyToken } from '../../lib/signed-token.ts'
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
const VIEW = 3
const FORMAT = { purpose: 'tracking', macBytes: 16, text: 'base64url' } as const
/** Version, kind, recipient and number of a link. */
const HEAD_BYTES = 37
const BY_TARGET = 0xffff
const TOKEN_LENGTH_MAX = Math.ceil(((HEAD_BYTES + TARGET_LENGTH_MAX + FORMAT.macBytes) * 4) / 3)

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
  return signToken(keys, FORMAT, headOf(OPEN, recipient))
}

/** Creates the token of the link that shows an email in the browser. */
export function createViewToken(keys: SecretKeys, recipient: TokenRecipient): string {
  return signToken(keys, FORMAT, headOf(VIEW, recipient))
}

/** The target must be printable ASCII of at most `TARGET_LENGTH_MAX` octets. */
export function createClickToken(
  keys: SecretKeys,
  recipient: TokenRecipient,
  { number, target }: Pick<ClickedLink, 'number' | 'target'>,
): string {
  const head = headOf(CLICK, recipient)
  return signToken(keys, FORMAT, [...head, numberField(number ?? BY_TARGET, 2), Buffer.from(target)])
}

/** Undefined when the token is invalid. */
export function readOpenToken(keys: SecretKeys, token: string): TokenRecipient | undefined {
  const fields = verified(keys, token, OPEN)
  return fields && recipientOf(fields)
}

/** Undefined when the token is invalid. */
export function readViewToken(keys: SecretKeys, token: string): TokenRecipient | undefined {
  const fields = verified(keys, token, VIEW)
  return fields && recipientOf(fields)
}

/** Undefined when the token is invalid. */
export function readClickToken(keys: SecretKeys, token: string): ClickedLink | undefined {
  const fields = verified(keys, token, CLICK)
  if (!fields) return undefined
  const recipient = recipientOf(fields)
  const number = fields.number(2)
  return { recipient, number: number === BY_TARGET ? null : number, target: fields.text() }
}

function headOf(kind: number, { accountId, emailId, ordinal }: TokenRecipient): Uint8Array[] {
  return [Buffer.of(VERSION, kind), accountId, emailId, numberField(ordinal, 1)]
}

function recipientOf(fields: TokenFields): TokenRecipient {
  return { accountId: fields.id(), emailId: fields.id(), ordinal: fields.number(1) }
}

/** Returns the fields after the kind; undefined when the signature, version or kind is wrong. */
function verified(keys: SecretKeys, token: string, kind: number): TokenFields | undefined {
  const fields = token.length > TOKEN_LENGTH_MAX ? undefined : verifyToken(keys, FORMAT, token)
  return fields?.number(1) === VERSION && fields.number(1) === kind ? fields : undefined
}
