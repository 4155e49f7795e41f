/** Schemas of the routes of received mail and their logs. */
import * as z from 'zod'
import { parseWireId, wireId } from '../../../lib/ids.ts'
import { matchesRoute, parseRoutePattern } from '../../../pipeline/inbound/route-pattern.ts'
import { parseAddress } from '../../../protocols/smtp/address.ts'
import { ROUTES_MAX, type RouteTerms } from '../../../resources/emails/inbound-routes.ts'
import {
  type InboundRouteLogRow,
  type InboundRouteRow,
  ROUTE_ACTIONS,
  ROUTE_OUTCOMES,
} from '../../../store/model/schema/inbound.ts'
import { fieldNotFound, invalidField } from '../api-error.ts'
import { bodyReader } from '../schema/read.ts'
import { idSchema, timeSchema } from '../schema/reply-schemas.ts'
import { timestamp } from '../schema/timestamp.ts'

const matchField = z.string().meta({
  description:
    'Address of the recipient, or a pattern in whose local part `*` stands for any characters: ' +
    '`support+*@example.com`, `*@example.com`. The domain must be one of the account.',
})
const actionField = z.enum(ROUTE_ACTIONS).meta({
  description:
    '`webhook`: the event `email.received` goes to this webhook only. `forward`: the message is sent on to ' +
    '`forward_to`, and stays in the inbox. `drop`: the message is accepted and not stored.',
})
const webhookId = z.string().optional().meta({
  description: 'Webhook of the action `webhook`. It need not subscribe to `email.received`.',
})
const forwardTo = z.string().optional().meta({ description: 'Address of the action `forward`.' })
const position = z
  .int()
  .min(1)
  .max(ROUTES_MAX)
  .optional()
  .meta({ description: 'Place among the routes, from 1; the first route that matches counts.' })

export const newRouteSchema = z.object({
  match: matchField,
  action: actionField,
  webhook_id: webhookId,
  forward_to: forwardTo,
  position,
})
export const routeChangeSchema = z.object({
  match: matchField.optional(),
  action: actionField.optional(),
  webhook_id: webhookId,
  forward_to: forwardTo,
  position,
})
export const routeTestSchema = z.object({
  address: z.string().meta({ description: 'Address of a recipient.' }),
})

export const routeSchema = z
  .object({
    object: z.literal('inbound_route'),
    id: idSchema('rte'),
    position: z.int().min(1),
    match: z.string(),
    action: z.enum(ROUTE_ACTIONS),
    webhook_id: idSchema('wh').nullable(),
    forward_to: z.string().nullable(),
    created_at: timeSchema,
  })
  .meta({ id: 'InboundRoute' })

export const routeTestReplySchema = z.object({
  object: z.literal('inbound_route_test'),
  address: z.string(),
  route: routeSchema.nullable().meta({ description: 'The first route that matches; null if none does.' }),
})

export const routeLogSchema = z
  .object({
    object: z.literal('inbound_route_log'),
    id: idSchema('rtl'),
    route_id: idSchema('rte'),
    from: z.string(),
    to: z.string().meta({ description: 'Recipient that the route matched.' }),
    subject: z.string(),
    outcome: z.enum(ROUTE_OUTCOMES).meta({
      description: '`stored`: in the inbox, with its event for the webhook. `failed`: in the inbox alone.',
    }),
    reason: z.string().nullable().meta({ description: 'Why the route failed; null for other outcomes.' }),
    inbound_id: idSchema('inb').nullable().meta({
      description: 'The received message, which may have been deleted since; null for dropped mail.',
    }),
    email_id: idSchema('eml').nullable().meta({ description: 'The email by which it was forwarded.' }),
    created_at: timeSchema,
  })
  .meta({ id: 'InboundRouteLog' })

const readNew = bodyReader(newRouteSchema, { emptyMeansAbsent: ['forward_to'] })
const readChange = bodyReader(routeChangeSchema, { emptyMeansAbsent: ['forward_to'] })
const readTest = bodyReader(routeTestSchema)

/** Fields of a request that decide what a route does. */
interface TermFields {
  match: string
  action: InboundRouteRow['action']
  webhookId?: string | undefined
  forwardTo?: string | undefined
}

/** A new route, or a change of one. A position of null is the end, or the present one. */
interface WantedRoute {
  terms: RouteTerms
  position: number | null
}

/** @throws ApiError 422 */
export function readNewRoute(body: unknown): WantedRoute {
  const { position = null, ...fields } = readNew(body)
  return { terms: termsOf(fields), position }
}

/**
 * Fields that are absent keep their values, unless they belong to an action that the route no longer has.
 * @throws ApiError 422
 */
export function readRouteChange(body: unknown, former: InboundRouteRow): WantedRoute {
  const fields = readChange(body)
  const view = routeView(former)
  const { match = view.match, action = view.action, position = null } = fields
  const present = action === view.action ? view : { webhook_id: null, forward_to: null }
  const { webhookId = present.webhook_id ?? undefined, forwardTo = present.forward_to ?? undefined } = fields
  return { terms: termsOf({ match, action, webhookId, forwardTo }), position }
}

/** @returns the address without regard to its display @throws ApiError 422 */
export function readTestedAddress(body: unknown): string {
  const parsed = parseAddress(readTest(body).address)
  if ('fault' in parsed) throw invalidField('address', `Invalid \`address\`: the address ${parsed.fault}.`)
  return parsed.address
}

/** @throws ApiError 422 naming the field */
function termsOf({
  match: text,
  action: wanted,
  webhookId: webhook,
  forwardTo: address,
}: TermFields): RouteTerms {
  const parsed = parseRoutePattern(text)
  if ('fault' in parsed)
    throw invalidField(
      'match',
      `Invalid \`match\`: the address ${parsed.fault}. It must be an address, or a pattern such as ` +
        '`support+*@example.com` or `*@example.com`.',
    )
  const { pattern } = parsed
  requireOnlyFor('webhook', 'webhook_id', wanted, webhook)
  requireOnlyFor('forward', 'forward_to', wanted, address)
  const id = webhook === undefined ? null : parseWireId('wh', webhook)
  if (id === undefined) throw fieldNotFound('webhook_id', 'Webhook')
  return {
    ...{ pattern, action: wanted, webhookId: id },
    forwardTo: address === undefined ? null : readForwardTo(address, pattern),
  }
}

/** @throws ApiError 422 if the field is missing, or given for another action */
function requireOnlyFor(
  owner: InboundRouteRow['action'],
  field: string,
  wanted: InboundRouteRow['action'],
  value: string | undefined,
) {
  if (wanted === owner && value === undefined)
    throw invalidField(
      field,
      `Missing \`${field}\` field, which the action \`${owner}\` needs.`,
      'missing_required_field',
    )
  if (wanted !== owner && value !== undefined)
    throw invalidField(field, `\`${field}\` is only for the action \`${owner}\`.`)
}

/** @throws ApiError 422 */
function readForwardTo(text: string, pattern: string): string {
  const parsed = parseAddress(text)
  if ('fault' in parsed)
    throw invalidField('forward_to', `Invalid \`forward_to\`: the address ${parsed.fault}.`)
  if (matchesRoute(pattern, parsed.address))
    throw invalidField(
      'forward_to',
      '`forward_to` must not match the route itself, which would forward the message again (mail loop).',
    )
  return parsed.address
}

export function routeView({ id, position: place, pattern, webhookId: webhook, ...row }: InboundRouteRow) {
  return {
    object: 'inbound_route' as const,
    id: wireId('rte', id),
    position: place,
    match: pattern,
    action: row.action,
    webhook_id: webhook && wireId('wh', webhook),
    forward_to: row.forwardTo,
    created_at: timestamp(row.createdAt),
  }
}

export function routeLogView({ messageId, emailId, ...row }: InboundRouteLogRow) {
  return {
    object: 'inbound_route_log' as const,
    id: wireId('rtl', row.id),
    route_id: wireId('rte', row.routeId),
    from: row.sender,
    to: row.recipient,
    subject: row.subject,
    outcome: row.outcome,
    reason: row.reason,
    inbound_id: messageId && wireId('inb', messageId),
    email_id: emailId && wireId('eml', emailId),
    created_at: timestamp(row.createdAt),
  }
}
