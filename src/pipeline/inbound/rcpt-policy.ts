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

export function reportsOf(localRecipients: readonly LocalRecipient[]): NewReport[] {
  return localRecipients.flatMap(local => (local.kind === 'report' ? [local.report] : []))
}
