/** Mails operators about alerts. Called by the machine watch, and by the test of the channels of alerts. */
import type { Id } from '../../lib/ids.ts'
import { type Mailbox, parseMailbox } from '../../protocols/smtp/address.ts'
import { findVerifiedDomain, VERIFIED_STATUSES } from '../../resources/domains/domain-rows.ts'
import type { Db } from '../../store/model/schema.ts'
import { isRefusal } from '../accept/refusal.ts'
import { acceptServiceMail, type ServiceMail } from '../accept/service-mail.ts'
import { newSubmission } from '../accept/submission.ts'

export interface OperatorMailOptions extends ServiceMail {
  db: Db
  /** Sender of the emails; a verified domain of an operator takes its place where its own is not verified. */
  from: Mailbox
}

export interface OperatorMail {
  subject: string
  text: string
  /** Name of the occasion: a mail with the same name is not sent again. */
  name: string
}

export interface MailedOperator {
  email: string
  /** Undefined when the address is not valid. */
  to: Mailbox | undefined
  /** Null when the mail was refused. */
  emailId: Id | null
  /** Why the mail was refused; undefined when it was queued. */
  fault: string | undefined
  /** Whether another attempt is of no use, because the address is not valid. */
  isFinal: boolean
}

/** Describes why there is no sender. */
export const NO_SENDER =
  'the domain of `notices.from` is not verified in any account, and no operator has a verified domain'

/** @returns what became of the mail to each operator; undefined when there is no sender */
export async function mailOperators(
  options: OperatorMailOptions,
  { subject, text, name }: OperatorMail,
): Promise<MailedOperator[] | undefined> {
  const sender = await findSender(options)
  if (!sender) return undefined
  const mailed: MailedOperator[] = []
  for (const operator of await listOperators(options.db)) {
    const { email, to } = operator
    if (!to) {
      mailed.push({ ...operator, emailId: null, isFinal: true })
      continue
    }
    const mail = newSubmission({
      from: sender.from,
      to: [to],
      subject,
      text,
      headers: [['Auto-Submitted', 'auto-generated']],
    })
    const accepted = await acceptServiceMail(options, sender.accountId, mail, {
      kind: 'operator-alert',
      name: `${name} ${email}`,
    })
    const [emailId = null] = isRefusal(accepted) ? [] : accepted.ids
    const fault = isRefusal(accepted) ? accepted.message : undefined
    mailed.push({ email, to, emailId, fault, isFinal: false })
  }
  return mailed
}

/** Lists the operators by age, each with the fault of an address that is not valid. */
export async function listOperators(db: Db): Promise<Pick<MailedOperator, 'email' | 'to' | 'fault'>[]> {
  const operators = await db
    .selectFrom('users')
    .select('email')
    .where('operator', '=', 1)
    .orderBy('id')
    .execute()
  return operators.map(({ email }) => {
    const to = parseMailbox(email)
    return 'fault' in to ? { email, to: undefined, fault: to.fault } : { email, to, fault: undefined }
  })
}

/**
 * Returns the configured sender if its domain is verified, otherwise one at a verified domain of an operator.
 */
async function findSender({ db, from }: OperatorMailOptions) {
  const own = await findVerifiedDomain(db, from.domain)
  if (own) return { ...own, from }
  const other = await db
    .selectFrom('domains')
    .innerJoin('users', 'users.accountId', 'domains.accountId')
    .where('operator', '=', 1)
    .where('status', 'in', VERIFIED_STATUSES)
    .select(['domains.accountId', 'domains.name'])
    .orderBy('domains.id')
    .executeTakeFirst()
  const address = other && parseMailbox(`mailhorn@${other.name}`)
  return address && !('fault' in address) ? { accountId: other.accountId, from: address } : undefined
}
