/** Reads the conversation of a received message: received messages and emails of the account. */
import type { Id } from '../../lib/ids.ts'
import { isSentFrom } from '../../resources/emails/email-rows.ts'
import { isInSight } from '../../resources/emails/inbound-list.ts'
import { areUnread } from '../../resources/emails/inbound-unread.ts'
import { THREAD_MESSAGES_MAX } from '../../resources/emails/threads.ts'
import { isVisible } from '../../resources/emails/visible.ts'
import type { EmailRow } from '../../store/model/schema/emails.ts'
import type { Db } from '../../store/model/schema.ts'
import type { Find } from '../../store/reading/read.ts'
import type { InboundAccess } from './find-inbound.ts'
import { LISTED_COLUMNS, type ListedInbound } from './view.ts'

const EMAIL_COLUMNS = ['id', 'sender', 'toList', 'subject', 'status', 'createdAt', 'endedAt'] as const

export type ThreadMessage =
  | { kind: 'received'; message: ListedInbound & { unread: boolean } }
  | { kind: 'sent'; email: Pick<EmailRow, (typeof EMAIL_COLUMNS)[number]> }

/**
 * Reads the newest messages of the conversation, oldest first. A message that belongs to none is alone.
 *
 * @param access limits of both kinds of messages
 */
export async function readThread(
  { db, find }: { db: Db; find: Find },
  access: InboundAccess,
  id: Id,
): Promise<{ messages: ThreadMessage[]; hasMore: boolean }> {
  const { accountId } = access
  const [own] = await find('threadMessages', [{ accountId, id }], ['thread'])
  const found = own ? await newestOf(db, accountId, own.thread) : [{ id }]
  const shown = found.slice(0, THREAD_MESSAGES_MAX).reverse()
  const keys = shown.map(({ id: ofMessage }) => ({ accountId, id: ofMessage }))
  const [received, unread, sent] = await Promise.all([
    find('inboundMessages', keys, [...LISTED_COLUMNS, 'listedAt']),
    areUnread(
      find,
      accountId,
      shown.map(message => message.id),
    ),
    find('emails', keys, EMAIL_COLUMNS),
  ])
  const messages = shown.flatMap((_, i): ThreadMessage[] => {
    const [message, email] = [received[i], sent[i]]
    if (message && isInSight(message, access))
      return [{ kind: 'received', message: { ...message, unread: unread[i]! } }]
    const isShown = email && isVisible(email, access.horizon) && isSentFrom(access.domain, email)
    return isShown ? [{ kind: 'sent', email }] : []
  })
  return { messages, hasMore: found.length > THREAD_MESSAGES_MAX }
}

async function newestOf(db: Db, accountId: Id, thread: Uint8Array): Promise<{ id: Id }[]> {
  return db
    .selectFrom('threadMessages')
    .select('id')
    .where('accountId', '=', accountId)
    .where('thread', '=', thread)
    .orderBy('id', 'desc')
    .limit(THREAD_MESSAGES_MAX + 1)
    .execute()
}
