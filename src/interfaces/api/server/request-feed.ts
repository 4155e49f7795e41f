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
import { type ParserTurns, REQUEST_PIECES, UNREAD_PIECES } from './parser-turns.ts'
import type { ReceivedRequest } from './received-request.ts'

/** Requests that may wait for the reply to an earlier one. While so many wait, nothing is read. */
export const WAITING_MAX = 16
/** Reading goes on when no more than this number wait, so that it does not stop again for each request. */
const WAITING_LOW = WAITING_MAX / 2
/** Bytes of a chunked body that the parser gets at once: at most 341 chunks. */
const CHUNKED_SLICE_BYTES = 2_048
/** The same while its chunks have at most `SMALL_PIECE_BYTES` on average: at most 85 chunks. */
const SMALL_SLICE_BYTES = 512
const SMALL_PIECE_BYTES = 16
/** Turns within which what a connection had sent while it waited is read. */
const BEGIN_TURNS = 2
const HEAD_END = '\r\n\r\n'
/** Offset of the end of the shortest header section, `GET / HTTP/1.1`, without blank lines before it. */
const HEAD_END_FROM = 14

/** The flag says that the runtime has stopped the parser until the client reads its replies. */
type Pausable = Socket & { _paused?: boolean }

export class RequestFeed {
  readonly #connection: ClientConnection
  readonly #stream: Pausable
  readonly #turns: ParserTurns
  readonly #onCrumbs: () => void
  readonly #parse: (bytes: Buffer) => void
  /** Reads since the last request was complete, and their bytes. */
  #readCount = 0
  #readBytes = 0
  /** Whether reading was stopped here. */
  #isHolding = false
  /** Whether the rest of a read waits for a later turn. */
  #isPostponed = false
  /** Turn in which the connection began to be read after it had waited. */
  #beganIn = Number.NEGATIVE_INFINITY

  /**
   * @param stream stream on which the runtime has installed its parser
   * @param onCrumbs called when a request arrives in absurdly small pieces; must refuse the connection
   */
  constructor(connection: ClientConnection, stream: Socket, turns: ParserTurns, onCrumbs: () => void) {
    this.#connection = connection
    this.#stream = stream
    this.#turns = turns
    this.#onCrumbs = onCrumbs
    const parse = stream.listeners('data')[0] as (bytes: Buffer) => void
    this.#parse = parse
    stream.on('data', chunk => this.#take(chunk))
    stream.off('data', parse)
  }

  /** Reads nothing before the turn of the connection comes. */
  waitForTurn(): void {
    this.#stream.pause()
    this.#postpone()
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

  /** The body of a request that has begun never waits if it has a length, because a read is one piece of it. */
  #isOfLaterTurn(): boolean {
    if (this.#isPostponed) return true // the reader of the body has resumed the connection
    if (!this.#turns.isOver) return false
    if (this.#turns.number - this.#beganIn <= BEGIN_TURNS) {
      this.#beganIn = Number.NEGATIVE_INFINITY
      return false
    }
    const body = this.#bodyInProgress()
    return body === undefined || isChunked(body)
  }

  #postpone(): void {
    if (this.#isPostponed) return
    this.#isPostponed = true
    this.#turns.wait(this.#connection.network.name, this.#bodyInProgress() !== undefined, () => {
      this.#isPostponed = false
      this.#resume()
      if (this.#stream.isPaused()) return
      if (this.#stream.readableLength > 0) {
        this.#stream.read() // at once, so that the turn is used up before the next connection goes on
      } else {
        this.#beganIn = this.#turns.number
        this.#turns.spend(UNREAD_PIECES)
      }
    })
  }

  /** @returns the bytes after the slice */
  #parseSlice(bytes: Buffer): Buffer {
    const { latest } = this.#connection
    const slice = bytes.subarray(0, sliceLength(bytes, this.#bodyInProgress()))
    const before = latest?.pieceCount ?? 0
    this.#parse(slice)
    this.#settle(latest, before)
    return bytes.subarray(slice.length)
  }

  /** Returns the request whose body is being read; undefined between requests. */
  #bodyInProgress(): ReceivedRequest | undefined {
    const { latest } = this.#connection
    return latest?.complete === false ? latest : undefined
  }

  /**
   * @param previous latest request before the last call of the parser
   * @param before pieces of its body at that time
   */
  #settle(previous: ReceivedRequest | undefined, before: number): void {
    const { latest } = this.#connection
    if (latest === undefined) return
    const isNew = latest !== previous
    const pieceCount = latest.pieceCount - (isNew ? 0 : before)
    if (isNew || pieceCount > 0) {
      this.#turns.spend(isNew ? REQUEST_PIECES + pieceCount : pieceCount)
      latest.handOn()
    }
    if (isNew || (pieceCount > 0 && latest.complete)) {
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
  if (leftBytes > 0) return leftBytes
  const isSmall = body.contentBytes <= body.pieceCount * SMALL_PIECE_BYTES
  return isSmall ? SMALL_SLICE_BYTES : CHUNKED_SLICE_BYTES
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
