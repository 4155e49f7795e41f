/**
 * HTTP client of imports, for providers and for the service itself: waits where a rate limit asks for it,
 * repeats requests that may be repeated, and turns every failure into one line without the credential.
 */
import { gunzipSync } from 'node:zlib'
import * as z from 'zod'
import { type Clock, sleep } from '../../../lib/clock.ts'
import { CommandError, printable } from '../control/result.ts'

export interface ApiOptions {
  /** Name in messages, such as `Resend`. */
  name: string
  baseUrl: string
  credential: ApiCredential
  /** Environment variable of the credential, which is named when the credential is refused. */
  variable: string
  /** Texts that must not appear in messages. */
  secrets: readonly string[]
  clock: Clock
  /** Tells the user why nothing happens for a while. */
  say(text: string): void
}

type Method = 'GET' | 'POST' | 'PATCH'
type HeaderValues = Readonly<Record<string, string>>

/** Headers that carry the credential, or a function that makes them for each request. */
export type ApiCredential = HeaderValues | ((request: RequestToSign) => HeaderValues)

interface RequestToSign {
  method: Method
  url: URL
  /** Headers that describe the body. */
  headers: HeaderValues
  /** Empty if the request has none. */
  body: string
  /** Time of the request. */
  at: number
}

export interface Api {
  /**
   * @param path path with its query, or a whole URL of the same server
   * @throws ApiFailure
   */
  get<S extends z.ZodType>(schema: S, path: string): Promise<z.output<S>>
  /**
   * @param body JSON, or a form
   * @throws ApiFailure
   */
  send<S extends z.ZodType>(schema: S, method: Method, path: string, body: object): Promise<z.output<S>>
  /**
   * Reads what a body in JSON asks for. It changes nothing, and is repeated as `get` is.
   * @throws ApiFailure
   */
  query<S extends z.ZodType>(schema: S, path: string, body: object): Promise<z.output<S>>
}

/**
 * Downloads a file that a reply names, which may be on another server and therefore gets no credential.
 * @throws ApiFailure
 */
export async function download(name: string, url: string): Promise<string> {
  const fault = (words: string) =>
    new ApiFailure(`A file of ${name} cannot be downloaded: ${shown(words)}`, null)
  try {
    const response = await fetch(url)
    if (!response.ok) throw fault(`status ${response.status}`)
    const bytes = Buffer.from(await response.arrayBuffer())
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8')
  } catch (error) {
    if (error instanceof ApiFailure) throw error
    throw fault((error as Error).message)
  }
}

/** Failure of a request. Its message is one line for the user. */
export class ApiFailure extends CommandError {
  /** Status of the reply; null if there was none. */
  readonly status: number | null
  /** Parsed body of the reply; undefined if it is not JSON. */
  readonly body: unknown

  constructor(message: string, status: number | null, body?: unknown) {
    super(message)
    this.status = status
    this.body = body
  }

  /** Tells whether the credential was refused. */
  get isDenied(): boolean {
    return this.status === 401 || this.status === 403
  }
}

const LIMITED_TRIES_MAX = 12
const FAILED_TRIES_MAX = 4
const FIRST_WAIT_MS = 1_000
const WAIT_MS_MAX = 10 * 60_000
/** Shorter waits are not worth a line. */
const SAID_WAIT_MS = 5_000
const SHOWN_LENGTH_MAX = 200
const CURSOR_PAGE = 100

export function createApi(options: ApiOptions): Api {
  const { name, baseUrl, clock, say } = options
  const base = baseUrl.replace(/\/+$/, '')

  const request = async (
    method: Method,
    path: string,
    body: object | undefined,
    isRead = method === 'GET',
  ): Promise<unknown> => {
    const url = urlOf(options, base, path)
    for (let limited = 0, failed = 0; ; ) {
      const reply = await exchange(options, method, url, body)
      if (reply.isLimited) limited++
      else if (isRead && (reply.status === null || reply.status >= 500)) failed++
      else return outcomeOf(options, method, url, reply)
      if (limited >= LIMITED_TRIES_MAX || failed >= FAILED_TRIES_MAX)
        return outcomeOf(options, method, url, reply)
      const waitMs = reply.waitMs ?? FIRST_WAIT_MS * 2 ** (limited + failed - 1)
      if (waitMs > WAIT_MS_MAX) return outcomeOf(options, method, url, reply)
      if (waitMs >= SAID_WAIT_MS) say(`${name} asks to wait; continuing in ${Math.ceil(waitMs / 1_000)} s.`)
      await sleep(clock, waitMs)
    }
  }

  const read = <S extends z.ZodType>(schema: S, path: string, body: unknown): z.output<S> => {
    const result = schema.safeParse(body)
    if (result.success) return result.data
    const issue = result.error.issues[0]!
    throw new ApiFailure(
      `${name} answered ${pathOf(path)} in an unknown shape: ${issue.path.join('.') || 'the body'}: ${issue.message}`,
      null,
    )
  }

  return {
    get: async (schema, path) => read(schema, path, await request('GET', path, undefined)),
    send: async (schema, method, path, body) => read(schema, path, await request(method, path, body)),
    query: async (schema, path, body) => read(schema, path, await request('POST', path, body, true)),
  }
}

/** Reads pages that follow each other by the id of the last entry, as those of Resend and of the service. */
export async function* byCursor<S extends z.ZodType<{ id: string }>>(
  api: Api,
  path: string,
  item: S,
): AsyncGenerator<z.output<S>[]> {
  const schema = z.object({ data: z.array(item), has_more: z.boolean().nullish() })
  const query = `${path.includes('?') ? '&' : '?'}limit=${CURSOR_PAGE}`
  for (let after = ''; ; ) {
    const { data, has_more } = await api.get(schema, path + query + after)
    yield data
    const last = data.at(-1)
    if (!has_more || !last) return
    after = `&after=${encodeURIComponent(last.id)}`
  }
}

/**
 * Reads pages whose position is a number.
 * @param page reads the page at an offset; an empty one is the last
 */
export async function* byOffset<T>(
  page: (offset: number) => Promise<{ items: readonly T[]; total: number }>,
): AsyncGenerator<T> {
  for (let offset = 0; ; ) {
    const { items, total } = await page(offset)
    yield* items
    offset += items.length
    if (items.length === 0 || offset >= total) return
  }
}

interface Reply {
  /** Null if there was no reply. */
  status: number | null
  text: string
  /** Whether the server asks to come back later. */
  isLimited?: boolean
  /** Time that the server asks to wait. */
  waitMs?: number | undefined
}

/** @throws ApiFailure for a URL of another server, which must not see the credential */
function urlOf({ name }: ApiOptions, base: string, path: string): string {
  if (path.startsWith('/')) return base + path
  if (URL.parse(path)?.origin === new URL(base).origin) return path
  throw new ApiFailure(`${name} names a page on another server: ${shown(path)}`, null)
}

async function exchange(
  { credential, clock }: ApiOptions,
  method: Method,
  address: string,
  body: object | undefined,
): Promise<Reply> {
  const isForm = body instanceof FormData
  const json = body && !isForm ? JSON.stringify(body) : ''
  const described = json === '' ? {} : { 'content-type': 'application/json' }
  const url = new URL(address)
  try {
    const response = await fetch(url, {
      method,
      // the credential is for this server only
      redirect: 'manual',
      headers: {
        accept: 'application/json',
        ...described,
        ...(typeof credential === 'function'
          ? credential({ method, url, headers: described, body: json, at: clock.now() })
          : credential),
      },
      ...(body && { body: isForm ? body : json }),
    })
    const { status, headers } = response
    const text = await response.text()
    return { status, text, isLimited: isLimit(status, headers), waitMs: askedWaitMs(headers, clock) }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: Error }
    return { status: null, text: cause?.message || message }
  }
}

/** APIs of Amazon may say it with status 400, and name the error in a header. */
function isLimit(status: number, headers: Headers): boolean {
  return status === 429 || status === 503 || /^Throttl/.test(headers.get('x-amzn-errortype') ?? '')
}

/** Reads `retry-after` in seconds or as a date, and the reset times of providers that have no such field. */
function askedWaitMs(headers: Headers, clock: Clock): number | undefined {
  const after = headers.get('retry-after')
  if (after !== null && /^\d{1,7}$/.test(after)) return Number(after) * 1_000
  const date = after === null ? Number.NaN : Date.parse(after)
  if (!Number.isNaN(date)) return Math.max(0, date - clock.now())
  const reset = headers.get('x-ratelimit-reset')
  if (reset === null || !/^\d{1,13}$/.test(reset)) return undefined
  const at = Number(reset) * (reset.length > 10 ? 1 : 1_000)
  return Math.max(0, at - clock.now())
}

/** @throws ApiFailure */
function outcomeOf(options: ApiOptions, method: Method, url: string, { status, text }: Reply): unknown {
  const { name, variable, baseUrl } = options
  const clean = (words: string) =>
    options.secrets.reduce((rest, secret) => rest.replaceAll(secret, '[key]'), words)
  if (status === null)
    throw new ApiFailure(clean(`${name} cannot be reached at ${baseUrl}: ${shown(text)}`), null)
  const body = jsonOf(text)
  if (status >= 200 && status < 300) return body
  const explanation = clean(messageIn(body) ?? '')
  const words = explanation === '' ? '' : `: ${shown(explanation)}`
  const place = `${method} ${pathOf(url)}`
  if (status === 401 || status === 403)
    throw new ApiFailure(
      `${name} refused the key in ${variable} (${place}, status ${status})${words}`,
      status,
      body,
    )
  throw new ApiFailure(`${name} answered ${place} with status ${status}${words}`, status, body)
}

function pathOf(url: string): string {
  return url.startsWith('/') ? url.split('?')[0]! : new URL(url).pathname
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // the status says enough
  }
}

const messageSchema = z.union([
  z.object({ message: z.string() }).transform(({ message }) => message),
  z.object({ Message: z.string() }).transform(({ Message }) => Message),
  z.object({ error: z.string() }).transform(({ error }) => error),
  z
    .object({ errors: z.array(z.object({ message: z.string() })).min(1) })
    .transform(({ errors }) => errors[0]!.message),
])

function messageIn(body: unknown): string | undefined {
  return messageSchema.safeParse(body).data
}

function shown(text: string): string {
  return printable(text).slice(0, SHOWN_LENGTH_MAX)
}
