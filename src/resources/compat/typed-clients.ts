/**
 * Converts replies, and payloads of webhooks, for SDKs with closed types: one value that such an SDK cannot
 * read makes it reject the whole text. There is one table per SDK. In: a body. Out: the same body in the
 * words of the SDK; the objects are recognized by their `object`. The `User-Agent` of a request selects the
 * table for its reply, and that of the request that created a webhook the one for its payloads.
 */
import type { IncomingHttpHeaders } from 'node:http'

type Shape = Readonly<Record<string, unknown>>

export type SdkDialect = 'rust' | 'dotnet'

/** What an SDK can read. Values that are not in a table are unchanged. */
interface TypedClient {
  dialect: SdkDialect
  /** Beginnings of the `User-Agent`. */
  agents: readonly string[]
  /** Whether ids must be UUIDs without a prefix. */
  hasBareIds: boolean
  /** Whether a broadcast must have a `segment_id`. */
  needsSegment: boolean
  /** Regions of domains. */
  regions: ReadonlySet<string>
  /** Region that stands for an unknown one, for an SDK that requires a region; undefined leaves it out. */
  otherRegion: string | undefined
  /** Labels of DNS records; null leaves a record out. */
  recordLabels: Readonly<Record<string, string | null>>
  /** Types of webhook events. Others are left out of the events of a webhook. */
  eventTypes: ReadonlySet<string>
  /** Closest known statuses of domains. */
  domainStatuses: Readonly<Record<string, string>>
  /** Closest known statuses of broadcasts. */
  broadcastStatuses: Readonly<Record<string, string>>
  /** Closest known values of `last_event`. */
  lastEvents: Readonly<Record<string, string>>
  /** Values of `bounce.subType`, and the one that stands for all others; undefined for any text. */
  bounceSubTypes: { known: ReadonlySet<string>; other: string } | undefined
  /** Converts a property of a contact. */
  propertyOf(value: unknown): unknown
}

const REGIONS = new Set(['us-east-1', 'eu-west-1', 'sa-east-1', 'ap-northeast-1'])
/** A domain in this state may send, but its records were not found at the last check. */
const DOMAIN_STATUSES = { temporary_failure: 'partially_failed' }
const DOTNET_EVENT_TYPES = [
  ...['email.sent', 'email.received', 'email.delivered', 'email.delivery_delayed', 'email.complained'],
  ...[
    'email.bounced',
    'email.clicked',
    'email.opened',
    'email.failed',
    'email.scheduled',
    'email.suppressed',
  ],
  ...['contact.created', 'contact.updated', 'contact.deleted'],
  ...['domain.created', 'domain.updated', 'domain.deleted'],
]

const DOTNET: TypedClient = {
  dialect: 'dotnet',
  agents: ['resend-sdk/'],
  hasBareIds: true,
  needsSegment: true,
  regions: REGIONS,
  otherRegion: undefined,
  recordLabels: {},
  eventTypes: new Set(DOTNET_EVENT_TYPES),
  domainStatuses: DOMAIN_STATUSES,
  broadcastStatuses: { sending: 'queued', paused: 'queued', canceled: 'failed' },
  lastEvents: {},
  bounceSubTypes: undefined,
  propertyOf: value => String(plainValue(value)),
}

const RUST: TypedClient = {
  dialect: 'rust',
  agents: ['resend-rs/', 'resend-rust/'],
  hasBareIds: false,
  needsSegment: false,
  regions: REGIONS,
  otherRegion: 'us-east-1',
  recordLabels: { Verification: null, 'DKIM 1': 'DKIM', 'DKIM 2': 'DKIM', 'DKIM 3': 'DKIM', MX: 'SPF' },
  eventTypes: new Set([...DOTNET_EVENT_TYPES, 'suppression.added', 'suppression.removed']),
  domainStatuses: DOMAIN_STATUSES,
  broadcastStatuses: {},
  lastEvents: { suppressed: 'failed' },
  bounceSubTypes: { known: new Set(['Suppressed', 'MessageRejected']), other: 'MessageRejected' },
  propertyOf(value) {
    const plain = plainValue(value)
    return { value: String(plain), type: typeof plain === 'number' ? 'number' : 'string' }
  },
}

const CLIENTS = [DOTNET, RUST]

/** Finds the table of the client; undefined for a client that reads every reply as it is. */
export function typedClientOf(headers: IncomingHttpHeaders): TypedClient | undefined {
  const agent = headers['user-agent'] ?? ''
  return CLIENTS.find(({ agents }) => agents.some(beginning => agent.startsWith(beginning)))
}

/**
 * Converts the payload of a webhook for the SDK that created it; null for another creator. Ids keep their
 * prefixes, which the contract promises for every payload.
 */
export function payloadFor(dialect: SdkDialect | null, payload: Shape): Shape {
  const client = CLIENTS.find(one => one.dialect === dialect)
  const { data } = payload
  if (!client || !isShape(data)) return payload
  return { ...payload, data: data.object === 'domain' ? domainFor(client, data) : eventFor(client, data) }
}

/** Converts `data` of an event that is not about a domain. These SDKs read absent texts as errors. */
function eventFor({ bounceSubTypes }: TypedClient, data: Shape): Shape {
  const { bounce, click, tags } = data
  const isKnown = !bounceSubTypes || (isShape(bounce) && bounceSubTypes.known.has(String(bounce.subType)))
  return {
    ...data,
    ...(data.message_id === null && { message_id: '' }),
    ...(isShape(bounce) && !isKnown && { bounce: { ...bounce, subType: bounceSubTypes.other } }),
    ...(isShape(click) && {
      click: { ...click, ipAddress: click.ipAddress ?? '', userAgent: click.userAgent ?? '' },
    }),
    ...(isShape(tags) && { tags: textsOf(tags) }),
  }
}

function textsOf(values: Shape): Shape {
  const entries = Object.entries(values).filter(([, value]) => value !== null)
  return Object.fromEntries(
    entries.map(([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
}

/** Converts the body of a reply for a client. */
export function forTypedClient(client: TypedClient, body: object): object {
  return JSON.parse(
    JSON.stringify(body, (key, value: unknown) => {
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        return readable(client, value as Shape)
      if (typeof value !== 'string') return value
      if (key === 'last_event') return client.lastEvents[value] ?? value
      return client.hasBareIds && (key === 'id' || key.endsWith('_id')) ? value.replace(PREFIXED, '') : value
    }),
  ) as object
}

const PREFIXED = /^[a-z]{2,3}_(?=[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$)/

function readable(client: TypedClient, value: Shape): Shape {
  switch (value.object) {
    case 'broadcast':
      return { ...value, ...inWords(value, 'status', client.broadcastStatuses) }
    case 'contact':
      return isShape(value.properties)
        ? { ...value, properties: propertiesFor(client, value.properties) }
        : value
    case 'domain':
      return domainFor(client, value)
    case 'webhook':
      return Array.isArray(value.events)
        ? { ...value, events: value.events.filter(type => client.eventTypes.has(String(type))) }
        : value
    default:
      return value
  }
}

function propertiesFor({ propertyOf }: TypedClient, properties: Shape): Shape {
  return Object.fromEntries(Object.entries(properties).map(([key, value]) => [key, propertyOf(value)]))
}

/** Reads a property in either form: the value, or `{value, type}`. */
function plainValue(property: unknown): unknown {
  return isShape(property) ? property.value : property
}

function domainFor(client: TypedClient, { region, ...domain }: Shape): Shape {
  const { regions, otherRegion, domainStatuses } = client
  const known = typeof region !== 'string' || regions.has(region) ? region : otherRegion
  return {
    ...domain,
    ...inWords(domain, 'status', domainStatuses),
    ...(known !== undefined && { region: known }),
    ...(Array.isArray(domain.records) && { records: recordsFor(client, domain.records as Shape[]) }),
  }
}

function recordsFor({ recordLabels }: TypedClient, records: readonly Shape[]): Shape[] {
  return records.flatMap(record => {
    const label = String(record.record)
    const known = Object.hasOwn(recordLabels, label) ? recordLabels[label]! : label
    return known === null ? [] : [{ ...record, record: known }]
  })
}

function inWords(value: Shape, key: string, words: Readonly<Record<string, string>>): Shape {
  const word = value[key]
  return typeof word === 'string' && Object.hasOwn(words, word) ? { [key]: words[word] } : {}
}

function isShape(value: unknown): value is Shape {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
