/**
 * Sends the delivery status notifications that are due (`resources/events/dsn-notices.ts`). A notification is
 * an email of the account with the null sender, and counts against no quota.
 */
import { idText, wireId } from '../../../lib/ids.ts'
import type { Log } from '../../../lib/log.ts'
import { parseAddress } from '../../../protocols/smtp/address.ts'
import { requestFor } from '../../../protocols/smtp/dsn.ts'
import { readStoredDsn } from '../../../resources/emails/dsn.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import type { DsnFacts, dsnCommands } from '../../../resources/events/dsn-notices.ts'
import type { BlobFiles } from '../../../store/blobs/blobs.ts'
import type { Run } from '../../../store/model/command.ts'
import type { Db, DsnNoticeRow } from '../../../store/model/schema.ts'
import { REFUSALS } from '../../accept/refusal.ts'
import { type ServiceMail, sendServiceMail } from '../../accept/service-mail.ts'
import { newSubmission, type Submission } from '../../accept/submission.ts'
import { noticeMessage, noticeSubject } from './notice-message.ts'

interface NoticeSenderOptions extends ServiceMail {
  db: Db
  blobs: BlobFiles
  run: Run<typeof dsnCommands>
  mailHost: string
  now(): number
  log: Log
}

const BATCH_NOTICES = 100

/** Sends all notifications that are due. Yields after each. @throws StorageUnavailable */
export async function* sendDsnNotices(options: NoticeSenderOptions): AsyncGenerator<void> {
  const { db, run, now } = options
  // A notification that is refused temporarily stays due for the next round.
  let last: DsnNoticeRow | undefined
  for (;;) {
    const rows = await dueAfter(db, last)
    for (const row of rows) {
      last = row
      const { emailId, ordinal, action } = row
      if (await sendNotice(options, row)) await run('dsnNoticeSent', { emailId, ordinal, action, at: now() })
      yield
    }
    if (rows.length < BATCH_NOTICES) return
  }
}

function dueAfter(db: Db, last: DsnNoticeRow | undefined): Promise<DsnNoticeRow[]> {
  let query = db.selectFrom('dsnNotices').selectAll().where('sentAt', 'is', null)
  if (last)
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('emailId', 'ordinal', 'action'), '>', tuple(last.emailId, last.ordinal, last.action)),
    )
  return query.orderBy('emailId').orderBy('ordinal').orderBy('action').limit(BATCH_NOTICES).execute()
}

/**
 * The name is derived from the row, so that a notification is sent once, also after a restart.
 * @returns false if it has to be tried again
 */
async function sendNotice(options: NoticeSenderOptions, row: DsnNoticeRow): Promise<boolean> {
  const submission = await submissionOf(options, row)
  if (!submission) return true
  const { accountId, emailId, ordinal, action } = row
  const refusal = await sendServiceMail(options, accountId, submission, {
    kind: 'dsn',
    name: `${idText(emailId)} ${ordinal} ${action}`,
  })
  if (!refusal) return true
  options.log.warn(
    { event: 'dsn_refused', email_id: wireId('eml', emailId), action, fault: refusal.message },
    'A delivery status notification could not be queued',
  )
  return !REFUSALS[refusal.refused].reply.startsWith('4')
}

/** @returns undefined if the email has been deleted, or asks for nothing */
async function submissionOf(
  { db, blobs, mailHost }: NoticeSenderOptions,
  { accountId, emailId, ordinal, action, facts, at }: DsnNoticeRow,
): Promise<Submission | undefined> {
  const email = await db
    .selectFrom('emails')
    .select(['sender', 'raw', 'dsn', 'createdAt'])
    .where('accountId', '=', accountId)
    .where('id', '=', emailId)
    .executeTakeFirst()
  const delivery = await db
    .selectFrom('deliveries')
    .select('address')
    .where('emailId', '=', emailId)
    .where('ordinal', '=', ordinal)
    .executeTakeFirst()
  const request = readStoredDsn(email?.dsn ?? null)
  if (!email?.raw || !delivery || request === null || request === 'notice') return undefined
  const to = parseAddress(request.sender)
  const { domain } = parseStoredMailboxes(email.sender)[0]!
  const from = parseAddress(`mailer-daemon@${domain}`)
  if ('fault' in to || 'fault' in from) return undefined
  const messageId = `<${idText(emailId)}.${ordinal}.${action}@${domain}>`
  const { text, message } = noticeMessage({
    action,
    facts: JSON.parse(facts) as DsnFacts,
    at,
    recipient: delivery.address,
    original: requestFor(request, delivery.address)?.original ?? null,
    request,
    message: await blobs.read(db, email.raw),
    arrivedAt: email.createdAt,
    from: from.address,
    mailHost,
    messageId,
  })
  return newSubmission({
    from: { ...from, name: 'Mail Delivery System' },
    to: [to],
    subject: noticeSubject(action, delivery.address),
    text,
    headers: [['Auto-Submitted', 'auto-replied']],
    messageId,
    raw: { message, recipients: [to], dsn: 'notice' },
  })
}
