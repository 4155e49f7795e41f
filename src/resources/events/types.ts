/** The events there are: entries of an email's timeline, and what webhooks can subscribe to. */

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

/** What an event knows beyond its type, in wire spelling: `{bounce: {…}}`, `{delivery: {…}}`, … */
export type EventData = Record<string, unknown>
