/** Schemas of queue commands: the selection of deliveries and the result. */
import * as z from 'zod'
import { type Id, type IdPrefix, parseWireId, wireId } from '../../../lib/ids.ts'
import { parseIsoTime } from '../../../lib/iso-time.ts'
import { lineText } from '../../../lib/line-text.ts'
import type { NewHold } from '../../../pipeline/queue/hold.ts'
import type { NamedHold } from '../../../pipeline/queue/hold-rows.ts'
import type { Progress } from '../../../pipeline/queue/queue-admin.ts'
import { parseDomain } from '../../../protocols/smtp/address.ts'
import type { MailSelector } from '../../../store/model/schema/steering.ts'
import { invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

export const selectorSchema = z.object({
  domain: z.string().optional().meta({ description: "The recipients' domain." }),
  sender_domain: z.string().optional().meta({ description: "The sender's domain, with its subdomains." }),
  account_id: z.string().optional(),
  broadcast_id: z.string().optional(),
  email_id: z.string().optional(),
  entered_before: z.string().optional().meta({
    description: 'Only mail that entered the queue before this time, by being accepted or by its schedule.',
  }),
})
export const newHoldSchema = selectorSchema.extend({
  reason: lineText(500).optional(),
})
const readSelected = bodyReader(selectorSchema)
const readHold = bodyReader(newHoldSchema, { emptyMeansAbsent: ['reason'] })

export const holdSchema = z.object({
  object: z.literal('queue_hold'),
  id: idSchema('hld'),
  domain: z.string().nullable(),
  sender_domain: z.string().nullable(),
  account_id: idSchema('acc').nullable(),
  broadcast_id: idSchema('brd').nullable(),
  email_id: idSchema('eml').nullable(),
  entered_before: timeSchema.nullable(),
  reason: z.string().nullable(),
  created_at: timeSchema,
})
const listedHoldSchema = holdSchema.extend({
  account_name: z.string().nullable(),
  broadcast_name: z.string().nullable(),
})
export const holdListSchema = z.object({ object: z.literal('list'), data: z.array(listedHoldSchema) })
export type ListedHold = z.output<typeof listedHoldSchema>
export const releaseSchema = z.object({
  object: z.literal('queue_release'),
  released: z.boolean().meta({ description: 'False if there was no hold with exactly this selection.' }),
})
export const changeSchema = z.object({
  object: z.literal('queue_change'),
  deliveries: z.int().min(0),
  has_more: z
    .boolean()
    .meta({ description: 'Whether more deliveries may match; if so, repeat the request.' }),
})

/** @throws ApiError 422 */
export function readSelector(body: unknown): MailSelector {
  return selectorOf(readSelected(body))
}

/** @throws ApiError 422 */
export function readNewHold(body: unknown): { selector: MailSelector; reason: string | null } {
  const { reason, ...selected } = readHold(body)
  return { selector: selectorOf(selected), reason: reason ?? null }
}

export function holdView(hold: NewHold): z.output<typeof holdSchema> {
  const { id, domain, accountId, broadcastId, emailId, reason, createdAt } = hold
  return {
    object: 'queue_hold',
    id: wireId('hld', id),
    domain,
    sender_domain: hold.senderDomain ?? null,
    account_id: accountId && wireId('acc', accountId),
    broadcast_id: broadcastId && wireId('brd', broadcastId),
    email_id: emailId && wireId('eml', emailId),
    entered_before: timestamp(hold.enteredBefore ?? null),
    reason,
    created_at: timestamp(createdAt),
  }
}

export function listedHoldView(hold: NamedHold): z.output<typeof listedHoldSchema> {
  return { ...holdView(hold), account_name: hold.accountName, broadcast_name: hold.broadcastName }
}

export function changeView({ deliveries, hasMore }: Progress): z.output<typeof changeSchema> {
  return { object: 'queue_change', deliveries, has_more: hasMore }
}

function selectorOf(selected: ReturnType<typeof readSelected>): MailSelector {
  const selector = {
    domain: selected.domain === undefined ? null : readDomain('domain', selected.domain),
    accountId: readId('acc', 'account_id', selected.accountId),
    broadcastId: readId('brd', 'broadcast_id', selected.broadcastId),
    emailId: readId('eml', 'email_id', selected.emailId),
    ...readTime(selected.enteredBefore),
    ...(selected.senderDomain !== undefined && {
      senderDomain: readDomain('sender_domain', selected.senderDomain),
    }),
  }
  if (Object.values(selector).every(value => value === null))
    throw invalidField(
      'domain',
      'Missing filter: set at least one of `domain`, `sender_domain`, `account_id`, `broadcast_id`, `email_id` and `entered_before`.',
      'missing_required_field',
    )
  return selector
}

/** @throws ApiError 422 */
export function readDomain(path: string, text: string): string {
  const domain = parseDomain(text.trim())
  if (domain === undefined) throw invalidField(path, `\`${path}\` must be a domain name.`)
  return domain
}

/** The field is absent from a selector without a time. */
function readTime(text: string | undefined): Pick<MailSelector, 'enteredBefore'> {
  if (text === undefined) return {}
  const enteredBefore = parseIsoTime(text)
  if (enteredBefore === undefined)
    throw invalidField('entered_before', '`entered_before` must be a time such as 2026-11-28T00:30:00.000Z.')
  return { enteredBefore }
}

function readId(prefix: IdPrefix, path: string, text: string | undefined): Id | null {
  if (text === undefined) return null
  const id = parseWireId(prefix, text)
  if (!id) throw invalidField(path, `\`${path}\` must be an id that begins with \`${prefix}_\`.`)
  return id
}
