/**
 * Objects of a bucket of an S3-compatible store. Files of any size are sent and read in parts of a few
 * megabytes, so that memory is bounded and a lost connection costs one part.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { S3Failure } from './failure.ts'
import { readPage, readUploads, textOf } from './reply.ts'
import { type S3Options, type S3Request, S3Requests } from './requests.ts'

const MB_BYTES = 1024 * 1024
const PART_BYTES = 8 * MB_BYTES
/** Swift takes at most 1,000 parts of an object; beyond what these hold, its operator has to allow more. */
const FEW_PARTS = { count: 1_000, bytesMax: 64 * MB_BYTES }
/** Other stores take at most 10,000 parts. */
const PARTS_MAX = 9_000

export class S3Bucket {
  readonly #requests: S3Requests

  constructor(options: S3Options) {
    this.#requests = new S3Requests(options)
  }

  async put(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    await this.#requests.send({ method: 'PUT', key, body })
  }

  /** Stores an object unless there is one. A store that does not have this condition replaces it. */
  async putNew(key: string, body: Uint8Array<ArrayBuffer>): Promise<void> {
    try {
      await this.#requests.send({ method: 'PUT', key, body, headers: { 'if-none-match': '*' } })
    } catch (error) {
      const status = error instanceof S3Failure ? error.status : null
      if (status === 501) return this.put(key, body) // Swift refuses the condition
      if (status !== 412 && status !== 409) throw error
    }
  }

  /** Stores a file, which appears only when all of it was received. */
  async putFile(key: string, path: string): Promise<void> {
    const file = await open(path)
    try {
      const { size } = await file.stat()
      const partBytes = partBytesFor(size)
      if (size <= partBytes) await this.put(key, await partOf(file, 0, size))
      else await this.#putParts(key, file, { size, partBytes })
    } finally {
      await file.close()
    }
  }

  /** Reads an object part by part. @throws S3Failure with the code ENOENT when there is none */
  async *pieces(key: string): AsyncGenerator<Buffer> {
    for (let from = 0, size = 1; from < size; ) {
      const piece = await this.#part(key, from)
      size = piece.size
      from += piece.bytes.length
      if (piece.bytes.length === 0 && from < size)
        throw new S3Failure(`GET ${key}: the object ends early`, { status: 200, reason: 'IncompleteBody' })
      yield piece.bytes
    }
  }

  /** @returns undefined when there is no such object @throws S3Failure when it is larger than a part */
  async get(key: string): Promise<Buffer | undefined> {
    try {
      return (await this.#requests.send({ method: 'GET', key, limitBytes: PART_BYTES })).body
    } catch (error) {
      if (error instanceof S3Failure && error.code === 'ENOENT') return undefined
      throw error
    }
  }

  remove(key: string): Promise<void> {
    return this.#delete({ method: 'DELETE', key })
  }

  /** Lists the keys that begin with the prefix, in their order. */
  async *keys(prefix: string): AsyncGenerator<string> {
    for await (const page of this.#pages(prefix)) yield* page.keys
  }

  /** Lists the names below a prefix that ends in a slash, each up to the next slash. */
  async folders(prefix: string): Promise<string[]> {
    const names: string[] = []
    for await (const { prefixes } of this.#pages(prefix, '/'))
      names.push(...prefixes.map(each => each.slice(prefix.length, -1)))
    return names
  }

  /** Ends uploads in parts that were interrupted, whose parts would be kept and paid for. */
  async endUploads(prefix: string): Promise<void> {
    const { body } = await this.#requests.send({ method: 'GET', key: '', query: { uploads: '', prefix } })
    for (const { key, id } of readUploads(body.toString()))
      if (key.startsWith(prefix)) await this.#abort(key, id)
  }

  async *#pages(prefix: string, delimiter?: string) {
    for (let token: string | undefined, isFirst = true; isFirst || token !== undefined; isFirst = false) {
      const query = {
        'list-type': '2',
        prefix,
        ...(delimiter !== undefined && { delimiter }),
        ...(token !== undefined && { 'continuation-token': token }),
      }
      const page = readPage((await this.#requests.send({ method: 'GET', key: '', query })).body.toString())
      token = page.token
      yield page
    }
  }

  async #putParts(key: string, file: FileHandle, { size, partBytes }: { size: number; partBytes: number }) {
    const { body } = await this.#requests.send({ method: 'POST', key, query: { uploads: '' } })
    const uploadId = textOf(body.toString(), 'UploadId')
    if (uploadId === undefined)
      throw new S3Failure(`POST ${key}: the reply names no upload`, { status: 200, reason: '' })
    try {
      const tags: string[] = []
      for (let at = 0; at < size; at += partBytes) {
        const part = await partOf(file, at, Math.min(partBytes, size - at))
        const query = { partNumber: `${tags.length + 1}`, uploadId }
        const { headers } = await this.#requests.send({ method: 'PUT', key, query, body: part })
        tags.push(headers.get('etag') ?? '')
      }
      await this.#complete(key, { uploadId, tags, size })
    } catch (error) {
      await this.#abort(key, uploadId).catch(() => {}) // the next backup ends it
      throw error
    }
  }

  async #complete(key: string, { uploadId, tags, size }: { uploadId: string; tags: string[]; size: number }) {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${tag}</ETag></Part>`)
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    try {
      await this.#requests.send({ method: 'POST', key, query: { uploadId }, body })
    } catch (error) {
      // the connection may have been lost after the upload was completed
      if (!(error instanceof S3Failure) || error.reason !== 'NoSuchUpload') throw error
      const { headers } = await this.#requests.send({ method: 'HEAD', key })
      if (Number(headers.get('content-length')) !== size) throw error
    }
  }

  #abort(key: string, uploadId: string): Promise<void> {
    return this.#delete({ method: 'DELETE', key, query: { uploadId } })
  }

  /** A repeated request finds nothing left. */
  async #delete(request: S3Request): Promise<void> {
    try {
      await this.#requests.send(request)
    } catch (error) {
      const isGone =
        error instanceof S3Failure && (error.code === 'ENOENT' || error.reason === 'NoSuchUpload')
      if (!isGone) throw error
    }
  }

  /** @returns some bytes from a position on, and the size of the whole */
  async #part(key: string, from: number): Promise<{ bytes: Buffer; size: number }> {
    try {
      const { status, headers, body } = await this.#requests.send({
        method: 'GET',
        key,
        headers: { range: `bytes=${from}-${from + PART_BYTES - 1}` },
        limitBytes: PART_BYTES,
      })
      const size = /\/(\d+)$/.exec(headers.get('content-range') ?? '')?.[1]
      if (status === 206 && size !== undefined) return { bytes: body, size: Number(size) }
      return { bytes: body.subarray(from), size: body.length } // it is smaller than a part
    } catch (error) {
      // an empty object has no range
      if (error instanceof S3Failure && error.status === 416) return { bytes: Buffer.alloc(0), size: 0 }
      throw error
    }
  }
}

/** @param size size of a file, bytes @returns how much of it is sent at once, bytes */
export function partBytesFor(size: number): number {
  const few = Math.min(Math.ceil(size / FEW_PARTS.count), FEW_PARTS.bytesMax)
  return Math.max(PART_BYTES, few, Math.ceil(size / PARTS_MAX))
}

async function partOf(file: FileHandle, at: number, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const part = new Uint8Array(bytes)
  for (let read = 0; read < bytes; ) {
    const { bytesRead } = await file.read(part, read, bytes - read, at + read)
    if (bytesRead === 0) throw new Error('the file was shortened while it was uploaded')
    read += bytesRead
  }
  return part
}
