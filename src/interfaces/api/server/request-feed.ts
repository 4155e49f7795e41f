/**
 * Hands the bytes of a connection to the HTTP parser of the runtime, one header section at a time, and stops
 * while too many requests wait. The parser takes everything that it is given: a single read of 64 KB may
 * contain thousands of pipelined requests, or of chunks of a body. In: bytes of the connection. Out: calls of
 * the parser. Created by `connection-guard.ts` for each connection.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { areCrumbs } from '../../../lib/crumbs.ts'
import type { ClientConnection } from './connections.ts'
import type { PieceTurns } from './piece-turns.ts'
import type { ReceivedRequest } from './received-request.ts'

/** Requests that may wait for the reply to an earlier one. While so many wait, nothing is read. */
export const WAITING_MAX = 16
/** Reading goes on when no more than this number wait, so that it does not stop again for each request. */
const WAITING_LOW = WAITING_MAX / 2
/** Bytes of a chunked body that the parser gets at once: at most 341 chunks. */
const CHUNKED_SLICE_BYTES = 2_048
const HEAD_END = '\r\n\r\n'
/** Offset of the end of the shortest header section, `GET / HTTP/1.1`, without blank lines before it. */
const HEAD_END_FROM = 14

/** The flag says that the runtime has stopped the parser until the client reads its replies. */
type Pausable = Socket & { _paused?: boolean }

export class RequestFeed {
  readonly #connection: ClientConnection
  readonly #stream: Pausable
  readonly #turns: PieceTurns
  readonly #onCrumbs: () => void
  readonly #parse: (bytes: Buffer) => void
  /** Reads since the last request was complete, and their bytes. */
  #readCount = 0
  #readBytes = 0
  /** Whether reading was stopped here. */
  #isHolding = false
  /** Whether the rest of a read waits for a later turn. */
  #isPostponed = false

  /**
   * @param stream stream on which the runtime has installed its parser
   * @param onCrumbs called when a request arrives in absurdly small pieces; must refuse the connection
   */
  constructor(connection: ClientConnection, stream: Socket, turns: PieceTurns, onCrumbs: () => void) {
    this.#connection = connection
    this.#stream = stream
    this.#turns = turns
    this.#onCrumbs = onCrumbs
    const parse = stream.listeners('data')[0] as (bytes: Buffer) => void
    this.#parse = parse
    stream.on('data', chunk => this.#take(chunk))
    stream.off('data', parse)
  }

  /** Reads on if reading was stopped and few enough requests wait. Must be called after each reply. */
  readOn(): void {
    if (!this.#isHolding || waitingCount(this.#connection) > WAITING_LOW) return
    if (this.#stream.writableNeedDrain) {
      this.#stream.once('drain', () => this.readOn())
      return
    }
    this.#isHolding = false
    this.#resume()
  }

  #take(chunk: Buffer): void {
    if (this.#hasEnded()) return
    this.#readCount++
    this.#readBytes += chunk.length
    if (areCrumbs(this.#readCount, this.#readBytes)) this.#onCrumbs()
    let rest = chunk
    while (rest.length > 0 && !this.#hasEnded() && this.#mayParse(rest)) rest = this.#parseSlice(rest)
  }

  /** Returns false if the bytes must be parsed later. They are put back then. */
  #mayParse(bytes: Buffer): boolean {
    const isPausedByOthers = this.#stream.isPaused() || this.#stream._paused === true
    const isHolding = !isPausedByOthers && this.#mustWait()
    const isPostponed = !isPausedByOthers && !isHolding && this.#isOfLaterTurn()
    if (!isPausedByOthers && !isHolding && !isPostponed) return true
    if (isHolding) this.#isHolding = true
    this.#stream.pause()
    this.#stream.unshift(bytes)
    if (isPostponed) this.#postpone()
    return false
  }

  /** A body with a length is one piece for each read, so it never waits behind bodies of many chunks. */
  #isOfLaterTurn(): boolean {
    if (this.#isPostponed) return true // the reader of the body has resumed the connection
    const body = this.#bodyInProgress()
    return this.#turns.isOver && body !== undefined && isChunked(body)
  }

  #postpone(): void {
    if (this.#isPostponed) return
    this.#isPostponed = true
    this.#turns.wait(this.#connection.network.name, () => {
      this.#isPostponed = false
      this.#resume()
    })
  }

  /** @returns the bytes after the slice */
  #parseSlice(bytes: Buffer): Buffer {
    const body = this.#bodyInProgress()
    const slice = bytes.subarray(0, sliceLength(bytes, body))
    const before = body?.pieceCount ?? 0
    this.#parse(slice)
    this.#settle(body, before)
    return bytes.subarray(slice.length)
  }

  /** Returns the request whose body is being read; undefined between requests. */
  #bodyInProgress(): ReceivedRequest | undefined {
    const { latest } = this.#connection
    return latest?.complete === false ? latest : undefined
  }

  /**
   * @param body request whose body was being read before the last call of the parser
   * @param before pieces of that body at that time
   */
  #settle(body: ReceivedRequest | undefined, before: number): void {
    const { latest } = this.#connection
    if (latest === undefined) return
    const pieceCount = latest.pieceCount - (latest === body ? before : 0)
    if (pieceCount > 1) this.#turns.spend(pieceCount)
    latest.handOn()
    if (latest !== body || latest.complete) {
      this.#readCount = 0
      this.#readBytes = 0
    }
    if (latest.isInCrumbs) this.#onCrumbs()
    this.#start()
  }

  #start(): void {
    const { start, isClosing } = this.#connection
    if (!start) return
    this.#connection.start = undefined
    if (!isClosing && !this.#stream.destroyed) start()
  }

  #hasEnded(): boolean {
    const { isRefused, isClosing } = this.#connection
    return isRefused || isClosing || this.#stream.destroyed
  }

  #mustWait(): boolean {
    const waiting = waitingCount(this.#connection)
    return waiting >= WAITING_MAX || (waiting > 0 && isEndless(this.#connection.reply))
  }

  #resume(): void {
    if (!this.#isHolding && this.#stream._paused !== true) this.#stream.resume()
  }
}

/**
 * Returns the number of bytes that contain at most one header section, and few chunks of a body.
 * @param body request whose body is being read
 */
function sliceLength(bytes: Buffer, body: ReceivedRequest | undefined): number {
  if (body === undefined) {
    const end = bytes.indexOf(HEAD_END, HEAD_END_FROM, 'latin1')
    if (end < 0) return bytes.length
    const bodyAt = end + HEAD_END.length
    // nearly every read contains one request with a small body
    const isOneRequest =
      bytes.length - bodyAt <= CHUNKED_SLICE_BYTES && bytes.indexOf(HEAD_END, bodyAt, 'latin1') < 0
    return isOneRequest ? bytes.length : bodyAt
  }
  const leftBytes = Number(body.headers['content-length']) - body.contentBytes
  return leftBytes > 0 ? leftBytes : CHUNKED_SLICE_BYTES
}

function isChunked({ headers }: ReceivedRequest): boolean {
  return headers['content-length'] === undefined
}

function waitingCount({ openReplies }: ClientConnection): number {
  return openReplies - 1
}

/** Tells whether a reply is a stream of events, which has no end. */
export function isEndless(reply: ServerResponse | undefined): boolean {
  return (
    reply?.headersSent === true && String(reply.getHeader('content-type')).startsWith('text/event-stream')
  )
}
