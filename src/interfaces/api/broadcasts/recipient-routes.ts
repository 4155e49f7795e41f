/** Serves the recipients of a broadcast by delivery result, in the format of newer SDKs. */
import * as z from 'zod'
import { wireId } from '../../../lib/ids.ts'
import {
  BOUNCE_TYPES,
  type FoundRecipient,
  RECIPIENT_TYPES,
  type RecipientQuestion,
  type RecipientsFound,
  type RecipientType,
} from '../../../pipeline/broadcasts/broadcast-recipients.ts'
import { findBroadcast } from '../../../pipeline/broadcasts/broadcast-rows.ts'
import { foldAddress, parseAddress } from '../../../protocols/smtp/address.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import type { Db } from '../../../store/model/schema.ts'
import { invalidField, orNotFound } from '../api-error.ts'
import { pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { readChoice } from '../schema/read.ts'
import { idSchema, listSchema } from '../schema/reply-schemas.ts'

const bounceTypes = BOUNCE_TYPES.map(type => type.toLowerCase())
const bounceSchema = z.enum(bounceTypes)

const recipientSchema = z.object({
  id: idSchema('eml').meta({ description: 'Id of the email.' }),
  contact_id: idSchema('con').nullable().meta({ description: 'Null if the contact was deleted.' }),
  email: z.string(),
  count: z.int().optional().meta({ description: 'Number of opens or clicks.' }),
  clicked_links: z.array(z.object({ url: z.string(), clicks: z.int() })).optional(),
  bounce_type: bounceSchema.optional(),
})

interface BroadcastRecipientRoutesOptions {
  db: Db
  reader: { listRecipients(question: RecipientQuestion): Promise<RecipientsFound> }
  horizonOf: Plans['horizonOf']
}

export function broadcastRecipientRoutes({
  db,
  reader,
  horizonOf,
}: BroadcastRecipientRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/broadcasts/:id/recipients',
      access: 'session',
      summary: 'List the recipients of a broadcast by delivery result',
      query: {
        type: z.enum(RECIPIENT_TYPES).default('sent'),
        email: z.string().optional().meta({ description: "The recipient's address." }),
        bounce_type: bounceSchema.optional().meta({ description: 'Only with `type=bounced`.' }),
        ...cursorPageQuery('eml'),
      },
      replies: { 200: listSchema(recipientSchema) },
      async handle(request) {
        const { accountId } = request.credential
        const page = readCursorPage(request.query, 'eml', 'an email')
        const id = pathId(request, 'brd')
        const broadcast = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
        const type = readType(request.query)
        const [address, bounceType] = [readAddress(request.query), readBounceType(request.query, type)]
        const { audienceId, firstEmailId, lastEmailId } = broadcast
        const found = await reader.listRecipients({
          broadcast: { accountId, id, audienceId, firstEmailId, lastEmailId },
          horizon: await horizonOf(accountId),
          ...{ type, address, bounceType, page },
        })
        return pageReply(found, row => recipientView(row, type))
      },
    },
  ]
}

/** @throws ApiError 422 */
function readType(query: URLSearchParams): RecipientType {
  if (query.get('type') === 'unsubscribed')
    throw invalidField(
      'type',
      'The `type` parameter must not be `unsubscribed`: unsubscribes of a broadcast are counted, but not stored per recipient.',
    )
  return readChoice(query, 'type', RECIPIENT_TYPES) ?? 'sent'
}

/** @throws ApiError 422 */
function readAddress(query: URLSearchParams): string | null {
  const text = query.get('email') ?? ''
  if (text === '') return null
  const parsed = parseAddress(text)
  if ('fault' in parsed) throw invalidField('email', `The address in \`email\` ${parsed.fault}.`)
  return foldAddress(parsed.address)
}

/** @throws ApiError 422 */
function readBounceType(query: URLSearchParams, type: RecipientType) {
  const text = query.get('bounce_type') ?? ''
  if (text === '') return null
  const bounceType = BOUNCE_TYPES.find(known => known.toLowerCase() === text)
  if (bounceType && type === 'bounced') return bounceType
  throw invalidField(
    'bounce_type',
    `The \`bounce_type\` parameter must be one of ${bounceTypes.join(', ')}, with \`type=bounced\`.`,
  )
}

function recipientView(row: FoundRecipient, type: RecipientType): z.output<typeof recipientSchema> {
  const { emailId, contactId, address, openCount, clickCount, links, bounceType } = row
  return {
    id: wireId('eml', emailId),
    contact_id: contactId && wireId('con', contactId),
    email: address,
    ...(type === 'opened' && { count: openCount }),
    ...(type === 'clicked' && { count: clickCount, clicked_links: links }),
    ...(type === 'bounced' && bounceType && { bounce_type: bounceType.toLowerCase() }),
  }
}
