/** Client of the HTTP API. The browser sends the session cookie automatically. */

interface FieldFault {
  path: string
  message: string
}

/** A column of a contact file that may say who has left, with values of it and the first row of each. */
export interface ColumnQuestion {
  column: string
  values: { value: string; row: number; email: string | null }[]
}

/** An error response of the API, or a failed connection. `message` is shown to users. */
export class ApiError extends Error {
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  /** Name of the error, from the API's closed list. */
  readonly errorName: string
  readonly fields: readonly FieldFault[]
  /** Questions that another request answers. */
  readonly questions: readonly ColumnQuestion[]
  readonly #shown = new Set<FieldFault>()

  constructor(
    status: number,
    errorName: string,
    message: string,
    fields: readonly FieldFault[] = [],
    questions: readonly ColumnQuestion[] = [],
  ) {
    super(message)
    this.status = status
    this.errorName = errorName
    this.fields = fields
    this.questions = questions
  }

  /** Message for a field or a part of it, such as `to[1]`; undefined if the field is valid. */
  of(path: string): string | undefined {
    const fault = this.fields.find(
      field => field.path === path || field.path.startsWith(`${path}[`) || field.path.startsWith(`${path}.`),
    )
    if (fault) this.#shown.add(fault)
    return fault?.message
  }

  /** Whether `of` was asked for every field that is invalid. */
  get isShown(): boolean {
    return this.fields.length > 0 && this.fields.every(field => this.#shown.has(field))
  }
}

declare global {
  /** Replies by path that `theme/first-paint.ts` has asked for. */
  var earlyReplies: Record<string, Promise<Response>> | undefined
}

type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

const listeners = new Set<() => void>()

/** Calls the listener when a request finds that the session has ended. */
export function onSignedOut(listener: () => void): void {
  listeners.add(listener)
}

const unreachable = new Set<() => void>()

/** Calls the listener when a request gets no response. */
export function onUnreachable(listener: () => void): void {
  unreachable.add(listener)
}

/** @throws ApiError */
export async function call<T>(
  method: Method,
  path: string,
  body?: unknown,
  { headers, ...options }: Pick<RequestInit, 'keepalive'> & { headers?: Record<string, string> } = {},
): Promise<T> {
  const reply = await send(method, path, {
    ...options,
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    }),
  })
  return (await reply.json()) as T
}

/**
 * Sends a request whose reply may be something other than JSON.
 * @throws ApiError
 */
export async function send(method: Method, path: string, init: RequestInit = {}): Promise<Response> {
  let reply: Response
  try {
    const options = { ...init, method, credentials: 'same-origin', cache: 'no-store' } as const
    reply = await (takeEarlyReply(path) ?? fetch(path, options))
  } catch (error) {
    if (init.signal?.aborted) throw error
    for (const listener of unreachable) listener()
    throw new ApiError(0, 'unreachable', 'The service cannot be reached.')
  }
  if (reply.ok) return reply
  throw await refusalOf(reply, path)
}

function takeEarlyReply(path: string): Promise<Response> | undefined {
  const reply = globalThis.earlyReplies?.[path]
  delete globalThis.earlyReplies?.[path]
  return reply
}

async function refusalOf(reply: Response, path: string): Promise<ApiError> {
  let said: { name?: string; message?: string; errors?: FieldFault[]; questions?: ColumnQuestion[] } = {}
  try {
    said = (await reply.json()) as typeof said
  } catch {
    // a proxy has replied instead of the service
    said = { message: `The server responded with ${reply.status} ${reply.statusText}.` }
  }
  if (reply.status === 401 && said.name === 'missing_api_key' && !path.startsWith('/auth/'))
    for (const listener of listeners) listener()
  const { name = 'application_error', message = '', errors, questions } = said
  return new ApiError(reply.status, name, message, errors, questions)
}

/** Builds a URL such as `/emails?status=sent`. Empty parameters are omitted. */
export function withQuery(
  path: string,
  query: Readonly<Record<string, string | number | null | undefined>>,
): string {
  const given = Object.entries(query).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  )
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString()
  return text === '' ? path : `${path}?${text}`
}
