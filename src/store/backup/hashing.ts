/** Hashes files, and writes files whose hash is needed. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

export interface HashedFile {
  bytes: number
  sha256: string
}

const PIECE_BYTES = 1024 * 1024

export function hashOfFile(path: string): Promise<HashedFile> {
  return hashOfPieces(createReadStream(path, { highWaterMark: PIECE_BYTES }) as AsyncIterable<Buffer>)
}

export async function hashOfPieces(pieces: AsyncIterable<Buffer>): Promise<HashedFile> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of pieces) {
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

export async function hashOf(pieces: AsyncIterable<string>): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

/** Writes a new file and syncs it. */
export async function writeHashed(
  path: string,
  pieces: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
): Promise<HashedFile> {
  const hash = createHash('sha256')
  let bytes = 0
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const piece of pieces) {
      const part = Buffer.from(piece as Uint8Array)
      hash.update(part)
      bytes += part.length
      await file.writeFile(part)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return { bytes, sha256: hash.digest('hex') }
}
