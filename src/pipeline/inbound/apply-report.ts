/**
 * Applies a parsed delivery or complaint report: records the event, updates the delivery and adds a
 * suppression, all in the transaction that marks the report as read. The VERP token alone identifies the
 * delivery; the recipient named in the report is recorded but not trusted. Called by `bounce-processor.ts`.
 */

import type { Id } from '../../lib/ids.ts'
import type { BounceReport, ReportedRecipient } from '../../protocols/bounces/report.ts'
import { bounceType } from '../../protocols/bounces/rules/bounce-class.ts'
import { domainOf, foldAddress } from '../../protocols/smtp/address.ts'
import { parseStoredMailboxes } from '../../resources/emails/email-rows.ts'
import { causeOfClass, storedCause } from '../../resources/emails/explanation/cause.ts'
import { inboundCommands } from '../../resources/emails/inbound-rows.ts'
import { recipientCommands } from '../../resources/events/commands.ts'
import { hasHappened } from '../../resources/events/email-events.ts'
import { recordDeliveries } from '../../resources/events/record.ts'
import { addSuppressions } from '../../resources/suppressions/suppression-rows.ts'
import { command, type Tx } from '../../store/model/command.ts'
import { REPORT_STATE, type ReportRow } from '../../store/model/schema/reports.ts'
import { DELIVERY_STATE, type DeliveryRow, NO_LEASE } from '../../store/model/schema.ts'
import { type UnsubscribeMail, unsubscribeByMail } from './mailto-unsubscribe.ts'

export interface ReadReport {
  /** Parsed report; undefined when the mail could not be parsed. */
  report: BounceReport | undefined
  /** The delivery the report is about; undefined when it names none of ours. */
  ref: { emailId: Id; ordinal: number } | undefined
  fault: string | undefined
  /** Set for mail to an unsubscribe address, which is not a report; null when it was sent automatically. */
  unsubscribeMail?: UnsubscribeMail | null
}

/**
 * Effect of a report. `passed-on` is mail of a person, which is listed as received. Only the first four
 * change a delivery or subscription.
 */
type ReportEffect =
  | 'bounced'
  | 'delayed'
  | 'complained'
  | 'unsubscribed'
  | 'passed-on'
  | 'repeated'
  | 'unknown-delivery'
  | 'nothing-to-do'
  | 'unreadable'

type Delivery = Pick<DeliveryRow, (typeof COLUMNS)[number]>
const COLUMNS = ['accountId', 'emailId', 'ordinal', 'address', 'status', 'state', 'attempts'] as const
type StoredReport = Pick<ReportRow, (typeof ROW_COLUMNS)[number]>
const ROW_COLUMNS = [
  'state',
  'addressKind',
  'sender',
  'recipient',
  'clientIp',
  'sizeBytes',
  'blobHash',
] as const
/** Deliveries in these states were never sent to another host, so a report about them is not genuine. */
const NEVER_LEFT = new Set<DeliveryRow['status']>(['suppressed', 'canceled'])

export const applyReportCommands = {
  /** @returns the effect, or `false` when the report was applied before */
  applyReport: command<ReadReport & { id: Id; at: number }, ReportEffect | false>(async (tx, input) => {
    const { id, at, report, fault } = input
    const [row] = await tx.rows.lock('reports', [{ id }], ROW_COLUMNS)
    if (row?.state !== REPORT_STATE.unread) return false
    const effect = await effectOf(tx, input, row)
    await tx.rows.update(
      'reports',
      ['id'],
      [
        {
          id,
          state: REPORT_STATE.read,
          readAt: at,
          kind: report?.kind ?? null,
          effect,
          detail: report ? JSON.stringify(detailOf(report)) : null,
          fault: fault ?? null,
        },
      ],
    )
    return effect
  }),
}

async function effectOf(
  tx: Tx,
  { report, ref, unsubscribeMail, at }: ReadReport & { at: number },
  row: StoredReport,
): Promise<ReportEffect> {
  if (unsubscribeMail !== undefined) return unsubscribe(tx, unsubscribeMail, at)
  if (!report) return 'unreadable'
  if (!ref)
    return report.kind === 'bounce' || report.kind === 'complaint' ? 'unknown-delivery' : 'nothing-to-do'
  const [delivery] = await tx.rows.lock('deliveries', [ref], COLUMNS)
  if (!delivery || delivery.attempts === 0 || NEVER_LEFT.has(delivery.status)) return 'unknown-delivery'
  if (row.addressKind === 'inbox' && !(await isSenderDomain(tx, delivery, row.recipient)))
    return 'unknown-delivery'
  if (report.kind === 'mail') return passOn(tx, delivery, row, at)
  if (report.kind === 'complaint') return complain(tx, delivery, report, at)
  if (report.kind !== 'bounce') return 'nothing-to-do'
  const failed = worstOf(report, 'failed', delivery)
  if (failed) return bounce(tx, delivery, failed, at)
  const delayed = worstOf(report, 'delayed', delivery)
  return delayed ? delay(tx, delivery, delayed, at) : 'nothing-to-do'
}

/** Tells whether an address is in the domain from which the email of the delivery was sent. */
async function isSenderDomain(tx: Tx, delivery: Delivery, address: string): Promise<boolean> {
  const email = await senderOf(tx, delivery)
  return email !== undefined && domainIn(email.address) === domainIn(address)
}

async function senderOf(tx: Tx, { accountId, emailId }: Delivery) {
  const [email] = await tx.rows.find('emails', [{ accountId, id: emailId }], ['sender', 'domainId'])
  const address = email && parseStoredMailboxes(email.sender)[0]?.address
  return address === undefined ? undefined : { address, domainId: email!.domainId }
}

function domainIn(address: string): string {
  const folded = foldAddress(address)
  return domainOf(folded)
}

/**
 * Stores what a person wrote to the return path as mail received by the From address of the email. Mail
 * of the null sender is not from a person; a domain that receives no mail gets none.
 */
async function passOn(tx: Tx, delivery: Delivery, row: StoredReport, at: number): Promise<ReportEffect> {
  const { sender, clientIp, sizeBytes, blobHash: hash } = row
  const email = await senderOf(tx, delivery)
  if (sender === '' || !email || email.domainId === null) return 'nothing-to-do'
  const { accountId } = delivery
  const { address, domainId } = email
  const [domain] = await tx.rows.find('domains', [{ accountId, id: domainId }], ['receiving'])
  if (domain?.receiving !== 1) return 'nothing-to-do'
  await inboundCommands.storeInbound.run(tx, [
    {
      ...{ sender, clientIp, sizeBytes, at },
      ...{ helo: null, tls: null, source: null },
      messages: [{ accountId, domainId, recipients: [address] }],
      // The report refers to the same bytes, which are stored already.
      blob: { hash, sizeBytes, body: null, draft: null },
    },
  ])
  return 'passed-on'
}

async function unsubscribe(
  tx: Tx,
  unsubscribeMail: UnsubscribeMail | null,
  at: number,
): Promise<ReportEffect> {
  if (unsubscribeMail === null) return 'nothing-to-do'
  const wish = await unsubscribeByMail(tx, unsubscribeMail, at)
  if (wish === undefined) return 'unknown-delivery'
  return wish === 'done' ? 'unsubscribed' : wish === 'known' ? 'repeated' : 'nothing-to-do'
}

/**
 * Returns what a report of several recipients says about the address of the delivery. If it names only
 * others, to whom the mail was forwarded, a hard bounce takes precedence.
 */
function worstOf(
  { recipients }: BounceReport,
  action: 'failed' | 'delayed',
  { address }: Delivery,
): ReportedRecipient | undefined {
  const fitting = recipients.filter(recipient => recipient.action === action)
  const names = (named: string | undefined) =>
    named !== undefined && foldAddress(named) === foldAddress(address)
  const own = fitting.filter(
    ({ recipient, originalRecipient }) => names(recipient) || names(originalRecipient),
  )
  const about = own.length > 0 ? own : fitting
  return about.find(({ isHard }) => isHard) ?? about[0]
}

async function bounce(
  tx: Tx,
  delivery: Delivery,
  reported: ReportedRecipient,
  at: number,
): Promise<ReportEffect> {
  if (
    delivery.status === 'bounced' ||
    (await hasHappened(tx, delivery.emailId, 'email.bounced', delivery.address))
  )
    return 'repeated'
  const { accountId, emailId, address } = delivery
  // A complaint remains the status of a delivery, whatever is reported later.
  const status = delivery.status === 'complained' ? ('complained' as const) : ('bounced' as const)
  const data = { bounce: bounceData(reported) }
  await recordDeliveries(tx, [
    {
      ...changeOf(delivery, at),
      set: {
        status,
        state: DELIVERY_STATE.done,
        ...NO_LEASE,
        lastReply: textOf(reported),
        cause: causeOf(reported, true),
      },
      event: { type: 'email.bounced', data },
      error: errorOf(reported),
    },
  ])
  if (reported.isHard)
    await addSuppressions(tx, [
      { accountId, email: foldAddress(address), reason: 'bounce', sourceId: emailId, at },
    ])
  return 'bounced'
}

/**
 * A delay reported by the recipient's host is recorded once, and only while no bounce or complaint is
 * known.
 */
async function delay(
  tx: Tx,
  delivery: Delivery,
  reported: ReportedRecipient,
  at: number,
): Promise<ReportEffect> {
  const { status, state } = delivery
  if (status !== 'delivered' && status !== 'queued') return 'repeated'
  if (await hasHappened(tx, delivery.emailId, 'email.delivery_delayed', delivery.address)) return 'repeated'
  const data = { delay: { attempt: delivery.attempts, next_attempt_at: null, reply: textOf(reported) } }
  await recordDeliveries(tx, [
    {
      ...changeOf(delivery, at),
      set: { status, state, cause: causeOf(reported, false) },
      event: { type: 'email.delivery_delayed', data },
      error: null,
    },
  ])
  return 'delayed'
}

async function complain(tx: Tx, delivery: Delivery, report: BounceReport, at: number): Promise<ReportEffect> {
  const { accountId, emailId, ordinal } = delivery
  const data = { complaint: { type: report.feedbackType ?? 'abuse' } }
  const input = { accountId, emailId, ordinal, at, data, suppress: true }
  const [isNew] = await recipientCommands.complain.run(tx, [input])
  return isNew ? 'complained' : 'repeated'
}

function changeOf({ accountId, emailId, ordinal, address: recipient }: Delivery, at: number) {
  return { accountId, emailId, ordinal, recipient, at, handedOverAt: null }
}

function bounceData(reported: ReportedRecipient) {
  const { type, subtype } = bounceType(reported.class, reported.isTransient)
  return {
    type,
    subtype,
    class: reported.class,
    code: reported.replyCode ?? null,
    enhanced_code: reported.status ?? null,
    message: textOf(reported),
    mx_host: reported.remoteMta ?? null,
  }
}

function causeOf({ class: bounceClass, remoteMta: host, isHard }: ReportedRecipient, isFinal: boolean) {
  return storedCause({
    ...causeOfClass(bounceClass, isFinal),
    ...(host !== undefined && { host }),
    ...(isFinal && isHard && { suppresses: true }),
  })
}

function textOf({ diagnostic, status }: ReportedRecipient): string {
  return diagnostic === '' ? (status ?? 'no reason was given') : diagnostic
}

function errorOf(reported: ReportedRecipient): string {
  const host = reported.remoteMta === undefined ? '' : ` (${reported.remoteMta})`
  return `${textOf(reported)}${host}`
}

/** Details recorded for display only. */
function detailOf({ recipients, reportingMta, envelopeId, messageId, feedbackType }: BounceReport) {
  return { recipients: recipients.slice(0, 20), reportingMta, envelopeId, messageId, feedbackType }
}
