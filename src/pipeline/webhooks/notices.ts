/**
 * Notifies the users of an account by email that one of its webhooks was disabled. The notice is submitted
 * like any other email.
 */
import { wireId } from '../../lib/ids.ts'
import { utcMinute } from '../../lib/iso-time.ts'
import type { Log } from '../../lib/log.ts'
import { type Mailbox, parseMailbox } from '../../protocols/smtp/address.ts'
import { findVerifiedDomain } from '../../resources/domains/domain-rows.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db, WebhookRow } from '../../store/model/schema.ts'
import { REFUSALS, type Refusal } from '../accept/refusal.ts'
import { type ServiceMail, sendServiceMail } from '../accept/service-mail.ts'
import { newSubmission, type Submission } from '../accept/submission.ts'
import type { webhookCommands } from './commands.ts'

interface NoticeOptions extends ServiceMail {
  db: Db
  run: Run<Pick<typeof webhookCommands, 'webhookNoticeSent'>>
  /** Address at a domain that some account has verified. */
  from: Mailbox
  log: Log
}

/** Sends all notices that are due. Yields after each webhook. */
export async function* sendNotices(options: NoticeOptions): AsyncGenerator<void> {
  const { db, run, from, log } = options
  const due = await db.selectFrom('webhooks').selectAll().where('noticeDue', '=', 1).execute()
  if (due.length === 0) return
  const sender = await findVerifiedDomain(db, from.domain)
  if (!sender) {
    log.warn(
      { event: 'webhook_notices_not_possible', domain: from.domain, count: due.length },
      'Accounts cannot be notified of disabled webhooks: the domain of `notices.from` is not verified in any account',
    )
    return
  }
  for (const webhook of due) {
    let isNotified = true
    for (const { email } of await ownersOf(db, webhook)) {
      const fault = await sendNotice(options, sender.accountId, webhook, email)
      if (!fault) continue
      log.warn(
        { event: 'webhook_notice_refused', webhook: wireId('wh', webhook.id), fault: fault.message },
        'The notice of a disabled webhook was refused',
      )
      if (fault.isTemporary) isNotified = false
    }
    if (isNotified) await run('webhookNoticeSent', { id: webhook.id })
    yield
  }
}

function ownersOf(db: Db, { accountId }: WebhookRow): Promise<{ email: string }[]> {
  return db.selectFrom('users').select('email').where('accountId', '=', accountId).orderBy('id').execute()
}

interface NoticeFault {
  message: string
  /** The notice is sent again later. */
  isTemporary: boolean
}

/** The name is derived from webhook, time and address, so that a notice is sent once. */
async function sendNotice(
  options: NoticeOptions,
  accountId: WebhookRow['accountId'],
  webhook: WebhookRow,
  address: string,
): Promise<NoticeFault | undefined> {
  const to = parseMailbox(address)
  if ('fault' in to) return { message: to.fault, isTemporary: false }
  const refusal = await sendServiceMail(options, accountId, noticeOf(options.from, to, webhook), {
    kind: 'webhook-notice',
    name: `${wireId('wh', webhook.id)} ${webhook.disabledAt} ${address}`,
  })
  return refusal && { message: refusal.message, isTemporary: isTemporary(refusal) }
}

/** Temporary refusals, and a domain that has lost its verification. */
function isTemporary({ refused }: Refusal): boolean {
  return refused === 'domain_not_verified' || REFUSALS[refused].reply.startsWith('4')
}

function noticeOf(from: Mailbox, to: Mailbox, webhook: WebhookRow): Submission {
  const { url, failingSince, disabledAt } = webhook
  return newSubmission({
    from,
    to: [to],
    subject: 'A webhook was disabled',
    text:
      `Your webhook ${url} has taken nothing since ${utcMinute(failingSince ?? 0)}, and was disabled at ${utcMinute(disabledAt ?? 0)}.\n\n` +
      'Events that happen now are not kept for it. What has waited for less than five days goes on when you\n' +
      `enable it again: PATCH /webhooks/${wireId('wh', webhook.id)}?enabled=true, or in the dashboard.\n`,
    headers: [['Auto-Submitted', 'auto-generated']],
  })
}
