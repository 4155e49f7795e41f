/**
 * Bounds what a peer can make a socket hold and repeat by sending bytes in small pieces. Node's limit of a
 * paused socket counts bytes: 64 KiB in pieces of one byte take some 15 MB, and each piece costs an event.
 * TLS makes it easy to send such pieces, since every record is one.
 *
 * With `joinSmallReads`, pieces that arrive in the same turn of the event loop are joined, one connection
 * gets a limited share of a turn, and a paused socket stops reading from the system at once.
 */
import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { JoinedBytes } from './joined-bytes.ts'

/** Larger pieces are passed on as they are. */
const SMALL_BYTES = 1024
/** Joined pieces per turn. Then the socket rests until the next turn, so that others are read. */
const PIECES_PER_TURN = 512

/** To be called once per socket, also for a TLS socket on top of another one. */
export function joinSmallReads(socket: Socket): void {
  const push = socket.push.bind(socket)
  const joined = new JoinedBytes()
  let pieceCount = 0
  let isWithinTurn = false
  const passOn = () => (joined.length > 0 && !socket.destroyed ? push(joined.take()) : true)
  const endTurn = () => {
    isWithinTurn = false
    pieceCount = 0
    passOn()
  }
  holdOnePiece(socket)
  /** @returns false to stop reading, as `Readable.push` does */
  socket.push = (piece: Uint8Array | null, encoding) => {
    if (piece === null || piece.length >= SMALL_BYTES) {
      passOn()
      return push(piece, encoding)
    }
    if (isWithinTurn) {
      joined.add(piece)
      return ++pieceCount < PIECES_PER_TURN && !socket.isPaused()
    }
    isWithinTurn = true
    setImmediate(endTurn)
    return push(piece, encoding)
  }
}

/** Internals of Node's streams: the limits cannot be given to sockets that a server has accepted. */
interface States {
  _readableState?: { highWaterMark: number }
  _writableState?: { highWaterMark: number }
}

/** Lets a stream hold one piece before it asks its source to wait, since the pieces may be of one byte. */
export function holdOnePiece(stream: Readable | Writable): void {
  const { _readableState: readable, _writableState: writable } = stream as States
  if (readable) readable.highWaterMark = 1
  if (writable) writable.highWaterMark = 1
}
