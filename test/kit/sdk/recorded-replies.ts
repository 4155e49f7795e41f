/**
 * Members that the SDKs for Go, Java, PHP, Python and Ruby read from the reply to each method, with the types
 * that they parse. Go rejects a member of another type, and Java returns null for the whole reply.
 */
import { flag, integer, list, map, oneOf, optional, type Read, struct, text, time } from '../typed-readers.ts'

const texts = list(text)
const choice = oneOf(['opt_in', 'opt_out'])
const LAST_EVENTS = [
  ...['bounced', 'canceled', 'clicked', 'complained', 'delivered', 'delivery_delayed', 'failed', 'opened'],
  ...['queued', 'scheduled', 'sent', 'suppressed'],
]
const is = (word: string) => oneOf([word])
const page = (of: Read) => struct({ object: is('list'), has_more: flag, data: list(of) })
const named = (object: string, fields: Record<string, Read> = {}) =>
  struct({ object: is(object), id: text, ...fields })
const deleted = (object: string) => named(object, { deleted: flag })

const email = {
  ...{ id: text, from: text, to: texts, cc: texts, bcc: texts, reply_to: texts, subject: text },
  ...{ html: optional(text), text: optional(text), message_id: text, created_at: time },
  ...{ scheduled_at: optional(time), last_event: oneOf(LAST_EVENTS) },
}
const attachment = {
  ...{ id: text, filename: text, content_type: text, size: integer, content_disposition: text },
  ...{ content_id: optional(text), download_url: text, expires_at: time },
}
const receivedPart = struct({ id: text, filename: text, content_type: text, content_id: optional(text) })
const received = {
  ...{ id: text, from: text, to: texts, cc: texts, bcc: texts, reply_to: texts, subject: text },
  ...{ message_id: optional(text), created_at: time, attachments: list(receivedPart) },
}
const capability = oneOf(['enabled', 'disabled'])
const record = struct({
  ...{ record: text, name: text, type: text, ttl: text, status: text, value: text },
  priority: optional(integer),
})
const domain = {
  ...{ id: text, name: text, status: text, created_at: time, region: text },
  capabilities: struct({ sending: capability, receiving: capability }),
}
const claim = named('domain_claim', { name: text, status: text, domain_id: text, created_at: time })
const segment = { id: text, name: text, created_at: time }
const topic = {
  ...{ id: text, name: text, description: optional(text), default_subscription: choice, created_at: time },
}
const property = {
  ...{ id: text, key: text, type: oneOf(['string', 'number']), created_at: time },
  fallback_value: optional(text),
}
const contact = {
  ...{ id: text, email: text, first_name: optional(text), last_name: optional(text) },
  ...{ unsubscribed: flag, created_at: time },
}
const counts = struct({
  total: integer,
  created: integer,
  updated: integer,
  skipped: integer,
  failed: integer,
})
const contactImport = {
  ...{ id: text, status: oneOf(['queued', 'in_progress', 'completed', 'failed']), created_at: time, counts },
}
const template = {
  ...{ id: text, name: text, status: oneOf(['draft', 'published']), created_at: time, updated_at: time },
}
const broadcast = {
  ...{ id: text, name: optional(text), audience_id: optional(text), segment_id: optional(text) },
  ...{ status: text, created_at: time, scheduled_at: optional(time), sent_at: optional(time) },
}
const webhook = { id: text, endpoint: text, events: texts, status: capability, created_at: time }
const suppression = {
  ...{ id: text, email: text, origin: oneOf(['bounce', 'complaint', 'manual']), created_at: time },
}
const log = { id: text, created_at: time, endpoint: text, method: text, response_status: integer }
const apiKey = struct({ id: text, name: text, created_at: time })

/** Replies by method of the SDK. A method that is not listed is refused. */
export const REPLIES: Readonly<Record<string, Read>> = {
  'emails.send': struct({ id: text }),
  'batch.send': struct({ data: list(struct({ id: text })) }),
  'emails.get': named('email', email),
  'emails.list': page(struct(email)),
  'emails.update': named('email'),
  'emails.cancel': named('email'),
  'emails.share': named('email', { url: text }),
  'emails.attachments.list': page(struct(attachment)),
  'emails.attachments.get': named('attachment', attachment),
  'emails.receiving.list': page(struct(received)),
  'emails.receiving.get': named('email', {
    ...{ ...received, headers: map(text), raw: struct({ download_url: text, expires_at: time }) },
  }),
  'emails.receiving.attachments.list': page(struct(attachment)),
  'emails.receiving.attachments.get': named('attachment', attachment),
  'domains.create': struct({ ...domain, records: list(record) }),
  'domains.get': named('domain', { ...domain, records: list(record) }),
  'domains.list': page(struct(domain)),
  'domains.update': named('domain'),
  'domains.verify': named('domain'),
  'domains.remove': deleted('domain'),
  'domains.claims.create': claim,
  'domains.claims.get': claim,
  'domains.claims.verify': claim,
  'apiKeys.create': struct({ id: text, token: text }),
  'apiKeys.list': page(apiKey),
  'apiKeys.update': named('api_key'),
  'apiKeys.remove': struct({}),
  'audiences.create': struct({ object: text, id: text, name: text }),
  'audiences.get': struct({ object: text, ...segment }),
  'audiences.list': page(struct(segment)),
  'audiences.remove': struct({ object: text, id: text, deleted: flag }),
  'segments.create': named('segment', { name: text }),
  'segments.get': named('segment', segment),
  'segments.list': page(struct(segment)),
  'segments.remove': deleted('segment'),
  'topics.create': named('topic'),
  'topics.get': named('topic', topic),
  'topics.list': page(struct(topic)),
  'topics.update': named('topic'),
  'topics.remove': deleted('topic'),
  'contactProperties.create': named('contact_property'),
  'contactProperties.get': named('contact_property', property),
  'contactProperties.list': page(struct(property)),
  'contactProperties.update': named('contact_property'),
  'contactProperties.remove': deleted('contact_property'),
  'contacts.create': named('contact'),
  'contacts.get': named('contact', contact),
  'contacts.list': page(struct(contact)),
  'contacts.update': named('contact'),
  'contacts.remove': struct({ object: is('contact'), contact: text, deleted: flag }),
  'contacts.segments.add': struct({ id: text }),
  'contacts.segments.list': page(struct(segment)),
  'contacts.segments.remove': struct({ id: text, deleted: flag }),
  'contacts.topics.update': struct({ id: text }),
  'contacts.topics.list': page(struct({ id: text, name: text, subscription: choice })),
  'contacts.imports.create': named('contact_import'),
  'contacts.imports.get': named('contact_import', contactImport),
  'contacts.imports.list': page(struct(contactImport)),
  'templates.create': named('template'),
  'templates.get': named('template', { ...template, html: optional(text) }),
  'templates.list': page(struct(template)),
  'templates.update': named('template'),
  'templates.publish': named('template'),
  'templates.duplicate': named('template'),
  'templates.remove': deleted('template'),
  'broadcasts.create': struct({ id: text }),
  'broadcasts.get': named('broadcast', { ...broadcast, from: text, subject: text, reply_to: texts }),
  'broadcasts.list': page(struct(broadcast)),
  'broadcasts.update': struct({ id: text }),
  'broadcasts.send': struct({ id: text }),
  'broadcasts.cancel': named('broadcast'),
  'broadcasts.remove': deleted('broadcast'),
  'webhooks.create': named('webhook', { signing_secret: text }),
  'webhooks.get': named('webhook', webhook),
  'webhooks.list': page(struct(webhook)),
  'webhooks.update': named('webhook'),
  'webhooks.remove': deleted('webhook'),
  'suppressions.add': named('suppression'),
  'suppressions.get': named('suppression', suppression),
  'suppressions.list': page(struct(suppression)),
  'suppressions.remove': deleted('suppression'),
  'suppressions.batch.add': struct({ data: list(struct({ id: text })) }),
  'suppressions.batch.remove': struct({ data: list(struct({ id: text, deleted: flag })) }),
  'logs.list': page(struct(log)),
  'logs.get': named('log', log),
}
