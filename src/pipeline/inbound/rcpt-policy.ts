/** What is behind an address at port 25: a report's local, a customer's domain, or nothing. */

import { idKey } from '../../lib/ids.ts'
import { foldAddress, parseAddress } from '../../protocols/smtp/address.ts'
import type { HostedDomains } from '../../resources/domains/hosted.ts'
import type { NewInbound } from '../../resources/emails/inbound-rows.ts'
import type { NewReport } from './report-rows.ts'

/** Where mail for an address goes. */
export type LocalRecipient =
  | { kind: 'report'; report: NewReport }
  | { kind: 'inbox'; message: Pick<NewInbound, 'accountId' | 'domainId'>; recipient: string }

/** @throws when the store cannot be asked */
export type RcptPolicy = (recipient: string) => Promise<LocalRecipient | undefined>

interface AdmissionOptions {
  reportRecipientOf(recipient: string): NewReport | undefined
  hosted: HostedDomains
}

/** Any address at a domain that receives mail is good: its owner sorts them. */
export function createRcptPolicy({ reportRecipientOf, hosted }: AdmissionOptions): RcptPolicy {
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

/** The messages that a mail becomes: one for each account, with all its addresses. */
export function messagesOf(localRecipients: readonly LocalRecipient[]): NewInbound[] {
  const inboxes = localRecipients.filter(local => local.kind === 'inbox')
  const byAccount = Map.groupBy(inboxes, ({ message }) => idKey(message.accountId))
  return [...byAccount.values()].map(own => {
    const recipients = new Map(own.map(({ recipient }) => [foldAddress(recipient), recipient]))
    return { ...own[0]!.message, recipients: [...recipients.values()] }
  })
}

export function reportsOf(localRecipients: readonly LocalRecipient[]): NewReport[] {
  return localRecipients.flatMap(local => (local.kind === 'report' ? [local.report] : []))
}
