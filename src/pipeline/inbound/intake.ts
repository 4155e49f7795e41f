/** From the connection onto the disk, piece by piece: the sender waits while pieces are written. */
import type { Readable } from 'node:stream'
import type { BlobStream } from '../../store/blobs/stream.ts'
import type { MailBytes } from './mail-bytes.ts'

/** Pieces come as small as the sender likes; they are written together. */
const BLOCK_BYTES = 64 * 1024
/** So many pieces are joined to one: each takes about 200 bytes of memory besides, and may be a single byte. */
const PIECES_MAX = 512

/**
 * Reads the stream to its end, whatever happens meanwhile.
 * @param keptBytes more is counted, and not written
 * @throws what writing threw, or the stream's own error when it was cut off
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
    // What is being written is to be there before it is thrown away.
    stream.once('error', error => writing.then(() => reject(error)))
    stream.once('end', () => {
      if (failure) return reject(failure.error)
      return written().then(resolve, reject)
    })
  })
}
