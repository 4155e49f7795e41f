/** Implements `DnsProvider` with Cloudflare's v4 API. */
import * as z from 'zod'
import type { Clock } from '../../../lib/clock.ts'
import type { Outbound } from '../../../protocols/http-client/outbound.ts'
import { type Call, createCalls } from './calls.ts'
import {
  type DnsProvider,
  type HostedZone,
  type NewZoneRecord,
  ProviderFault,
  type ZoneRecord,
} from './provider.ts'

interface CloudflareOptions {
  outbound: Outbound
  clock: Clock
  /** Base URL without the final slash. */
  baseUrl: string
}

const zoneSchema = z.object({ id: z.string(), name: z.string() })
const recordSchema = z.object({
  id: z.string(),
  type: z.string(),
  content: z.string(),
  priority: z.number().nullish(),
  proxied: z.boolean().nullish(),
})
const PER_PAGE = 100
/** Maximum number of pages of records at one host. */
const PAGES_MAX = 20
/** TTL value that means "automatic". */
const TTL = 1

export function createCloudflare(options: CloudflareOptions): DnsProvider {
  return {
    async findZone(token, domain) {
      const call = createCalls(options, token)
      for (let name = domain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
        const zones = await listAll(call, '/zones', { name }, zoneSchema)
        const zone = zones.find(each => each.name.toLowerCase() === name)
        if (zone) return openZone(call, zone.id, name)
      }
      return undefined
    },
  }
}

function openZone(call: Call, id: string, name: string): HostedZone {
  const path = `/zones/${encodeURIComponent(id)}/dns_records`
  return {
    name,
    async recordsAt(host) {
      const records = await listAll(call, path, { name: host }, recordSchema)
      return records.map(recordOf)
    },
    create: record => call('POST', path, bodyOf(record)).then(() => undefined),
    rewrite: (recordId, text) =>
      call('PATCH', `${path}/${encodeURIComponent(recordId)}`, { content: quoted(text) }).then(
        () => undefined,
      ),
  }
}

async function listAll<T>(
  call: Call,
  path: string,
  query: Record<string, string>,
  schema: z.ZodType<T>,
): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; page <= PAGES_MAX; page++) {
    const search = new URLSearchParams({ ...query, page: String(page), per_page: String(PER_PAGE) })
    const { result, pageCount } = await call('GET', `${path}?${search}`)
    const read = z.array(schema).safeParse(result)
    if (!read.success) throw new ProviderFault('failed', 'The DNS provider returned an unexpected response.')
    all.push(...read.data)
    if (page >= pageCount) break
  }
  return all
}

function bodyOf({ type, host: name, value, priority }: NewZoneRecord) {
  return {
    ...{ type, name, ttl: TTL },
    content: type === 'TXT' ? quoted(value) : value,
    ...(type === 'CNAME' && { proxied: false }),
    ...(priority !== undefined && { priority }),
  }
}

function recordOf({ id, type, content, priority, proxied }: z.output<typeof recordSchema>): ZoneRecord {
  const value = type === 'TXT' ? unquoted(content) : content.toLowerCase().replace(/\.$/, '')
  return { id, type, value, priority: priority ?? undefined, isProxied: proxied === true }
}

/** Formats a text as in a zone file: strings of at most 255 octets, each in quotes. */
function quoted(text: string): string {
  const strings = text.match(/.{1,255}/g) ?? ['']
  return strings.map(string => `"${string.replace(/["\\]/g, '\\$&')}"`).join(' ')
}

/** Removes quotes from the content of a record, if there are any. */
function unquoted(content: string): string {
  const strings = [...content.matchAll(/"((?:[^"\\]|\\.)*)"/g)]
  if (strings.length === 0) return content.trim()
  return strings.map(([, string]) => string!.replace(/\\(.)/g, '$1')).join('')
}
