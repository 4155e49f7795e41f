/** Scheduled emails enter the queue when their time has come: the command that lets them in. */
import { maySend } from '../domains/status.ts'
import { moveEmails, recordDeliveries } from '../events/record.ts'
import { type Id, sameId } from '../lib/ids.ts'
import { command, type Tx } from '../store/command.ts'
import { parseMailboxes } from '../store/emails.ts'
import { DELIVERY_STATE, type EmailRow } from '../store/schema.ts'

type DueEmail = Pick<EmailRow, 'accountId' | 'id' | 'sender' | 'domainId' | 'broadcastId'>

export const releaseCommands = {
  /**
   * Lets the scheduled emails in whose time has come, earliest first, at most `limit`; one whose domain may not send
   * any more fails instead. From then on they cannot be canceled.
   * @returns when the next one is due (epoch ms), or null when none is scheduled
   */
  releaseScheduled: command<{ now: number; limit: number }, number | null>(async (tx, { now, limit }) => {
    const due = await tx.db
      .selectFrom('emails')
      .select(['accountId', 'id', 'sender', 'domainId', 'broadcastId'])
      .where('status', '=', 'scheduled')
      .where('scheduledAt', '<=', now)
      .orderBy('scheduledAt')
      .limit(limit)
      .execute()
    const domains = await sendingDomains(tx, due)
    const good = due.filter((_, i) => domains[i] !== undefined)
    await moveEmails(
      tx,
      due.map(email => ({ email: { ...email, status: 'scheduled' }, set: { status: 'queued' } })),
    )
    await moveToPresentDomain(tx, due, domains)
    for (const lane of await tx.queue.release(
      good.map(({ id }) => id),
      now,
    ))
      tx.announce('due', { ...lane, at: now })
    for (const [i, email] of due.entries()) if (domains[i] === undefined) await fail(tx, email, now)
    const { nextAt } = await tx.db
      .selectFrom('emails')
      .select(eb => eb.fn.min('scheduledAt').as('nextAt'))
      .where('status', '=', 'scheduled')
      .executeTakeFirstOrThrow()
    return nextAt
  }),
}

/** The domain each email is sent from: null for one from no domain of ours, undefined where it may not send. */
async function sendingDomains(tx: Tx, emails: readonly DueEmail[]): Promise<(Id | null | undefined)[]> {
  const keys = emails.map(({ accountId, sender }) => ({ accountId, name: domainOf(sender) }))
  const rows = await tx.rows.find('domains', keys, ['id', 'status'])
  return emails.map(({ domainId }, i) => {
    if (domainId === null) return null
    const row = rows[i]
    return row && maySend(row.status) ? row.id : undefined
  })
}

/** A domain that was deleted and registered again has other keys. */
async function moveToPresentDomain(
  tx: Tx,
  emails: readonly DueEmail[],
  domains: readonly (Id | null | undefined)[],
) {
  const moved = emails.flatMap(({ accountId, id, domainId: former }, i) => {
    const domainId = domains[i]
    return domainId && former && !sameId(domainId, former) ? [{ accountId, id, domainId }] : []
  })
  await tx.rows.update('emails', ['accountId', 'id'], moved)
}

async function fail(tx: Tx, { accountId, id: emailId, sender }: DueEmail, at: number) {
  const reason = `The ${domainOf(sender)} domain is not verified any more.`
  const deliveries = await tx.db
    .selectFrom('deliveries')
    .select(['ordinal', 'address'])
    .where('emailId', '=', emailId)
    .where('state', '=', DELIVERY_STATE.scheduled)
    .execute()
  await recordDeliveries(
    tx,
    deliveries.map(({ ordinal, address: recipient }) => ({
      accountId,
      emailId,
      ordinal,
      recipient,
      event: { type: 'email.failed', data: { failed: { reason } } },
      error: reason,
      at,
      handedOverAt: null,
      set: { status: 'failed', state: DELIVERY_STATE.done },
    })),
  )
}

function domainOf(sender: string): string {
  return parseMailboxes(sender)[0]!.domain
}
