/** Reads emails with their deliveries and timeline. The API, the dashboard and the composer call it. */

import { type Id, idText } from '../../lib/ids.ts'
import { domainOf, type Mailbox } from '../../protocols/smtp/address.ts'
import type { AttemptRow, Db, DeliveryRow, EmailRow, EventRow } from '../../store/model/schema.ts'
import type { ReadTogether } from '../../store/reading/read.ts'
import { withRecord } from './attempt-record.ts'
import { type Content, decodeContent } from './content.ts'
import { type AttemptRef, withData } from './event-rows.ts'
import { visibleSince } from './visible.ts'

/** An email with everything that the API shows. */
export interface EmailParts {
  email: EmailRow
  content: Content
  /** Sorted by ordinal. */
  deliveries: DeliveryRow[]
  /** Sorted by delivery, oldest first. */
  attempts: AttemptRow[]
  /** Oldest first. */
  events: EventRow[]
}

/**
 * Reads all parts in one snapshot.
 * @returns undefined if the account has no such email after its horizon
 */
export async function findEmailParts(
  { db, readTogether }: { db: Db; readTogether: ReadTogether },
  accountId: Id,
  id: Id,
  horizon: number,
): Promise<EmailParts | undefined> {
  const [[email], [content], deliveries, attempts, events] = await readTogether(
    db
      .selectFrom('emails')
      .selectAll()
      .where('accountId', '=', accountId)
      .where('id', '=', id)
      .where(visibleSince(horizon)),
    db
      .selectFrom('contents')
      .innerJoin('emails', 'contents.id', 'emails.contentId')
      .select(['encoding', 'body'])
      .where('accountId', '=', accountId)
      .where('emails.id', '=', id),
    db.selectFrom('deliveries').selectAll().where('emailId', '=', id).orderBy('ordinal'),
    db.selectFrom('attempts').selectAll().where('emailId', '=', id).orderBy('ordinal').orderBy('number'),
    db.selectFrom('events').selectAll().where('subjectId', '=', id).orderBy('createdAt').orderBy('id'),
  )
  if (!email || !content) return undefined
  const attemptOf = ({ ordinal, number }: AttemptRef) =>
    attempts.find(attempt => attempt.ordinal === ordinal && attempt.number === number)
  return {
    email,
    content: decodeContent(content),
    deliveries,
    attempts: attempts.map(withRecord),
    events: events.map(event => withData(event, attemptOf)),
  }
}

/** @param domain null stands for any domain */
export function isSentFrom(domain: string | null, { sender }: Pick<EmailRow, 'sender'>): boolean {
  return domain === null || parseStoredMailboxes(sender)[0]?.domain === domain
}

/** Shortens a list to a bare address if it is one mailbox without a name. Broadcasts store many such rows. */
export function compactMailboxes(json: string): string {
  const [only, ...others] = parseStoredMailboxes(json)
  return only && only.name === null && others.length === 0 ? only.address : json
}

/** Stores a list of mailboxes. Their domains are not stored, since they follow from the addresses. */
export function storedMailboxes(mailboxes: readonly Mailbox[]): string | null {
  if (mailboxes.length === 0) return null
  return JSON.stringify(
    mailboxes.map(({ name, address }) => (name === null ? { address } : { name, address })),
  )
}

/** Parses a stored list of mailboxes. */
export function parseStoredMailboxes(json: string | null): Mailbox[] {
  if (json === null) return []
  if (!json.startsWith('[')) return [{ name: null, address: json, domain: domainOf(json) }]
  const stored = JSON.parse(json) as { name?: string; address: string }[]
  return stored.map(({ name, address }) => ({
    name: name ?? null,
    address,
    domain: domainOf(address),
  }))
}

/** Returns the domain of a stored sender. */
export function senderDomain(sender: string): string {
  return parseStoredMailboxes(sender)[0]!.domain
}

/** Value of the column if the `Message-ID` is derived from the email's id. */
export const OWN_MESSAGE_ID = ''

/** @returns the Message-ID with angle brackets */
export function messageIdOf({
  messageId,
  id,
  sender,
}: Pick<EmailRow, 'messageId' | 'id' | 'sender'>): string {
  return messageId === OWN_MESSAGE_ID ? ownMessageId(id, parseStoredMailboxes(sender)[0]!.domain) : messageId
}

/** Tells whether the Message-ID is made of the email's id. */
export function hasOwnMessageId({ messageId, id }: Pick<EmailRow, 'messageId' | 'id'>): boolean {
  return messageId === OWN_MESSAGE_ID || messageId.startsWith(`<${idText(id)}@`)
}

export function ownMessageId(id: Id, domain: string): string {
  return `<${idText(id)}@${domain}>`
}
