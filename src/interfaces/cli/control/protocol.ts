/**
 * What passes over the control socket: a line of JSON each way, one request a connection. The socket lies in
 * the data folder and is its owner's alone: whoever may write to it may write to the database, too.
 */
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'

export interface ControlRequest {
  operation: string
  input: unknown
}

export type ControlReply =
  | { output: unknown }
  /** The operation cannot be done as it was asked for. */
  | { refused: string }
  /** Something went wrong; the service's log says what. */
  | { failed: string }

export const LINE_BYTES_MAX = 1024 * 1024
/** What the system takes as the path of a socket, less its final zero. */
const PATH_BYTES_MAX = 107

/** As short as it can be said from here; undefined where even that is too long for a socket. */
export function controlPath(folder: string): string | undefined {
  const path = join(folder, 'control.sock')
  const shorter = relative(process.cwd(), path)
  const said = shorter.length < path.length ? shorter : path
  return Buffer.byteLength(said) <= PATH_BYTES_MAX ? said : undefined
}

/**
 * Reads one line; undefined when the stream ends before it does, or it is too long. The stream stays open.
 */
export async function readLine(stream: Readable): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    const end = chunk.indexOf(0x0a)
    chunks.push(end < 0 ? chunk : chunk.subarray(0, end))
    size += chunk.length
    if (size > LINE_BYTES_MAX) return undefined
    if (end >= 0) return Buffer.concat(chunks).toString('utf8')
  }
  return undefined
}
