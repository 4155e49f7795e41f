/**
 * What is left of a body when the reply is known is read away, the first of it before the reply and the rest
 * behind it: a connection closed over unread bytes is reset, and takes the reply with it. A body that is not
 * over by then is not waited for any longer: the connection is destroyed.
 */
import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'
import type { Clock } from '../../../lib/clock.ts'
import { LINGER_MS } from './last-words.ts'

interface Patience {
  mostBytes: number
  longestMs: number
}

/** Where nobody has begun to read, for clients that want their connection closed behind the reply. */
const BEFORE_REPLY: Patience = { mostBytes: 4 * 1024 * 1024, longestMs: 2_000 }
/** For all of the rest to come, and for the client to find the reply. */
const BEHIND_REPLY: Patience = { mostBytes: 64 * 1024 * 1024, longestMs: LINGER_MS }

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

/** It has a body, and not all of it is here. */
function isComing({ headers, complete, destroyed }: IncomingMessage): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = headers
  return (encoding !== undefined || length !== '0') && !complete && !destroyed
}

/** @returns whether nothing of it is left */
function readAway(
  request: IncomingMessage,
  { mostBytes, longestMs }: Patience,
  clock: Clock,
): Promise<boolean> {
  return new Promise(resolve => {
    let size = 0
    const { socket } = request
    const end = () => {
      timer.cancel()
      request.off('data', count).off('end', end).pause()
      socket.off('close', end)
      resolve(request.complete)
    }
    const count = (chunk: Buffer) => {
      size += chunk.length
      if (size > mostBytes) end()
    }
    const timer = clock.timer(longestMs, end)
    request.on('data', count).on('end', end)
    // behind its reply a request does not hear of it
    socket.on('close', end)
    // whoever read it piece by piece, and gave up, would hold it back
    request.removeAllListeners('readable').resume()
  })
}
