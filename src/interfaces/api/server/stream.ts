/** Sends streamed and long replies at the speed of the client. */
import { pipeline } from 'node:stream/promises'
import type { Context, Middleware } from 'koa'
import type { Clock, Timer } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { withoutEncodedSecrets } from '../../../resources/request-log/redact.ts'
import { connectionOf } from './connections.ts'
import type { UnreadReplies } from './unread-replies.ts'

/** A client that reads less than one piece in this time is disconnected. */
const STALLED_MS = 120_000
/** Shorter replies are sent whole. A connection that reads nothing holds 80 KB, and over TLS twice that. */
const PIECE_BYTES = 16 * 1024

interface StreamContext {
  clock: Clock
  log: Log
}

/**
 * Sends a long reply piece by piece in place of Koa, which hands it to the connection whole. TLS would
 * encrypt all of it and hold the copy until the client has read it.
 */
export function sendLongReplies(unread: UnreadReplies, context: StreamContext): Middleware {
  return async (ctx, next) => {
    await next()
    const body: unknown = ctx.body
    if (typeof body !== 'string' && !Buffer.isBuffer(body)) return
    if (body.length <= PIECE_BYTES || ctx.respond === false || ctx.method === 'HEAD' || !ctx.writable) return
    const connection = connectionOf(ctx.req.socket)
    const reply = connection && unread.add(connection, body.length)
    try {
      await streamReply(ctx, piecesOf(body), context, () => reply && unread.progressed(reply))
    } finally {
      if (reply) unread.remove(reply)
    }
  }
}

/** A text is encoded piece by piece. */
function* piecesOf(body: string | Buffer): Generator<Uint8Array> {
  if (typeof body !== 'string') return yield body
  for (let at = 0; at < body.length; ) {
    // a surrogate pair must not be divided
    const end = at + PIECE_BYTES + (isHighSurrogate(body.charCodeAt(at + PIECE_BYTES - 1)) ? 1 : 0)
    yield Buffer.from(body.slice(at, end))
    at = end
  }
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

/**
 * Resolves when everything was sent or the client has disconnected. An error destroys the connection, so that
 * a truncated reply is not mistaken for a complete one.
 * @param onPiece called when the client has room for a piece
 */
export async function streamReply(
  ctx: Context,
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  { clock, log }: StreamContext,
  onPiece: () => void = () => {},
): Promise<void> {
  const { res } = ctx
  ctx.respond = false
  let stalled: Timer | undefined
  const wait = () => {
    onPiece()
    stalled?.cancel()
    stalled = clock.timer(STALLED_MS, () => res.destroy())
  }
  try {
    await pipeline(inPieces(content, wait), res)
  } catch (error) {
    const context = { request_id: ctx.state.requestId, path: withoutEncodedSecrets(ctx.path), err: error }
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE')
      log.debug(
        { event: 'http_client_disconnected', ...context },
        'The client disconnected before the end of the reply',
      )
    else
      log.error({ event: 'http_reply_aborted', ...context }, 'An HTTP reply was aborted by an internal error')
  } finally {
    stalled?.cancel()
  }
}

/** @param onPiece called before each piece and at the end */
async function* inPieces(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onPiece: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of content)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      onPiece()
      yield bytes.subarray(at, at + PIECE_BYTES)
    }
  onPiece()
}
