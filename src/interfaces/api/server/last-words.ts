/** Closes connections in an orderly way, with a last reply that reaches the client. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../lib/clock.ts'
import type { ClientConnection } from './connections.ts'
import { JSON_HEADERS } from './security-headers.ts'

/**
 * Time for a client to read its last reply and close the connection. Afterwards the connection is destroyed.
 */
export const LINGER_MS = 2_000

/**
 * Sends the last reply, closes our side, and destroys the connection after 2 s or when the peer has closed
 * its side. Until then, incoming data is read and discarded, because the kernel resets a connection that is
 * closed with unread data, and the client could lose the reply.
 */
export function endConnection(connection: ClientConnection, clock: Clock, lastWords?: string): void {
  const { stream } = connection
  if (!stream?.writable || connection.isClosing) {
    connection.destroy()
    return
  }
  connection.isClosing = true
  // the HTTP parser must not read any further
  stream.removeAllListeners('data')
  stream.on('data', () => {})
  stream.resume()
  if (lastWords === undefined) stream.end()
  else stream.end(lastWords)
  const timer = clock.timer(LINGER_MS, () => connection.destroy())
  connection.socket.once('close', () => timer.cancel())
}

const REFUSALS = {
  unreadable: { status: 400, reason: 'Bad Request', message: 'Bad Request.' },
  crumbs: {
    status: 400,
    reason: 'Bad Request',
    message: 'The request arrives in too many small pieces. Send it in pieces of 64 bytes or more.',
  },
  late: { status: 408, reason: 'Request Timeout', message: 'Request Timeout.' },
  'head too large': {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: 'Request Header Fields Too Large.',
  },
} as const

export type RawRefusal = keyof typeof REFUSALS

const JSON_LINES = headerLines(JSON_HEADERS)

/**
 * Formats the reply to input that is not a valid request, in the shape of the API's errors.
 *
 * @param headers additional header lines
 * @param at time of the reply
 */
export function rawRefusal(refusal: RawRefusal, headers: string, at: number): string {
  const { status, reason, message } = REFUSALS[refusal]
  const body = JSON.stringify({ statusCode: status, name: 'validation_error', message })
  return (
    `HTTP/1.1 ${status} ${reason}\r\ndate: ${new Date(at).toUTCString()}\r\nx-request-id: ${randomUUID()}\r\n` +
    `content-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
    `${JSON_LINES}${headers}connection: close\r\n\r\n${body}`
  )
}

/** Formats complete header lines. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
}
