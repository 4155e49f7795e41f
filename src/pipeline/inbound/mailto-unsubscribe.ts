/**
 * Handles mail to a `List-Unsubscribe` mailto address: the recipient is unsubscribed, whatever the mail says.
 */

import type { SecretKeys } from '../../lib/secret-keys.ts'
import { isAutoSubmitted } from '../../protocols/bounces/sender.ts'
import { readHead } from '../../protocols/mime/read/head.ts'
import { foldAddress } from '../../protocols/smtp/address.ts'
import type { Tx } from '../../store/model/command.ts'
import type { ReportRow } from '../../store/model/schema/reports.ts'
import { leaveLists, type PreferenceResult } from '../tracking/preferences.ts'
import { readUnsubscribeToken, type Subscription } from '../tracking/unsubscribe-token.ts'

export interface UnsubscribeMail {
  /** The delivery that the unsubscribe address was made for. */
  ref: { emailId: Uint8Array; ordinal: number }
  /** Subscription from the token in the subject, for the case that the email has been deleted. */
  spare: Subscription | undefined
}

const HEADER_BYTES_MAX = 64 * 1024
const TOKEN = /[\w-]{40,1024}/g

/** @returns undefined for automatic mail: a bounce or an automatic response (RFC 3834 §5) */
export function readUnsubscribeMail(
  { sender, emailId, ordinal }: Pick<ReportRow, 'sender' | 'emailId' | 'ordinal'>,
  bytes: Uint8Array,
  secrets: SecretKeys,
): UnsubscribeMail | undefined {
  const { head } = readHead(
    Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEADER_BYTES_MAX)),
  )
  if (sender === '' || isAutoSubmitted(head.raw('auto-submitted'))) return undefined
  const words = (head.text('subject') ?? '').replace(/\s/g, '').match(TOKEN) ?? []
  const spare = words.map(word => readUnsubscribeToken(secrets, word)).find(token => token !== undefined)
  return { ref: { emailId: emailId!, ordinal: ordinal! }, spare }
}

/**
 * Runs within a command. @returns undefined when neither the email nor the subject identifies the
 * subscription
 */
export async function unsubscribeByMail(
  tx: Tx,
  { ref, spare }: UnsubscribeMail,
  at: number,
): Promise<PreferenceResult | undefined> {
  const subscription = (await subscriptionOf(tx, ref)) ?? spare
  return subscription && leaveLists(tx, { ...subscription, at })
}

async function subscriptionOf(
  tx: Tx,
  { emailId, ordinal }: UnsubscribeMail['ref'],
): Promise<Subscription | undefined> {
  const [delivery] = await tx.rows.find('deliveries', [{ emailId, ordinal }], ['accountId', 'address'])
  if (!delivery) return undefined
  const { accountId, address } = delivery
  const [email] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['broadcastId', 'topicId'])
  return email && { accountId, address: foldAddress(address), ...email }
}
