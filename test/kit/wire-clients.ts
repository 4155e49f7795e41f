/**
 * The client libraries of other languages, as they are seen on the wire: their headers, their framing, their
 * JSON.
 */

export interface WireCall {
  method: string
  /** Path of the request; it begins with a slash. */
  path: string
  body?: unknown
  /** Further headers of the call. */
  headers?: readonly string[]
}

export interface WireClient {
  name: string
  /** `{host}` and `{key}` stand for what is known when the request is made. */
  headers: readonly string[]
  json(value: unknown): string
  /** Its type, where there is a body. */
  type: string
  chunked?: true
  /** Body that it sends for calls without one, by method, and whether it sends a content type. */
  nothing?: Readonly<Record<string, { text?: string; typed?: true }>>
  /** Prefix that its base address adds to paths. */
  prefix?: string
}

const compact = (value: unknown) => JSON.stringify(value)
const escaped = (text: string, what: RegExp, upper = false) =>
  text.replace(what, letter =>
    letter
      .split('')
      .map(unit => {
        const hex = unit.charCodeAt(0).toString(16).padStart(4, '0')
        return `\\u${upper ? hex.toUpperCase() : hex}`
      })
      .join(''),
  )
const BEYOND_ASCII = /[^\0-\x7f]/gu
const JSON_TYPE = 'Content-Type: application/json'

/** `{"a": 1, "b": [2, 3]}` */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(', ')}]`
  if (typeof value !== 'object' || value === null) return escaped(JSON.stringify(value), BEYOND_ASCII)
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${spaced(item)}`).join(', ')}}`
}

const EMPTY_OBJECT = { GET: { text: '{}', typed: true }, POST: { text: '{}', typed: true } } as const

export const WIRE_CLIENTS: Readonly<Record<string, WireClient>> = {
  'node 1.1': {
    name: 'node 1.1',
    headers: [
      'host: {host}',
      'connection: keep-alive',
      'Authorization: Bearer {key}',
      'User-Agent: resend-node:1.1.0',
      'accept: */*',
      'accept-language: *',
      'sec-fetch-mode: cors',
      'accept-encoding: gzip, deflate',
    ],
    type: JSON_TYPE,
    json: compact,
    nothing: { GET: { typed: true }, POST: { text: '', typed: true } },
    prefix: '/',
  },
  python: {
    name: 'python',
    headers: [
      'Host: {host}',
      'User-Agent: resend-python:2.39.0',
      'Accept-Encoding: gzip, deflate',
      'Accept: application/json',
      'Connection: keep-alive',
      'Authorization: Bearer {key}',
    ],
    type: JSON_TYPE,
    json: spaced,
    nothing: EMPTY_OBJECT,
    prefix: '/',
  },
  go: {
    name: 'go',
    headers: [
      'Host: {host}',
      'User-Agent: resend-go/3.12.0',
      'Accept: application/json',
      'Authorization: Bearer {key}',
      'Accept-Encoding: gzip',
    ],
    type: JSON_TYPE,
    json: value => `${escaped(compact(value), /[<>&\u2028\u2029]/g)}\n`,
    chunked: true,
  },
  php: {
    name: 'php',
    headers: ['Host: {host}', 'User-Agent: resend-php/1.10.0', 'Authorization: Bearer {key}'],
    type: JSON_TYPE,
    json: value => escaped(compact(value).replaceAll('/', '\\/'), BEYOND_ASCII),
    nothing: { POST: { text: '{}', typed: true } },
  },
  ruby: {
    name: 'ruby',
    headers: [
      'Content-Type: application/json',
      'Accept: application/json',
      'User-Agent: resend-ruby:1.10.0',
      'Authorization: Bearer {key}',
      'Accept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3',
      'Connection: close',
      'Host: {host}',
    ],
    type: '',
    json: compact,
  },
  rust: {
    name: 'rust',
    headers: ['authorization: Bearer {key}', 'user-agent: resend-rs/0.31.0', 'accept: */*', 'host: {host}'],
    type: 'content-type: application/json',
    json: compact,
  },
  java: {
    name: 'java',
    headers: [
      'Accept: application/json',
      'User-Agent: resend-java/4.20.0',
      'Authorization: Bearer {key}',
      'Host: {host}',
      'Connection: Keep-Alive',
      'Accept-Encoding: gzip',
    ],
    type: 'Content-Type: application/json; charset=utf-8',
    json: compact,
    nothing: { POST: { text: '', typed: true } },
  },
  '.NET': {
    name: '.NET',
    headers: [
      'Host: {host}',
      'Accept: application/json',
      'Authorization: Bearer {key}',
      'User-Agent: resend-sdk/0.11.0 dotnet/8.0.11',
      'traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00',
    ],
    type: 'Content-Type: application/json; charset=utf-8',
    json: value => escaped(compact(value), /[<>&'+`]|[^\0-\x7f]/gu, true),
    chunked: true,
  },
}

const BOUNDARY = '----------------------------wire7f3a'

interface WirePart {
  name: string
  text: string
  /** Name of the file, for a file. */
  filename?: string
  type?: string
}

/** A form with a file. */
export class WireForm {
  readonly text: string

  constructor(parts: readonly WirePart[]) {
    const written = parts.map(({ name, text, filename, type }) => {
      const file = filename === undefined ? '' : `; filename="${filename}"`
      const typed = type === undefined ? '' : `Content-Type: ${type}\r\n`
      return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typed}\r\n${text}\r\n`
    })
    this.text = `${written.join('')}--${BOUNDARY}--\r\n`
  }
}

/** The bytes of a request, and of its body in chunks where the client sends it so. */
export function wireRequest(
  client: WireClient,
  { method, path, body, headers = [] }: WireCall,
  { host, key }: { host: string; key: string },
): Buffer[] {
  const nothing = client.nothing?.[method] ?? {}
  const isForm = body instanceof WireForm
  const text = body === undefined ? nothing.text : isForm ? body.text : client.json(body)
  const bytes = text === undefined ? undefined : Buffer.from(text)
  const typed = body !== undefined || nothing.typed
  const type = isForm ? `Content-Type: multipart/form-data; boundary=${BOUNDARY}` : client.type
  const framing = bytes && (client.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${bytes.length}`)
  const lines = [
    `${method} ${client.prefix ?? ''}${path} HTTP/1.1`,
    ...client.headers
      .filter(line => !isForm || line !== JSON_TYPE)
      .map(line => line.replace('{host}', host).replace('{key}', key)),
    ...(typed && type ? [type] : []),
    ...(framing ? [framing] : method === 'GET' ? [] : ['Content-Length: 0']),
    ...headers,
  ]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  if (!bytes) return [head]
  return client.chunked ? [head, ...chunksOf(bytes)] : [head, bytes]
}

const CHUNK_BYTES = 700

function chunksOf(bytes: Buffer): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES)
    chunks.push(Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]))
  }
  return [...chunks, Buffer.from('0\r\n\r\n')]
}
