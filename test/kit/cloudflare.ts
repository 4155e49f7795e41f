/**
 * Cloudflare's v4 API on loopback, as far as records of zones go. It is strict: a request that the real one
 * would not understand, or that asks for more than it should, is answered 400 and remembered as a fault.
 */
import type { ServerResponse } from 'node:http'
import { startWebHost, type WebRequest } from './web-host.ts'

export interface FakeRecord {
  id: string
  type: string
  name: string
  content: string
  ttl: number
  proxied: boolean
  priority?: number
}

export interface FakeCloudflare {
  baseUrl: string
  /** Tokens that are good, with the zones that they open. */
  tokens: Map<string, string[]>
  records: FakeRecord[]
  /** Puts a record there as the customer has. */
  put(type: string, name: string, content: string, more?: Partial<FakeRecord>): FakeRecord
  /** `GET /zones`, `POST /zones/…/dns_records`, in their order. */
  calls: string[]
  /** Faults found in requests. */
  faults: string[]
  /** Asked first: an answer in place of the usual one. */
  instead?: ((request: WebRequest) => FakeAnswer | undefined) | undefined
  /** Number of records per page, in place of the requested one. */
  pageSize?: number
  close(): Promise<void>
}

export interface FakeAnswer {
  status: number
  body: unknown
  headers?: Record<string, string>
}

const TYPES = new Set(['TXT', 'CNAME', 'MX'])

export async function startCloudflare(tokens: Record<string, string[]> = {}): Promise<FakeCloudflare> {
  let made = 0
  const fake: FakeCloudflare = {
    baseUrl: '',
    tokens: new Map(Object.entries(tokens)),
    records: [],
    put(type, name, content, more = {}) {
      const record = { id: `rec${++made}`, type, name, content, ttl: 1, proxied: false, ...more }
      fake.records.push(record)
      return record
    },
    calls: [],
    faults: [],
    close: () => host.close(),
  }
  const host = await startWebHost({
    certificate: null,
    answer(request, response) {
      const { pathname } = new URL(request.path, 'http://fake')
      fake.calls.push(`${request.method} ${pathname}`)
      send(response, fake.instead?.(request) ?? answerOf(fake, request))
    },
  })
  fake.baseUrl = `http://127.0.0.1:${host.port}/client/v4`
  return fake
}

function send(response: ServerResponse, { status, body, headers }: FakeAnswer) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}

const good = (result: unknown, info?: object): FakeAnswer => ({
  status: 200,
  body: { success: true, errors: [], messages: [], result, ...(info && { result_info: info }) },
})
export const refusal = (status: number, code: number, message: string): FakeAnswer => ({
  status,
  body: { success: false, errors: [{ code, message }], messages: [], result: null },
})

function answerOf(fake: FakeCloudflare, request: WebRequest): FakeAnswer {
  const { method, headers, path } = request
  const url = new URL(path, 'http://fake')
  const fault = (message: string) => {
    fake.faults.push(`${method} ${path}: ${message}`)
    return refusal(400, 1_004, message)
  }
  const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1]
  if (token === undefined) return fault('no bearer token')
  const zones = fake.tokens.get(token)
  if (!zones) return refusal(403, 9_109, `Invalid access token ${token}`)
  if (headers.accept !== 'application/json') return fault('asks for something else than JSON')
  const hasBody = request.body.length > 0
  if (hasBody !== (method !== 'GET')) return fault('a body where none belongs, or none where one does')
  if (hasBody && headers['content-type'] !== 'application/json') return fault('the body is no JSON')
  const [zoneId, recordId] = placeOf(url.pathname) ?? []
  if (url.pathname === '/client/v4/zones' && method === 'GET') return zonesOf(zones, url, fault)
  const zone = zones.find(name => `zone-${name}` === zoneId)
  if (zoneId === undefined) return fault('there is no such endpoint')
  if (zone === undefined) return refusal(404, 7_003, 'Could not route to the zone')
  if (method === 'GET' && recordId === undefined) return recordsOf(fake, url, fault)
  const body = JSON.parse(request.body.toString()) as Record<string, unknown>
  if (method === 'POST' && recordId === undefined) return createdIn(fake, zone, body, fault)
  if (method === 'PATCH' && recordId !== undefined) return changed(fake, recordId, body, fault)
  return fault('the method is not allowed there')
}

function placeOf(pathname: string): [string, string | undefined] | undefined {
  const found = /^\/client\/v4\/zones\/([^/]+)\/dns_records(?:\/([^/]+))?$/.exec(pathname)
  return found ? [found[1]!, found[2]] : undefined
}

type Fault = (message: string) => FakeAnswer

function badQuery({ searchParams }: URL): string | undefined {
  const keys = [...searchParams.keys()].sort().join(' ')
  if (keys !== 'name page per_page') return `unknown query: ${keys}`
  const [page, perPage] = ['page', 'per_page'].map(key => Number(searchParams.get(key)))
  return page! >= 1 && perPage! >= 5 && perPage! <= 100 ? undefined : 'a page out of range'
}

function zonesOf(zones: readonly string[], url: URL, fault: Fault): FakeAnswer {
  const bad = badQuery(url)
  if (bad) return fault(bad)
  const found = zones.filter(name => name === url.searchParams.get('name'))
  const result = found.map(name => ({ id: `zone-${name}`, name, status: 'active' }))
  return good(result, {
    page: 1,
    per_page: 20,
    count: result.length,
    total_count: result.length,
    total_pages: 1,
  })
}

function recordsOf(fake: FakeCloudflare, url: URL, fault: Fault): FakeAnswer {
  const bad = badQuery(url)
  if (bad) return fault(bad)
  const all = fake.records.filter(({ name }) => name.toLowerCase() === url.searchParams.get('name'))
  const size = fake.pageSize ?? Number(url.searchParams.get('per_page'))
  const page = Number(url.searchParams.get('page'))
  const result = all.slice((page - 1) * size, page * size)
  const totals = { total_count: all.length, total_pages: Math.max(1, Math.ceil(all.length / size)) }
  return good(result, { page, per_page: size, count: result.length, ...totals })
}

function createdIn(
  fake: FakeCloudflare,
  zone: string,
  body: Record<string, unknown>,
  fault: Fault,
): FakeAnswer {
  const { type, name, content, ttl, priority, proxied, ...more } = body
  if (Object.keys(more).length > 0) return fault(`unknown fields: ${Object.keys(more)}`)
  if (typeof type !== 'string' || !TYPES.has(type)) return fault('type')
  if (typeof name !== 'string' || (name !== zone && !name.endsWith(`.${zone}`))) return fault('name')
  if (typeof content !== 'string' || ttl !== 1) return fault('content or ttl')
  if (type === 'TXT' && !/^"[^"]*"( "[^"]*")*$/.test(content)) return fault('a TXT record without quotes')
  if ((type === 'CNAME') !== (proxied === false)) return fault('proxied')
  if ((type === 'MX') !== Number.isInteger(priority)) return fault('priority')
  const there = fake.records.filter(record => record.name === name)
  if (there.some(record => record.type === type && record.content === content))
    return refusal(400, 81_058, 'An identical record already exists.')
  if (there.some(record => record.type === 'CNAME') || (type === 'CNAME' && there.length > 0))
    return refusal(400, 81_053, 'An A, AAAA, or CNAME record with that host already exists.')
  const more2 = typeof priority === 'number' ? { priority } : {}
  return good(fake.put(type, name, content, more2))
}

function changed(
  fake: FakeCloudflare,
  id: string,
  { content, ...more }: Record<string, unknown>,
  fault: Fault,
): FakeAnswer {
  const record = fake.records.find(each => each.id === id)
  if (!record) return refusal(404, 81_044, 'Record does not exist.')
  if (Object.keys(more).length > 0 || typeof content !== 'string')
    return fault('changes more than the content')
  if (!/^"[^"]*"( "[^"]*")*$/.test(content)) return fault('a TXT record without quotes')
  record.content = content
  return good(record)
}
