/**
 * Tells which of our emails a received message answers, by the message ids in its In-Reply-To and References
 * fields (RFC 5322 §3.6.4).
 */
import { type Id, idKey, parseWireId } from '../../lib/ids.ts'
import type { EmailRow } from '../../store/model/schema/emails.ts'
import type { Find } from '../../store/reading/read.ts'
import { headerOf } from './automatic.ts'
import type { InboundContent } from './stored-content.ts'

/** Message ids that Mailhorn makes have the id of their email in front of the at sign. */
const MESSAGE_ID = /<([^<>@\s]{1,80})@[^<>\s]{1,255}>/g
const REFERENCES_MAX = 20

/** Returns the ids of emails that the message may answer, the most likely one first. */
export function referredEmails(headers: InboundContent['headers']): Id[] {
  const idsIn = (name: string) =>
    [...(headerOf(headers, name) ?? '').matchAll(MESSAGE_ID)].flatMap(
      ([, local]) => parseWireId('eml', `eml_${local}`) ?? [],
    )
  return [...idsIn('in-reply-to'), ...idsIn('references').reverse()].slice(0, REFERENCES_MAX)
}

/** Returns the one of these emails that the message answers; undefined if none is the account's. */
export async function answeredEmail(
  find: Find,
  accountId: Id,
  referred: readonly Id[],
): Promise<Id | undefined> {
  return (await answeredEmails(find, accountId, referred))[0]?.id
}

/** Returns those of the emails that are the account's, each once, in their order. */
export async function answeredEmails(
  find: Find,
  accountId: Id,
  referred: readonly Id[],
): Promise<Pick<EmailRow, 'id' | 'messageId' | 'sender'>[]> {
  if (referred.length === 0) return []
  const distinct = [...new Map(referred.map(id => [idKey(id), id])).values()]
  const keys = distinct.map(id => ({ accountId, id }))
  const found = await find('emails', keys, ['id', 'messageId', 'sender'])
  return found.filter(row => row !== undefined)
}
