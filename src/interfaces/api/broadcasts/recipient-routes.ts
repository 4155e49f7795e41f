/** Serves the recipients of a broadcast by result, in the format of newer SDKs. */
import * as z from 'zod'
import { csvLine } from '../../../lib/csv.ts'
import { type Id, type IdPrefix, idTime, wireId } from '../../../lib/ids.ts'
import {
  BOUNCE_TYPES,
  type FoundRecipient,
  isOutcome,
  RECIPIENT_TYPES,
  type RecipientQuestion,
  type RecipientsFound,
  type RecipientType,
} from '../../../pipeline/broadcasts/broadcast-recipients.ts'
import { findBroadcast } from '../../../pipeline/broadcasts/broadcast-rows.ts'
import {
  FORECAST_REASONS,
  type ForecastQuestion,
  type RecipientForecast,
} from '../../../pipeline/broadcasts/forecast.ts'
import { END_OF_NUMBERS } from '../../../pipeline/tracking/link-numbers.ts'
import { foldAddress, parseAddress } from '../../../protocols/smtp/address.ts'
import type { Plans } from '../../../resources/accounts/plans.ts'
import { type Db, SKIP_REASONS } from '../../../store/model/schema.ts'
import type { ListPage } from '../../../store/reading/list-page.ts'
import { apiErrorOf, invalidField, orNotFound } from '../api-error.ts'
import { csvFile, exportReply } from '../route/export.ts'
import { type ApiRequest, ok, pageReply, pathId, type Route } from '../route/route.ts'
import { cursorPageQuery, readCursorPage } from '../schema/cursor.ts'
import { readChoice, readNumber } from '../schema/read.ts'
import { idSchema, listSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const bounceTypes = BOUNCE_TYPES.map(type => type.toLowerCase())
const bounceSchema = z.enum(bounceTypes)

export const recipientSchema = z.object({
  id: idSchema('eml', 'rcp').meta({
    description: 'Id of the email, or of the entry (`rcp_…`) with `type=skipped` and `type=unsubscribed`.',
  }),
  contact_id: idSchema('con').nullable().meta({ description: 'Null if the contact was deleted.' }),
  email: z.string().nullable().meta({
    description: 'Null if the contact of a skipped recipient was deleted before its email was created.',
  }),
  count: z.int().optional().meta({ description: 'Number of opens or clicks.' }),
  clicked_links: z.array(z.object({ url: z.string(), clicks: z.int() })).optional(),
  bounce_type: bounceSchema.optional(),
  skip_reason: z.enum(SKIP_REASONS).optional(),
  unsubscribed_at: timeSchema.optional(),
})

const count = z.int().min(0)
export const forecastSchema = z
  .object({
    object: z.literal('broadcast_recipient_preview'),
    id: idSchema('brd'),
    total: count.meta({ description: 'Contacts of the audience or the segment.' }),
    recipients: count.meta({ description: 'Contacts who would get the broadcast.' }),
    skipped: z.object(Object.fromEntries(FORECAST_REASONS.map(reason => [reason, count]))),
    complete: z.boolean().meta({
      description:
        'False if counting took too long; the numbers are then those of the contacts counted so far.',
    }),
  })
  .meta({ id: 'BroadcastRecipientPreview' })

interface BroadcastRecipientRoutesOptions {
  db: Db
  reader: {
    listRecipients(question: RecipientQuestion): Promise<RecipientsFound>
    forecastRecipients(question: ForecastQuestion): Promise<RecipientForecast | undefined>
  }
  quotaOf: Plans['quotaOf']
  horizonOf: Plans['horizonOf']
}

export function broadcastRecipientRoutes(options: BroadcastRecipientRoutesOptions): Route[] {
  return [...listRoutes(options), forecastRoute(options)]
}

const LISTED_QUERY = {
  type: z.enum(RECIPIENT_TYPES).default('sent'),
  email: z.string().optional().meta({ description: "The recipient's address." }),
  bounce_type: bounceSchema.optional().meta({ description: 'Only with `type=bounced`.' }),
  skip_reason: z.enum(SKIP_REASONS).optional().meta({ description: 'Only with `type=skipped`.' }),
  link: z.int().min(0).max(END_OF_NUMBERS).optional().meta({
    description:
      'Number of a link of the broadcast, which the recipients have clicked. Only with `type=clicked`.',
  }),
}

function listRoutes({ db, reader, horizonOf }: BroadcastRecipientRoutesOptions): Route[] {
  const questionOf = async (request: ApiRequest): Promise<Omit<RecipientQuestion, 'page' | 'isCounted'>> => {
    const { accountId } = request.credential
    const id = pathId(request, 'brd')
    const broadcast = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
    const type = readType(request.query)
    const address = readAddress(request.query)
    const [bounceType, skipReason] = [readBounceType(request.query, type), readReason(request.query, type)]
    const { audienceId, firstEmailId, lastEmailId } = broadcast
    return {
      broadcast: { accountId, id, audienceId, firstEmailId, lastEmailId },
      horizon: await horizonOf(accountId),
      ...{ type, address, bounceType, skipReason, link: readLink(request.query, type) },
    }
  }
  return [
    {
      method: 'GET',
      path: '/broadcasts/:id/recipients',
      access: 'session',
      summary: 'List the recipients of a broadcast by result',
      query: { ...LISTED_QUERY, ...cursorPageQuery(['eml', 'rcp']) },
      replies: { 200: listSchema(recipientSchema) },
      async handle(request) {
        const question = await questionOf(request)
        const page = readCursorPage(request.query, prefixOf(question.type), 'a recipient in the list')
        const found = await reader.listRecipients({ ...question, page, isCounted: true })
        return pageReply(found, row => recipientView(row, question.type))
      },
    },
    {
      method: 'GET',
      path: '/broadcasts/:id/recipients/export',
      access: 'session',
      summary: 'Export the recipients of a broadcast with a result as CSV',
      query: LISTED_QUERY,
      replies: { 200: 'text/csv' },
      async handle(request) {
        const question = await questionOf(request)
        const batchFrom = async (cursor: ListPage['cursor']) => {
          const page = { limit: ROWS_PER_BATCH, offset: 0, cursor }
          const { rows, hasMore } = await reader.listRecipients({ ...question, page, isCounted: false })
          const csv = rows.map(row => csvRow(row, question.type)).join('')
          return { csv, next: hasMore ? (rows.at(-1)?.id ?? null) : null }
        }
        const batchAfter = (id: Id) => batchFrom({ id, side: 'older' })
        return exportReply('recipients', 'csv', csvFile(CSV_HEADER, await batchFrom(null), batchAfter))
      },
    },
  ]
}

const ROWS_PER_BATCH = 1_000
const CSV_HEADER = csvLine([
  ...['email', 'email_id', 'contact_id', 'opens', 'clicks', 'links', 'bounce_type'],
  ...['skip_reason', 'unsubscribed_at'],
])

function csvRow(row: FoundRecipient, type: RecipientType) {
  const { id, address, contactId, openCount, clickCount, links, bounceType, skipReason } = row
  const isOfEmail = !isOutcome(type)
  return csvLine([
    ...[address, isOfEmail ? wireId('eml', id) : null, contactId && wireId('con', contactId)],
    ...(isOfEmail ? [openCount, clickCount] : [null, null]),
    ...[links.map(({ url }) => url).join(' '), bounceType?.toLowerCase() ?? null],
    ...[skipReason, type === 'unsubscribed' ? timestamp(idTime(id)) : null],
  ])
}

/** Prefix of the ids in the list. */
function prefixOf(type: RecipientType): IdPrefix {
  return isOutcome(type) ? 'rcp' : 'eml'
}

function forecastRoute({ db, reader, quotaOf }: BroadcastRecipientRoutesOptions): Route {
  return {
    method: 'GET',
    path: '/broadcasts/:id/recipients/preview',
    access: 'session',
    summary: 'Count who would get a broadcast if it were sent now',
    replies: { 200: forecastSchema },
    async handle(request) {
      const { accountId } = request.credential
      const id = pathId(request, 'brd')
      const broadcast = orNotFound(await findBroadcast(db, accountId, id), 'Broadcast')
      const { audienceId, segmentId, topicId } = broadcast
      const found = await reader.forecastRecipients({
        broadcast: { accountId, audienceId, segmentId, topicId },
        quota: await quotaOf(accountId),
      })
      if (!found)
        throw apiErrorOf({
          refused: 'wrong_state',
          message: 'The segment of the broadcast has been deleted.',
        })
      return ok(forecastView(id, found))
    },
  }
}

function forecastView(id: Id, found: RecipientForecast): z.output<typeof forecastSchema> {
  const { memberCount, recipientCount, skipped, isComplete } = found
  return {
    object: 'broadcast_recipient_preview',
    id: wireId('brd', id),
    total: memberCount,
    recipients: recipientCount,
    skipped,
    complete: isComplete,
  }
}

/** @throws ApiError 422 */
function readType(query: URLSearchParams): RecipientType {
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

/** @throws ApiError 422 */
function readReason(query: URLSearchParams, type: RecipientType) {
  const text = query.get('skip_reason') ?? ''
  if (text === '') return null
  const reason = SKIP_REASONS.find(known => known === text)
  if (reason && type === 'skipped') return reason
  throw invalidField(
    'skip_reason',
    `The \`skip_reason\` parameter must be one of ${SKIP_REASONS.join(', ')}, with \`type=skipped\`.`,
  )
}

/** @throws ApiError 422 */
function readLink(query: URLSearchParams, type: RecipientType): number | null {
  if ((query.get('link') ?? '') === '') return null
  if (type !== 'clicked')
    throw invalidField('link', 'The `link` parameter can only be given with `type=clicked`.')
  return readNumber(query, 'link', { fallback: 0, min: 0, max: END_OF_NUMBERS })
}

function recipientView(row: FoundRecipient, type: RecipientType): z.output<typeof recipientSchema> {
  const { id, contactId, address, openCount, clickCount, links, bounceType, skipReason } = row
  return {
    id: wireId(prefixOf(type), id),
    contact_id: contactId && wireId('con', contactId),
    email: address,
    ...(type === 'opened' && { count: openCount }),
    ...(type === 'clicked' && { count: clickCount, clicked_links: links }),
    ...(type === 'bounced' && bounceType && { bounce_type: bounceType.toLowerCase() }),
    ...(skipReason && { skip_reason: skipReason }),
    ...(type === 'unsubscribed' && { unsubscribed_at: timestamp(idTime(id)) }),
  }
}
