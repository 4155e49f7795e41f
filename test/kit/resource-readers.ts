/**
 * Reads domains, contacts, topics, broadcasts and webhooks as the libraries for Rust and .NET do, by their
 * types.
 */
import {
  flag,
  integer,
  list,
  map,
  oneOf,
  optional,
  type Read,
  struct,
  text,
  time,
  uuid,
} from './typed-readers.ts'

export type Resource =
  | 'contact'
  | 'contactTopic'
  | 'topic'
  | 'segment'
  | 'domain'
  | 'webhook'
  | 'broadcast'
  | 'import'

const page = (of: Read) => struct({ has_more: flag, data: list(of) })
const choice = oneOf(['opt_in', 'opt_out'])
const region = oneOf(['us-east-1', 'eu-west-1', 'sa-east-1', 'ap-northeast-1'])
const domainStatus = oneOf([
  ...['not_started', 'pending', 'failed', 'verified', 'partially_verified', 'partially_failed'],
])
const recordStatus = oneOf(['not_started', 'pending', 'failed', 'temporary_failure', 'verified'])
const eventType = oneOf([
  ...['sent', 'received', 'delivered', 'delivery_delayed', 'complained', 'bounced', 'clicked', 'opened'].map(
    name => `email.${name}`,
  ),
  ...['email.failed', 'email.scheduled', 'email.suppressed'],
  ...['contact', 'domain'].flatMap(of => ['created', 'updated', 'deleted'].map(name => `${of}.${name}`)),
])

/** The label of a record decides how Rust reads the rest; an unknown one is an error. */
const rustRecord: Read = (value, path) => {
  const { record } = value as { record: string }
  const types = { SPF: ['MX', 'TXT'], DKIM: ['CNAME', 'TXT'], Tracking: ['CNAME'] }[record]
  if (!types) return [`${path} has an unknown label: ${record}`]
  const common = { name: text, value: text, ttl: text, status: recordStatus, priority: optional(integer) }
  return struct({ ...common, type: oneOf(types) })(value, path)
}

const rust: Record<Resource, Read> = {
  contact: struct({
    ...{ id: text, email: text, unsubscribed: flag, created_at: text },
    ...{ first_name: optional(text), last_name: optional(text) },
    properties: optional(map(struct({ value: text, type: oneOf(['string', 'number']) }))),
  }),
  contactTopic: struct({
    ...{ id: text, name: text, description: optional(text), subscription: choice, created_at: text },
  }),
  topic: struct({
    ...{ id: text, name: text, description: optional(text), default_subscription: choice },
    ...{ visibility: oneOf(['public', 'private']), created_at: text },
  }),
  segment: struct({ id: text, name: text, created_at: text }),
  domain: struct({
    ...{ id: text, name: text, status: domainStatus, created_at: text, region },
    records: optional(list(rustRecord)),
  }),
  webhook: struct({ id: text, created_at: text, status: text, endpoint: text, events: list(eventType) }),
  broadcast: struct({ id: text, name: text, audience_id: text, status: text, created_at: text }),
  import: struct({
    ...{ id: text, status: oneOf(['queued', 'in_progress', 'completed', 'failed']), created_at: text },
    completed_at: optional(text),
    counts: struct({ total: integer, created: integer, updated: integer, skipped: integer, failed: integer }),
  }),
}

const dotnet: Record<Resource, Read> = {
  contact: struct({
    ...{ id: uuid, email: text, unsubscribed: optional(flag), created_at: time },
    properties: optional(map(text)),
  }),
  contactTopic: struct({ id: uuid, subscription: choice }),
  topic: struct({ id: uuid, name: text, description: text, default_subscription: choice, created_at: time }),
  segment: struct({ id: uuid, name: text, created_at: time }),
  domain: struct({
    ...{ id: uuid, name: text, status: domainStatus, created_at: time, region: optional(region) },
    records: optional(
      list(
        struct({
          record: text,
          name: text,
          type: text,
          ttl: text,
          status: recordStatus,
          value: optional(text),
        }),
      ),
    ),
  }),
  webhook: struct({
    ...{ id: uuid, endpoint: text, created_at: time, status: oneOf(['enabled', 'disabled']) },
    events: list(eventType),
  }),
  broadcast: struct({
    ...{ id: uuid, segment_id: uuid, created_at: time, scheduled_at: optional(time) },
    status: oneOf(['draft', 'queued', 'sent', 'scheduled', 'failed']),
  }),
  import: struct({ id: uuid }),
}

const READERS = { rust, dotnet }

/** Returns the faults that the library finds in a reply, each with its path. */
export function faultsOf(
  language: keyof typeof READERS,
  resource: Resource,
  body: unknown,
  { isList = false } = {},
): string[] {
  const read = READERS[language][resource]
  return (isList ? page(read) : read)(body, resource)
}

const RUST_ATTACHMENT = struct({
  id: text,
  content_type: text,
  filename: optional(text),
  size: optional(integer),
})
const rustEmail = struct({
  ...{ created_at: text, email_id: text, message_id: text, from: text, to: list(text), subject: text },
  click: optional(struct({ ipAddress: text, link: text, timestamp: text, userAgent: text })),
  bounce: optional(struct({ message: text, subType: oneOf(['Suppressed', 'MessageRejected']), type: text })),
  failed: optional(struct({ reason: text })),
  suppressed: optional(struct({ message: text, type: text })),
  ...{ tags: optional(map(text)), attachments: optional(list(RUST_ATTACHMENT)) },
})
const rustContact = struct({
  ...{ id: text, audience_id: text, segment_ids: list(text), created_at: text, updated_at: text },
  ...{ email: text, first_name: optional(text), last_name: optional(text), unsubscribed: flag },
})
const capability = oneOf(['enabled', 'disabled'])
const rustDomain = struct({
  ...{ id: text, name: text, status: domainStatus, created_at: text, region },
  ...{ records: list(rustRecord), capabilities: struct({ sending: capability, receiving: capability }) },
})

/**
 * .NET reads ids in payloads as UUIDs, which the payloads of this service are not: they are left out here.
 */
const dotnetEmail = struct({
  ...{ created_at: time, from: text, to: list(text), subject: text, tags: optional(map(text)) },
  click: optional(struct({ ipAddress: text, link: text, timestamp: time, userAgent: text })),
  bounce: optional(
    struct({ message: text, subType: text, type: text, diagnosticCode: optional(list(text)) }),
  ),
  failed: optional(struct({ reason: text })),
  suppressed: optional(struct({ message: text, type: text })),
})
const dotnetContact = struct({ created_at: time, updated_at: time, email: text, unsubscribed: flag })
const dotnetDomain = struct({
  ...{ name: text, status: domainStatus, created_at: time, region: optional(region) },
  records: list(struct({ record: text, name: text, type: text, ttl: text, status: recordStatus })),
})
const PAYLOADS = {
  rust: { email: rustEmail, contact: rustContact, domain: rustDomain },
  dotnet: { email: dotnetEmail, contact: dotnetContact, domain: dotnetDomain },
}

/** Returns the faults that the library finds in the payload of a webhook. */
export function faultsOfPayload(
  language: keyof typeof PAYLOADS,
  { type, data }: { type: string; data: unknown },
): string[] {
  const kind = type.split('.')[0] as keyof (typeof PAYLOADS)['rust']
  return PAYLOADS[language][kind](data, type)
}
