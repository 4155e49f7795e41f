/** Replies that are made while they are sent, no faster than the client reads. */
import { pipeline } from 'node:stream/promises'
import type { Context } from 'koa'
import type { Log } from '../lib/log.ts'

/** A client that reads nothing for so long is let go. */
const STALLED_MS = 120_000

/** Resolves when all is sent, or the client has left. A failure cuts the connection, so that it is not taken for the end. */
export async function streamReply(ctx: Context, content: AsyncIterable<Uint8Array>, log: Log): Promise<void> {
  const { req, res } = ctx
  ctx.respond = false
  res.setTimeout(STALLED_MS, () => res.destroy())
  try {
    await pipeline(content, res)
  } catch (error) {
    const context = { requestId: ctx.state.requestId, path: ctx.path, err: error }
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE')
      log.debug(context, 'the client left before its reply')
    else log.error(context, 'a reply broke off')
  } finally {
    req.socket.setTimeout(0)
  }
}
