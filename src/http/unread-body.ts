/** A body that a route did not ask for is read away before its reply: a connection closed over unread bytes is reset, and takes the reply with it. */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import type { Clock } from '../lib/clock.ts'

/** Beyond that the client may lose the reply. */
const MOST_BYTES = 4 * 1024 * 1024
const LONGEST_MS = 2_000

export function readUnreadBodies(clock: Clock): Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } finally {
      if (isUnread(ctx.req) && !(await readAway(ctx.req, clock)) && !ctx.headerSent)
        ctx.set('connection', 'close')
    }
  }
}

/** It has a body, and nobody has begun to read it. */
function isUnread(request: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = request.headers
  return (encoding !== undefined || length !== '0') && request.readableFlowing === null && !request.complete
}

/** @returns whether nothing of it is left */
function readAway(request: IncomingMessage, clock: Clock): Promise<boolean> {
  return new Promise(resolve => {
    let size = 0
    const end = () => {
      timer.cancel()
      request.pause()
      resolve(request.complete)
    }
    const timer = clock.timer(LONGEST_MS, end)
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MOST_BYTES) end()
    })
    request.on('end', end)
    request.on('error', end)
    request.on('close', end)
  })
}
