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
  'domain.updated',
  'domain.verified',
  'domain.deleted',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** Event types of the SDKs that do not occur here. Webhooks may subscribe to them and never receive one. */
export const ABSENT_EVENT_TYPES = [
  'contact.topics.updated',
  'suppression.added',
  'suppression.removed',
  'topic.created',
  'topic.updated',
  'topic.deleted',
  'inbox.created',
  'inbox.updated',
  'inbox.deleted',
  'inbox.thread.created',
  'inbox.thread.folder.updated',
  'inbox.thread.assigned',
  'inbox.thread.unassigned',
  'inbox.thread.labels.updated',
  'inbox.email.received',
  'inbox.email.sent',
  'inbox.draft.created',
  'inbox.draft.updated',
  'inbox.draft.sent',
  'inbox.draft.deleted',
] as const

/** Everything that a webhook can subscribe to. */
export const SUBSCRIBABLE_TYPES = [...EVENT_TYPES, ...ABSENT_EVENT_TYPES] as const

export type SubscribableType = (typeof SUBSCRIBABLE_TYPES)[number]

/** Tells whether events of a type are about one of the account's domains. */
export function isAboutDomain(type: SubscribableType): boolean {
  return type.startsWith('email.') || type.startsWith('domain.')
}

/** Details of an event in wire spelling: `{bounce: {…}}`, `{delivery: {…}}`, … */
export type EventData = Record<string, unknown>
