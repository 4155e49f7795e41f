/** API of another service on loopback: a test says what it has, in the shapes of its documentation. */
import { startWebHost } from './web-host.ts'

export interface FakeRequest {
  method: string
  path: string
  query: URLSearchParams
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: string
}

export interface FakeReply {
  status?: number
  headers?: Record<string, string>
  body: unknown
}

export interface FakeApi {
  url: string
  /** `GET /domains`, with the query, in their order. */
  calls: string[]
  /** Replies in place of the usual ones, taken one by one by requests for the path. */
  instead: Map<string, FakeReply[]>
  /** Has the nth request for a path from now on, counted from 1, answered by a reply. */
  failAt(path: string, n: number, reply: FakeReply): void
  close(): Promise<void>
}

export interface FakeApiOptions {
  /** Headers of credentials with their values, of which a request must have one; or what accepts a request. */
  credentials: Readonly<Record<string, string>> | ((request: FakeRequest) => boolean)
  /** Reply to any other request. */
  denied: FakeReply
  /** Replies by path; undefined: 404. */
  answer(request: FakeRequest): FakeReply | undefined
}

export async function startFakeApi({ credentials, denied, answer }: FakeApiOptions): Promise<FakeApi> {
  const instead = new Map<string, FakeReply[]>()
  const calls: string[] = []
  const failures = new Map<string, { left: number; reply: FakeReply }>()
  const failureOf = (path: string) => {
    const failure = failures.get(path)
    return failure && --failure.left === 0 ? failure.reply : undefined
  }
  const host = await startWebHost({
    certificate: null,
    answer({ method, path, headers, body }, response) {
      const { pathname, searchParams: query } = new URL(path, 'http://fake')
      calls.push(`${method} ${path}`)
      const request = { method, path: pathname, query, headers, body: body.toString() }
      const isKnown =
        typeof credentials === 'function'
          ? credentials(request)
          : Object.entries(credentials).some(([header, value]) => headers[header] === value)
      const reply = isKnown
        ? (failureOf(pathname) ??
          instead.get(pathname)?.shift() ??
          answer(request) ?? {
            status: 404,
            body: { message: 'Not found' },
          })
        : denied
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
      response.end(JSON.stringify(reply.body))
    },
  })
  const failAt = (path: string, left: number, reply: FakeReply) => void failures.set(path, { left, reply })
  return { url: `http://127.0.0.1:${host.port}`, calls, instead, failAt, close: () => host.close() }
}

/** Part of a list by offset, at most `most` entries. */
export function slice<T>(items: readonly T[], offset: number, limit: number, most: number): T[] {
  return items.slice(offset, offset + Math.min(limit, most))
}

/** Page of a list by the id of the last entry of the page before. */
export function pageAfter<T extends { id: string }>(items: readonly T[], query: URLSearchParams, most = 100) {
  const after = query.get('after')
  const from = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  const data = slice(items, from, Number(query.get('limit') ?? 20), most)
  return { object: 'list', has_more: from + data.length < items.length, data }
}
