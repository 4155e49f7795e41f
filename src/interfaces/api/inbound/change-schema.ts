/** Schemas and readers of changes of received mail. */
import * as z from 'zod'
import { type Id, parseWireId } from '../../../lib/ids.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema } from '../schema/reply-schemas.ts'

/** Limit of messages in one request. All of them are changed in one transaction. */
const MESSAGES_MAX = 100

const ids = z.array(z.string()).min(1).max(MESSAGES_MAX).meta({ description: 'Ids of received messages.' })

export const inboundChangeSchema = z.object({ unread: z.boolean() })
export const inboundChangesSchema = z.object({ ids, unread: z.boolean() })
export const inboundIdsSchema = z.object({ ids })

export const readInboundChange = bodyReader(inboundChangeSchema)
const readChanges = bodyReader(inboundChangesSchema)
const readIds = bodyReader(inboundIdsSchema)

/** @throws ApiError 422 */
export function readInboundChanges(body: unknown): { ids: Id[]; unread: boolean } {
  const { ids: texts, unread } = readChanges(body)
  return { ids: idsIn(texts), unread }
}

/** @throws ApiError 422 */
export function readInboundIds(body: unknown): Id[] {
  return idsIn(readIds(body).ids)
}

/** @throws ApiError 422 */
function idsIn(texts: readonly string[]): Id[] {
  return texts.map((text, i) => {
    const id = parseWireId('inb', text)
    if (!id) throw invalidField(`ids[${i}]`, `\`ids[${i}]\` must be the id of a received message.`)
    return id
  })
}

const refSchema = z.object({ object: z.literal('inbound_email'), id: idSchema('inb') })

export const updatedInboundSchema = refSchema.extend({
  updated: z.boolean().meta({ description: 'False if there is no such message.' }),
})

export const removedInboundSchema = refSchema.extend({
  deleted: z.boolean().meta({ description: 'False if there is no such message.' }),
})

export const unreadCountSchema = z
  .object({
    object: z.literal('unread_count'),
    count: z.int().min(0).max(999),
    has_more: z.boolean().meta({ description: 'True if there are more than counted.' }),
  })
  .meta({ id: 'UnreadCount' })
