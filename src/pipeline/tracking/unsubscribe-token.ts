/**
 * Tokens that unsubscribe an address from a topic, or from all lists of an account. The token of a link
 * contains all data and never expires. The token of a mailto address has room for the id of a delivery only.
 */
import { fromBase32, toBase32 } from '../../lib/base32.ts'
import type { Id } from '../../lib/ids.ts'
import { equalBytes, type SecretKeys } from '../../lib/secret-keys.ts'
import type { DeliveryRef } from '../../protocols/smtp/verp.ts'

/** An address at an account, with the list that a link unsubscribes from. */
export interface Subscription {
  accountId: Id
  /** Folded address. */
  address: string
  /** Null for everything. */
  topicId: Id | null
  /** Broadcast that had the link and counts the unsubscribe. */
  broadcastId: Id | null
}

const LINK_VERSION = 1
const MAIL_VERSION = 2
const ID_BYTES = 16
const HAS_TOPIC = 1
const HAS_BROADCAST = 2
/** More than the token of the longest address. */
const TOKEN_LENGTH_MAX = 1_024

/**
 * The token is encrypted, because URLs with addresses appear in logs of other servers. The same subscription
 * gives the same token.
 * @returns base64url
 */
export function createUnsubscribeToken(
  keys: SecretKeys,
  { accountId, address, topicId, broadcastId }: Subscription,
): string {
  const flags = (topicId ? HAS_TOPIC : 0) | (broadcastId ? HAS_BROADCAST : 0)
  const parts = [Buffer.of(LINK_VERSION, flags), accountId, topicId, broadcastId, Buffer.from(address)]
  const plain = Buffer.concat(parts.filter(part => part !== null))
  return keys.wrap('unsubscribe', plain).toString('base64url')
}

/** Undefined when the token is invalid. */
export function readUnsubscribeToken(keys: SecretKeys, token: string): Subscription | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined
  const box = Buffer.from(token, 'base64url')
  if (box.toString('base64url') !== token) return undefined
  const plain = keys.unwrap('unsubscribe', box)
  if (!plain || plain[0] !== LINK_VERSION) return undefined
  const flags = plain[1]!
  let at = 2
  const nextId = (): Id => {
    at += ID_BYTES
    return new Uint8Array(plain.subarray(at - ID_BYTES, at))
  }
  return {
    accountId: nextId(),
    topicId: flags & HAS_TOPIC ? nextId() : null,
    broadcastId: flags & HAS_BROADCAST ? nextId() : null,
    address: plain.toString('utf8', at),
  }
}

const ORDINAL_AT = 1 + ID_BYTES
const MAC_AT = ORDINAL_AT + 1
const MAC_BYTES = 16
const MAIL_TOKEN_BYTES = MAC_AT + MAC_BYTES

/** @returns 55 characters of lower-case base32; the reader ignores case */
export function createMailToken(keys: SecretKeys, { emailId, ordinal }: DeliveryRef): string {
  const bytes = Buffer.alloc(MAIL_TOKEN_BYTES)
  bytes[0] = MAIL_VERSION
  bytes.set(emailId, 1)
  bytes[ORDINAL_AT] = ordinal
  bytes.set(mailMac(keys, bytes), MAC_AT)
  return toBase32(bytes)
}

/** Undefined when the token is invalid. */
export function readMailToken(keys: SecretKeys, token: string): DeliveryRef | undefined {
  const bytes = fromBase32(token)
  if (bytes?.length !== MAIL_TOKEN_BYTES || bytes[0] !== MAIL_VERSION) return undefined
  if (toBase32(bytes) !== token.toLowerCase()) return undefined
  if (!equalBytes(bytes.subarray(MAC_AT), mailMac(keys, bytes))) return undefined
  return { emailId: new Uint8Array(bytes.subarray(1, ORDINAL_AT)), ordinal: bytes[ORDINAL_AT]! }
}

function mailMac(keys: SecretKeys, bytes: Buffer): Buffer {
  return keys.mac('unsubscribe', bytes.subarray(0, MAC_AT)).subarray(0, MAC_BYTES)
}
