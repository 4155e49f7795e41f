/** Sends streamed replies at the speed of the client. */
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import type { Clock, Timer } from '../../../lib/clock.ts'
import type { Log } from '../../../lib/log.ts'
import { withoutEncodedSecrets } from '../../../resources/request-log/redact.ts'

/** A client that reads less than one piece in this time is disconnected. */
const STALLED_MS = 120_000
const PIECE_BYTES = 64 * 1024

/**
 * Resolves when everything was sent or the client has disconnected. An error destroys the connection, so that
 * a truncated reply is not mistaken for a complete one.
 */
export async function streamReply(
  ctx: Context,
  content: AsyncIterable<Uint8Array>,
  { clock, log }: { clock: Clock; log: Log },
): Promise<void> {
  const { res } = ctx
  ctx.respond = false
  let stalled: Timer | undefined
  const wait = () => {
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
  content: AsyncIterable<Uint8Array>,
  onPiece: () => void,
): AsyncGenerator<Uint8Array> {
  for await (const bytes of content)
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      onPiece()
      yield bytes.subarray(at, at + PIECE_BYTES)
    }
  onPiece()
}
