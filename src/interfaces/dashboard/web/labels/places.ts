/** Places of the dashboard that show the emails of something. */
import { withQuery } from '../api/client.ts'

/** Returns the list of emails with filters, by the names of their parameters. */
export function emailsWith(filters: Readonly<Record<string, string>>): string {
  return withQuery('/emails', filters)
}

/** Returns the list of emails to, or from, any address of a domain. */
export function emailsAt(domain: string): string {
  return emailsWith({ search: `@${domain}` })
}

/** Results by which recipients of a broadcast are listed, with their headings. */
export const RECIPIENT_TYPES = {
  sent: 'Sent',
  delivered: 'Delivered',
  opened: 'Opened',
  clicked: 'Clicked',
  bounced: 'Bounced',
  unsubscribed: 'Unsubscribed',
  complained: 'Complaints',
  skipped: 'Skipped',
  suppressed: 'Suppressed',
} as const
export type RecipientType = keyof typeof RECIPIENT_TYPES

/**
 * Returns the recipients of a broadcast with a result.
 * @param skip_reason only with the type `skipped`
 */
export function recipientsPlace(broadcastId: string, type: RecipientType, skip_reason = ''): string {
  const query = { type: type === 'sent' ? '' : type, skip_reason }
  return withQuery(`/broadcasts/${broadcastId}/recipients`, query)
}

/** Returns the recipients of a broadcast who have clicked a link, by its number. */
export function clickersPlace(broadcastId: string, link: number): string {
  return withQuery(`/broadcasts/${broadcastId}/recipients`, { type: 'clicked', link })
}

/** Returns the page of a contact. */
export function contactPlace({ id, audience_id }: { id: string; audience_id: string }): string {
  return `/audiences/${audience_id}/contacts/${id}`
}

/** Returns the contacts of a segment. */
export function segmentPlace({ id, audience_id }: { id: string; audience_id: string }): string {
  return withQuery(`/audiences/${audience_id}`, { segment: id })
}

/** Returns the delivery results of a destination. */
export function destinationPlace(destination: string): string {
  return withQuery('/destinations', { destination })
}

/** Returns the address in a mailbox such as `Ann <ann@there.example>`. */
export function addressIn(mailbox: string): string {
  return /<([^<>]+)>$/.exec(mailbox)?.[1] ?? mailbox
}

export function domainIn(mailbox: string): string {
  return addressIn(mailbox).replace(/^.*@/, '').toLowerCase()
}
