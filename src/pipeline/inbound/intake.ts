/**
 * Streams a message from its connection to a blob, in blocks. While a block is written, the stream is paused
 * (backpressure).
 */
import type { Readable } from 'node:stream'
import type { BlobStream } from '../../store/blobs/stream.ts'
import type { MailBytes } from './mail-bytes.ts'

/** Received chunks may be very small, so they are collected to blocks of this size before writing. */
const BLOCK_BYTES = 64 * 1024
/**
 * This many chunks are joined to one, since each has an overhead of about 200 bytes and may hold a single
 * byte.
 */
const PIECES_MAX = 512

/**
 * Reads the stream to its end, even after writing has failed.
 * @param keptBytes bytes beyond this are counted but not written
 * @throws the error of writing, or the error of the stream when it was cut off
 */
export function takeIn(
  stream: Readable,
  bytes: MailBytes,
  blob: Pick<BlobStream, 'write'>,
  keptBytes: number,
): Promise<void> {
  let pieces: Uint8Array[] = []
  let heldBytes = 0
  let room = keptBytes
  const written = async () => {
    const block = Buffer.concat(pieces)
    pieces = []
    heldBytes = 0
    await blob.write(block)
  }
  return new Promise((resolve, reject) => {
    let failure: { error: unknown } | undefined
    let writing: Promise<unknown> = Promise.resolve()
    const fail = (error: unknown) => {
      failure = { error }
      room = 0
    }
    stream.on('data', (chunk: Buffer) => {
      if (failure) return
      bytes.add(chunk)
      if (room <= 0) return
      const piece = chunk.subarray(0, room)
      room -= piece.length
      heldBytes += piece.length
      pieces.push(piece)
      if (heldBytes < BLOCK_BYTES) {
        if (pieces.length >= PIECES_MAX) pieces = [Buffer.concat(pieces)]
        return
      }
      stream.pause()
      writing = written()
        .catch(fail)
        .finally(() => stream.resume())
    })
    // A write in progress must end before the caller discards the blob.
    stream.once('error', error => writing.then(() => reject(error)))
    stream.once('end', () => {
      if (failure) return reject(failure.error)
      return written().then(resolve, reject)
    })
  })
}
