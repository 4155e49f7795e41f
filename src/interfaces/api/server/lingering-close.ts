/**
 * Discards the unread rest of a request body (lingering close): a part before the reply and the rest after
 * it. The kernel resets a connection that is closed with unread data, and the client could lose the reply. If
 * the body does not end in time, the connection is destroyed.
 */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import type { Clock, Timer } from '../../../lib/clock.ts'
import { isWithheld } from '../body/expectation.ts'
import { LINGER_MS } from './last-words.ts'

interface Patience {
  maxBytes: number
  longestMs: number
}

/** Time in which at least `LIVELY_BYTES` must arrive; a client that sends less is not waited for. */
const STALL_MS = LINGER_MS
const LIVELY_BYTES = 64 * 1024

/**
 * Applies if nobody has started to read the body, for clients that send everything before they read the
 * reply.
 */
const BEFORE_REPLY: Patience = { maxBytes: 4 * 1024 * 1024, longestMs: 2_000 }
/**
 * Applies after the reply, for the rest of the body and for the client to read the reply. An upload of 60 MB
 * takes longer than a few seconds on most connections, and many clients read no reply before it has ended.
 */
const BEHIND_REPLY: Patience = { maxBytes: 64 * 1024 * 1024, longestMs: 30_000 }

export function readUnreadBodies(clock: Clock): Middleware {
  return async ({ req, res }, next) => {
    const linger = async () => {
      if (!(await readAway(req, BEHIND_REPLY, clock))) req.destroy()
    }
    try {
      await next()
    } finally {
      if (isComing(req) && req.readableFlowing === null) await readAway(req, BEFORE_REPLY, clock)
      if (isComing(req)) res.once('finish', linger)
    }
  }
}

/** Tells whether a body is incomplete. */
function isComing(request: IncomingMessage): boolean {
  if (isWithheld(request)) return false
  const { headers, complete, destroyed } = request
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = headers
  return (encoding !== undefined || length !== '0') && !complete && !destroyed
}

/** @returns whether the body was read to its end */
function readAway(
  request: IncomingMessage,
  { maxBytes, longestMs }: Patience,
  clock: Clock,
): Promise<boolean> {
  return new Promise(resolve => {
    let size = 0
    const { socket } = request
    const end = () => {
      timer.cancel()
      stall.cancel()
      request.off('data', count).off('end', end).pause()
      socket.off('close', end)
      resolve(request.complete)
    }
    const count = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) end()
    }
    const watch = (before: number): Timer =>
      clock.timer(STALL_MS, () => {
        if (size - before < LIVELY_BYTES) end()
        else stall = watch(size)
      })
    const timer = clock.timer(longestMs, end)
    let stall = watch(0)
    request.on('data', count).on('end', end)
    // after its reply, a request emits no event for the end of the connection
    socket.on('close', end)
    // a reader that has stopped in the middle would keep the stream paused
    request.removeAllListeners('readable').resume()
  })
}
