/**
 * Protocol of the control socket: one request per connection, one line of JSON in each direction. The socket
 * is in the data folder and accessible to its owner only. Whoever may write to it could write to the
 * database, too.
 */
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'

export interface ControlRequest {
  operation: string
  input: unknown
}

export type ControlReply =
  | { output: unknown }
  /** The operation was refused. */
  | { refused: string }
  /** The operation failed. The log of the service has the details. */
  | { failed: string }

export const LINE_BYTES_MAX = 1024 * 1024
/** Maximum length of a socket path in `sockaddr_un`, without its final NUL. */
const PATH_BYTES_MAX = 107

/** Returns the shortest path of the socket, absolute or relative; undefined if even that is too long. */
export function controlPath(folder: string): string | undefined {
  const path = join(folder, 'control.sock')
  const shorter = relative(process.cwd(), path)
  const shortest = shorter.length < path.length ? shorter : path
  return Buffer.byteLength(shortest) <= PATH_BYTES_MAX ? shortest : undefined
}

/**
 * Reads one line. Returns undefined if the stream ends before the line or the line is too long. Does not
 * close the stream.
 */
export async function readLine(stream: Readable): Promise<string | undefined> {
  const line = new JoinedBytes()
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(0x0a)
    line.add(end < 0 ? chunk : chunk.subarray(0, end))
    if (line.length > LINE_BYTES_MAX) return undefined
    if (end >= 0) return line.take().toString('utf8')
  }
  return undefined
}
