/** Shared parts of the broadcast commands: locking and changing the row, and refusals. */

import type { Id } from '../../lib/ids.ts'
import { isBanned, listDomainBans } from '../../resources/domains/banned.ts'
import { acceptsMail, SENDING_COLUMNS, whyNotSent } from '../../resources/domains/status.ts'
import { senderDomain } from '../../resources/emails/email-rows.ts'
import { LINKING } from '../../resources/emails/link-terms.ts'
import type { EmailText } from '../../resources/templates/compile.ts'
import { tagFault } from '../../resources/templates/limits.ts'
import { unsupportedTag } from '../../resources/templates/unsupported.ts'
import type { Tx } from '../../store/model/command.ts'
import { findOwn, type OwnKey } from '../../store/model/own-row.ts'
import type { BroadcastRow, BroadcastStatus, Db, DomainRow } from '../../store/model/schema.ts'
import { ACCOUNT_SUSPENDED, type Refusal, refuseBanned, refuseField } from '../accept/refusal.ts'
import { BROADCAST_DUE } from './broadcast-rows.ts'
import { isStarter } from './starter.ts'

export type BroadcastKey = OwnKey

/** Locks the row until the commit. */
export async function lockBroadcast(
  { rows, db }: Tx,
  { accountId, id }: BroadcastKey,
): Promise<BroadcastRow | undefined> {
  const [known] = await rows.lock('broadcasts', [{ accountId, id }], ['id'])
  if (!known) return undefined
  return findOwn(db, 'broadcasts', { accountId, id })
}

/** Changes the row, and announces the time of its next step. */
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

/**
 * Refusal if the broadcast cannot be sent: no content, the starter text, tags that are not supported, a
 * suspended account, or an unverified domain.
 */
export async function refuseUnsendable(
  tx: Tx,
  accountId: Id,
  { sender, subject, html, text, previewText }: EmailText & { sender: string; previewText: string | null },
): Promise<Refusal | undefined> {
  if (!html && !text)
    return refuseField(
      'missing_field',
      'html',
      'Missing `html` or `text` field: the broadcast has no content.',
    )
  if (isStarter(html)) return UNTOUCHED
  const fault = tagFault({ subject, html, text })
  if (fault) return refuseField('invalid_field', fault.part, `\`${fault.part}\` ${fault.fault}.`)
  const inPreview = html === null ? undefined : unsupportedTag(previewText ?? '')
  if (inPreview) return refuseField('invalid_field', 'preview_text', `\`preview_text\` ${inPreview.fault}.`)
  const [account] = await tx.rows.find('accounts', [{ id: accountId }], ['suspendedAt'])
  if (typeof account?.suspendedAt === 'number') return ACCOUNT_SUSPENDED
  return refuseSender(tx.db, accountId, sender)
}

/** Refusal if no broadcast can be sent from the domain of the sender. */
export async function refuseSender(db: Db, accountId: Id, sender: string): Promise<Refusal | undefined> {
  const name = senderDomain(sender)
  if (isBanned(await listDomainBans(db), name)) return refuseBanned(name)
  const domain = await db
    .selectFrom('domains')
    .select(SENDING_COLUMNS)
    .where('accountId', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst()
  if (domain && acceptsMail(domain)) return undefined
  return refuseField('domain_not_verified', 'from', whyNotSent(name, domain))
}

const UNTOUCHED = refuseField(
  'invalid_field',
  'html',
  '`html` is still the starter text of the dashboard. Replace it before you send the broadcast.',
)

const SENDING = ['id', 'region', ...SENDING_COLUMNS, ...LINKING] as const
type SendingDomain = Pick<DomainRow, (typeof SENDING)[number]>

/** Returns the domain of the sender; undefined when it may not send. */
export async function findSendingDomain(
  tx: Tx,
  accountId: Id,
  sender: string,
): Promise<SendingDomain | undefined> {
  const key = { accountId, name: senderDomain(sender) }
  const [domain] = await tx.rows.find('domains', [key], SENDING)
  return domain && acceptsMail(domain) ? domain : undefined
}
