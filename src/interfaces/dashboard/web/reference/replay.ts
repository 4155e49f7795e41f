/** Fills in a call of the reference with a request of the request log. */
import type { Operation } from './document.ts'

/** Stands in the log in place of a secret. */
const REDACTED = '[redacted]'
const ID = /^(?:log_)?[\da-f-]{36}$/

/** Values of a logged request for the form of its operation. */
export interface Replay {
  operationId: string
  /** Parameters of path and query by name. */
  values: Record<string, string>
  /** JSON text; undefined if the request had none, or it was not stored. */
  body: string | undefined
  /** Says where the values are from and which are missing. */
  note: string
}

interface Logged {
  method: string
  endpoint: string
  query: string | null
  request_body: unknown
  request_body_truncated: boolean
  bodies_stored: boolean
  created_at: string
}

/** Id of the logged request that the address of this page names; undefined if it names none. */
export function replayedId(search: string): string | undefined {
  const id = new URLSearchParams(search).get('replay') ?? ''
  return ID.test(id) ? id : undefined
}

/**
 * Reads a request from the log with the session of this browser.
 * @throws Error with a sentence that says why it cannot be filled in
 */
export async function loadReplay(id: string, operations: readonly Operation[]): Promise<Replay> {
  const reply = await fetch(`/logs/${id}`)
  if (reply.status === 401) throw new Error('Sign in to the dashboard, then open this link again.')
  if (!reply.ok) throw new Error('This request is no longer in the request log.')
  return replayOf((await reply.json()) as Logged, operations)
}

/** @throws Error if no operation has the method and path */
export function replayOf(logged: Logged, operations: readonly Operation[]): Replay {
  const path = logged.endpoint.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1')
  // a path without parameters precedes one that it also matches, such as /emails/{id}
  const found = operations
    .map(operation => ({ operation, match: patternOf(operation).exec(path) }))
    .filter(({ operation, match }) => match && operation.method === logged.method)
    .sort((a, b) => a.match!.length - b.match!.length)[0]
  if (!found) throw new Error(`The API has no operation \`${logged.method} ${path}\`.`)
  const { operation, match } = found
  const names = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const isDeclared = (name: string) =>
    operation.parameters?.some(one => one.in === 'query' && one.name === name) === true
  const values = [
    ...names.map((name, i) => [name, decoded(match![i + 1]!)] as const),
    ...[...new URLSearchParams(logged.query ?? '')].filter(([name]) => isDeclared(name)),
  ].filter(([, value]) => !value.includes(REDACTED))
  const body = logged.request_body
  return {
    operationId: operation.operationId,
    values: Object.fromEntries(values),
    body: body === null || body === undefined ? undefined : JSON.stringify(body, null, 2),
    note: noteOf(logged),
  }
}

function patternOf({ path }: Operation): RegExp {
  const literal = path.replace(/[.*+?^$()[\]\\|]/g, '\\$&')
  return new RegExp(`^${literal.replace(/\{\w+\}/g, '([^/]+)')}$`)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function noteOf({ created_at, request_body, request_body_truncated: isCut, bodies_stored }: Logged): string {
  const from = `Filled in from the request of ${new Date(created_at).toLocaleString('en')}.`
  if (isCut) return `${from} Its body was stored in part: complete what ends with “…”.`
  if (!bodies_stored) return `${from} Its body was not stored.`
  const text = JSON.stringify(request_body) ?? ''
  if (text.includes(REDACTED) || /"content":"\[[^"\]]*\]"/.test(text))
    return `${from} Secrets and contents of attachments are not stored: replace the texts in brackets.`
  return from
}
