/**
 * All event types. `EMAIL_EVENTS` are entries in the timeline of an email; webhooks can subscribe to all
 * types.
 */

export const EMAIL_EVENTS = [
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.opened',
  'email.clicked',
  'email.scheduled',
  'email.canceled',
  'email.suppressed',
  'email.delivery_delayed',
  'email.failed',
  'email.received',
] as const

export const EVENT_TYPES = [
  ...EMAIL_EVENTS,
  'contact.created',
  'contact.updated',
  'contact.deleted',
  'domain.created',
  'domain.verified',
  'domain.deleted',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** Details of an event in wire spelling: `{bounce: {…}}`, `{delivery: {…}}`, … */
export type EventData = Record<string, unknown>
