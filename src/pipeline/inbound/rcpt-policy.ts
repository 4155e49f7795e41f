/**
 * Decides about RCPT TO on port 25: the address belongs to a report (bounce, complaint, unsubscribe), to a
 * domain that an account hosts here, or to nobody. Called by the listener.
 */

import { idKey } from '../../lib/ids.ts'
import { foldAddress, parseAddress } from '../../protocols/smtp/address.ts'
import type { HostedDomains } from '../../resources/domains/hosted.ts'
import type { NewInbound } from '../../resources/emails/inbound-rows.ts'
import type { NewReport } from './report-rows.ts'

/** Destination of mail for an accepted address. */
export type LocalRecipient =
  | { kind: 'report'; report: NewReport }
  | { kind: 'inbox'; message: Pick<NewInbound, 'accountId' | 'domainId'>; recipient: string }

/** @returns undefined to refuse the recipient @throws when the store cannot be queried */
export type RcptPolicy = (recipient: string) => Promise<LocalRecipient | undefined>

interface RcptPolicyOptions {
  reportRecipientOf(recipient: string): NewReport | undefined
  hosted: HostedDomains
}

/** Accepts any address at a hosted domain; its owner sorts the mail. */
export function createRcptPolicy({ reportRecipientOf, hosted }: RcptPolicyOptions): RcptPolicy {
  return async recipient => {
    const report = reportRecipientOf(recipient)
    if (report) return { kind: 'report', report }
    const mailbox = parseAddress(recipient)
    const domain = 'fault' in mailbox ? undefined : await hosted.find(mailbox.domain)
    if ('fault' in mailbox || !domain) return undefined
    return {
      kind: 'inbox',
      message: { accountId: domain.accountId, domainId: domain.id },
      recipient: mailbox.address,
    }
  }
}

/** Returns the messages to store for one mail: one for each account, with all recipients of that account. */
export function messagesOf(localRecipients: readonly LocalRecipient[]): NewInbound[] {
  const inboxes = localRecipients.filter(local => local.kind === 'inbox')
  const byAccount = Map.groupBy(inboxes, ({ message }) => idKey(message.accountId))
  return [...byAccount.values()].map(own => {
    const recipients = new Map(own.map(({ recipient }) => [foldAddress(recipient), recipient]))
    return { ...own[0]!.message, recipients: [...recipients.values()] }
  })
}

/**
 * Returns the reports to store for one mail. Mail to hosted domains from the null sender may be a bounce
 * that was sent to the From address.
 * @param sender envelope sender; empty for the null sender
 */
export function reportsOf(localRecipients: readonly LocalRecipient[], sender: string): NewReport[] {
  const reports = localRecipients.flatMap(local => (local.kind === 'report' ? [local.report] : []))
  const inbox = localRecipients.find(local => local.kind === 'inbox')
  if (sender !== '' || !inbox) return reports
  return [...reports, { addressKind: 'inbox', emailId: null, ordinal: null, recipient: inbox.recipient }]
}

/**
 * Tells whether the whole mail is kept, and not only its beginning: mail to an inbox, and mail to a return
 * path that a person may have written.
 * @param sender envelope sender; empty for the null sender
 */
export function isKeptWhole(localRecipients: readonly LocalRecipient[], sender: string): boolean {
  return localRecipients.some(
    local => local.kind === 'inbox' || (local.report.addressKind === 'return-path' && sender !== ''),
  )
}
