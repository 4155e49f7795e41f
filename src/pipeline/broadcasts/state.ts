/**
 * What the commands of broadcasts share: the row they are about, and why something cannot be done with it
 * now.
 */

import type { Id } from '../../lib/ids.ts'
import { maySend } from '../../resources/domains/status.ts'
import { parseStoredMailboxes } from '../../resources/emails/email-rows.ts'
import { LINKING } from '../../resources/emails/link-terms.ts'
import type { Tx } from '../../store/command.ts'
import type { BroadcastRow, BroadcastStatus, DomainRow } from '../../store/schema.ts'
import { type Refusal, refuseField } from '../accept/refusal.ts'
import { BROADCAST_DUE } from './broadcast-rows.ts'
import { isStarter } from './starter.ts'

export interface BroadcastKey {
  accountId: Id
  id: Id
}

/** Until the commit nobody else changes it. */
export async function lockBroadcast(
  { rows, db }: Tx,
  { accountId, id }: BroadcastKey,
): Promise<BroadcastRow | undefined> {
  const [known] = await rows.lock('broadcasts', [{ accountId, id }], ['id'])
  if (!known) return undefined
  return db
    .selectFrom('broadcasts')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Whoever does what is to be done hears of it. */
export async function setBroadcast(
  tx: Tx,
  { accountId, id }: BroadcastKey,
  set: Partial<Omit<BroadcastRow, 'accountId' | 'id'>>,
): Promise<void> {
  await tx.rows.update('broadcasts', ['accountId', 'id'], [{ ...set, accountId, id }])
  if (set.nextAt !== undefined && set.nextAt !== null) tx.announce(BROADCAST_DUE, set.nextAt)
}

export function wrongState(done: string, status: BroadcastStatus): Refusal {
  return {
    refused: 'wrong_state',
    message: `A broadcast that is ${WORDS[status]} cannot be ${done}.`,
  }
}

const WORDS: Record<BroadcastStatus, string> = {
  draft: 'a draft',
  scheduled: 'scheduled',
  sending: 'being sent',
  paused: 'paused',
  sent: 'sent',
  canceled: 'canceled',
  failed: 'failed',
}

/** What a broadcast lacks to be sent. */
export async function refuseUnsendable(
  tx: Tx,
  accountId: Id,
  { sender, html, text }: { sender: string; html: string | null; text: string | null },
): Promise<Refusal | undefined> {
  if (html === null && text === null)
    return refuseField('missing_field', 'html', 'Missing `html` or `text` field: there is nothing to send.')
  if (isStarter(html)) return UNTOUCHED
  if (await findSendingDomain(tx, accountId, sender)) return undefined
  const name = domainOf(sender)
  return refuseField(
    'domain_not_verified',
    'from',
    `The ${name} domain is not verified. Add it, check its DNS records and verify it before sending from it.`,
  )
}

const UNTOUCHED = refuseField(
  'invalid_field',
  'html',
  'The `html` field still is the starter text of the dashboard. Replace it with your own before you send the broadcast.',
)

const SENDING = ['id', 'status', 'region', ...LINKING] as const
type SendingDomain = Pick<DomainRow, (typeof SENDING)[number]>

/** The domain a broadcast is sent from; undefined where it may not be. */
export async function findSendingDomain(
  tx: Tx,
  accountId: Id,
  sender: string,
): Promise<SendingDomain | undefined> {
  const key = { accountId, name: domainOf(sender) }
  const [domain] = await tx.rows.find('domains', [key], SENDING)
  return domain && maySend(domain.status) ? domain : undefined
}

export function domainOf(sender: string): string {
  return parseStoredMailboxes(sender)[0]!.domain
}
