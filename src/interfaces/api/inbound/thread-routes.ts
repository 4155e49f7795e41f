/** Serves the conversation of a received message: received messages and emails of the account. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import { readThread, type ThreadMessage } from '../../../pipeline/inbound/thread.ts'
import { inboundRowView } from '../../../pipeline/inbound/view.ts'
import { mailboxText } from '../../../protocols/smtp/address.ts'
import { parseStoredMailboxes } from '../../../resources/emails/email-rows.ts'
import { EMAIL_STATUSES } from '../../../store/model/schema/emails.ts'
import type { Db } from '../../../store/model/schema.ts'
import type { Find } from '../../../store/reading/read.ts'
import { ok, type Route } from '../route/route.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'
import { findOwnInbound, type InboundSightParts, sightOf } from './own-inbound.ts'

interface InboundThreadRoutesOptions {
  horizonOf: InboundSightParts['horizonOf']
  store: { db: Db; find: Find }
}

const threadMessageSchema = z
  .object({
    object: z.enum(['inbound_email', 'email']),
    id: idSchema('inb', 'eml'),
    from: z.string(),
    to: z.array(z.string()),
    subject: z.string(),
    unread: z.boolean().meta({ description: 'False for emails.' }),
    status: z.enum(EMAIL_STATUSES).nullable().meta({ description: 'Null for received messages.' }),
    created_at: timeSchema,
  })
  .meta({ id: 'ThreadMessage' })

export const threadSchema = z
  .object({
    object: z.literal('thread'),
    has_more: z.boolean().meta({ description: 'True if there are older messages than those of `data`.' }),
    data: z.array(threadMessageSchema).max(100),
  })
  .meta({ id: 'Thread' })

export function inboundThreadRoutes(options: InboundThreadRoutesOptions): Route[] {
  const { horizonOf, store } = options
  return [
    {
      method: 'GET',
      path: '/inbound/:id/thread',
      access: 'key',
      scopes: ['inbound:read', 'emails:read'],
      summary: 'List the conversation of a received message: the newest 100 messages, oldest first',
      replies: { 200: threadSchema },
      async handle(request) {
        const { id } = await findOwnInbound(options, request)
        const access = await sightOf(request.credential, horizonOf)
        const { messages, hasMore } = await readThread(store, access, id)
        return ok({ object: 'thread', has_more: hasMore, data: messages.map(threadMessageView) })
      },
    },
  ]
}

function threadMessageView(one: ThreadMessage): z.output<typeof threadMessageSchema> {
  if (one.kind === 'received') {
    const { object, id, from, to, subject, created_at } = inboundRowView(one.message)
    return { object, id, from, to, subject, unread: one.message.unread, status: null, created_at }
  }
  const { id, sender, toList, subject, status, createdAt } = one.email
  return {
    object: 'email',
    id: wireId('eml', id),
    from: parseStoredMailboxes(sender).map(mailboxText)[0]!,
    to: parseStoredMailboxes(toList).map(mailboxText),
    subject,
    unread: false,
    status,
    created_at: timestamp(createdAt),
  }
}
