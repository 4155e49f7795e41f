/**
 * Tokens that unsubscribe an address from a topic, or from all lists of an account. The token of a link
 * contains all data and never expires. The token of a mailto address has room for the id of a delivery only.
 */
import type { Id } from '../../lib/ids.ts'
import type { SecretKeys } from '../../lib/secret-keys.ts'
import { bytesOfBase64url, numberField, signToken, TokenFields, verifyToken } from '../../lib/signed-token.ts'
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
  /** Domain of the sender, for an email that belongs to no broadcast. Former links do not have it. */
  senderDomain?: string | undefined
}

const LINK_VERSION = 1
const MAIL_VERSION = 2
const HAS_TOPIC = 1
const HAS_BROADCAST = 2
const HAS_SENDER = 4
/** More than the token of the longest address and domain. */
const TOKEN_LENGTH_MAX = 1_024
const MAIL_FORMAT = { purpose: 'unsubscribe', macBytes: 16, text: 'base32' } as const

/**
 * The token is encrypted, because URLs with addresses appear in logs of other servers. The same subscription
 * gives the same token.
 * @returns base64url
 */
export function createUnsubscribeToken(
  keys: SecretKeys,
  { accountId, address, topicId, broadcastId, senderDomain }: Subscription,
): string {
  const sender = senderDomain === undefined ? null : Buffer.from(senderDomain)
  const flags = (topicId ? HAS_TOPIC : 0) | (broadcastId ? HAS_BROADCAST : 0) | (sender ? HAS_SENDER : 0)
  const parts = [
    ...[Buffer.of(LINK_VERSION, flags), accountId, topicId, broadcastId],
    ...[sender && numberField(sender.length, 1), sender, Buffer.from(address)],
  ]
  const plain = Buffer.concat(parts.filter(part => part !== null))
  return keys.wrap('unsubscribe', plain).toString('base64url')
}

/** Undefined when the token is invalid. */
export function readUnsubscribeToken(keys: SecretKeys, token: string): Subscription | undefined {
  if (token.length > TOKEN_LENGTH_MAX) return undefined
  const box = bytesOfBase64url(token)
  const plain = box && keys.unwrap('unsubscribe', box)
  const fields = plain && new TokenFields(plain)
  if (fields?.number(1) !== LINK_VERSION) return undefined
  const flags = fields.number(1)
  return {
    accountId: fields.id(),
    topicId: flags & HAS_TOPIC ? fields.id() : null,
    broadcastId: flags & HAS_BROADCAST ? fields.id() : null,
    ...(flags & HAS_SENDER && { senderDomain: fields.text(fields.number(1)) }),
    address: fields.text(),
  }
}

/** @returns 55 characters of lower-case base32; the reader ignores case */
export function createMailToken(keys: SecretKeys, { emailId, ordinal }: DeliveryRef): string {
  return signToken(keys, MAIL_FORMAT, [numberField(MAIL_VERSION, 1), emailId, numberField(ordinal, 1)])
}

/** Undefined when the token is invalid. */
export function readMailToken(keys: SecretKeys, token: string): DeliveryRef | undefined {
  const fields = verifyToken(keys, MAIL_FORMAT, token)
  return fields?.number(1) === MAIL_VERSION ? { emailId: fields.id(), ordinal: fields.number(1) } : undefined
}
