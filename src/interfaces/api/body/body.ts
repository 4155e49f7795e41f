/**
 * Reads the JSON body of a request. In: the stream of the request and the limits of its route. Out: the
 * parsed value, `{}` for an empty body, or an `ApiError`. Large bodies are limited in total memory and parsed
 * in a child process (`large-bodies.ts`). Called by `server/app.ts` when a route asks for its body.
 */
import type { IncomingMessage } from 'node:http'
import { JoinedBytes } from '../../../lib/joined-bytes.ts'
import { UNCOUNTED_BYTES as LARGE_FROM_BYTES, type Reservation } from '../../../lib/memory-budget.ts'
import type { Preparation } from '../../../pipeline/accept/prepare.ts'
import { ApiError, bodyTooLarge, compressedBody } from '../api-error.ts'
import { doBodyWork } from '../emails/send-work.ts'
import type { BodyOf, BodyWork } from '../route/route.ts'
import { askForBody, isWithheld } from './expectation.ts'
import { parseJson } from './json.ts'
import type { LargeBodies } from './large-bodies.ts'

/**
 * Collects bytes in blocks of separately allocated memory. The blocks can be transferred to another thread,
 * and no byte is copied twice.
 */

interface ByteBlocks {
  add(bytes: Uint8Array): void
  /** Returns all blocks in order. No bytes may be added afterwards. */
  end(): Uint8Array<ArrayBuffer>[]
}

const BLOCK_BYTES = 1024 * 1024

interface ReadBodyOptions {
  limitBytes: number
  /** Account id or client address. Large bodies of one owner share a memory limit. */
  owner: string
  /** Called with the body before it is parsed, or with the first bytes of a large body. */
  onBytes?: (bytes: Uint8Array) => void
}

/** Bytes of a large body that `onBytes` gets. */
const BEGINNING_BYTES = 32 * 1024

/** @throws ApiError 413, 415, 400, 408 or 503, and what the work throws */
export type ReadBody = <W extends BodyWork>(
  request: IncomingMessage,
  options: ReadBodyOptions,
  work: W,
) => Promise<BodyOf<W>>

export const DEFAULT_BODY_LIMIT_BYTES = 1024 * 1024
/**
 * Limit on routes without a credential, whatever limit the route itself sets. It is smaller than
 * `LARGE_FROM_BYTES`, so anonymous requests never take memory reserved for large bodies.
 */
export const PUBLIC_BODY_LIMIT_BYTES = 16 * 1024
/** A large body must arrive within this time, for which it holds memory. */
const ARRIVAL_MS_MAX = 300_000

type MakeRoom = () => Promise<Reservation>

/**
 * Bodies of less than `LARGE_FROM_BYTES` are parsed on the main thread, because their cost is small whatever
 * they contain.
 */
export function createReadBody(large: LargeBodies, preparation: Preparation): ReadBody {
  return async (request, { limitBytes: limitOfRoute, owner, onBytes }, work) => {
    let place: Promise<Reservation> | undefined
    const limitBytes = Math.min(limitOfRoute, large.bytesMax)
    const sizeBytes = Math.min(limitBytes, declaredLength(request) ?? limitBytes)
    const makeRoom = () => {
      place ??= large.enter(owner, sizeBytes)
      return place
    }
    try {
      if (isWithheld(request)) requireJson(request)
      askForBody(request, limitBytes)
      const bytes = await readBytes(request, limitBytes, makeRoom)
      if ('length' in bytes && bytes.length === 0) return await doBodyWork({}, work, preparation)
      requireJson(request)
      if ('length' in bytes) {
        onBytes?.(bytes)
        return await doBodyWork(parseJson(bytes), work, preparation)
      }
      const blocks = bytes.end()
      onBytes?.(blocks[0]!.slice(0, BEGINNING_BYTES))
      return await large.read(owner, blocks, work)
    } finally {
      place?.then(
        reservation => reservation.release(),
        () => {}, // reserving memory failed, and the client already has the error
      )
    }
  }
}

/** Node has already refused invalid values. */
export function declaredLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

/**
 * Reads the body: at once if all of it has arrived, as nearly all bodies have that fit into one packet.
 *
 * @returns a buffer, or blocks for a large body
 */
function readBytes(
  request: IncomingMessage,
  limitBytes: number,
  makeRoom: MakeRoom,
): Promise<Buffer | ByteBlocks> | Buffer {
  const { complete, readableLength } = request
  if (!complete || readableLength === 0 || readableLength >= Math.min(LARGE_FROM_BYTES, limitBytes))
    return collectBytes(request, limitBytes, makeRoom)
  return request.read()
}

/**
 * Collects the body from stream events, which cost half as much as async iteration.
 *
 * @returns a buffer, or blocks for a large body
 */
function collectBytes(
  request: IncomingMessage,
  limitBytes: number,
  makeRoom: MakeRoom,
): Promise<Buffer | ByteBlocks> {
  return new Promise((resolve, reject) => {
    const small = new JoinedBytes()
    let blocks: ByteBlocks | undefined
    let room: Reservation | undefined
    let size = 0
    let isRefused = false
    let isWhole = false
    const becomeLarge = () => {
      request.pause()
      makeRoom().then(reservation => {
        room = reservation
        blocks = createByteBlocks()
        blocks.add(small.take())
        if (isWhole) return resolve(blocks)
        if (!request.destroyed)
          room.watch(
            ARRIVAL_MS_MAX,
            () => size,
            () => turnAway(tooSlow()),
          )
        request.resume()
      }, turnAway)
    }
    const turnAway = (error: unknown) => {
      room?.arrived()
      isRefused = true
      small.take()
      blocks = undefined
      reject(error)
    }
    request.on('data', (chunk: Buffer) => {
      if (isRefused) return
      const wasSmall = size < LARGE_FROM_BYTES
      size += chunk.length
      if (size > limitBytes) return turnAway(bodyTooLarge(limitBytes))
      if (blocks) blocks.add(chunk)
      else small.add(chunk)
      if (wasSmall && size >= LARGE_FROM_BYTES) becomeLarge()
    })
    request.on('end', () => {
      if (isRefused) return
      if (size < LARGE_FROM_BYTES) resolve(small.take())
      else if (blocks) resolve(blocks)
      isWhole = true
      room?.arrived()
    })
    request.on('error', reject)
    request.on('close', () => {
      room?.arrived()
      if (!isWhole) reject(new Error('the client left in the middle of its request'))
    })
  })
}

function tooSlow(): ApiError {
  return new ApiError(408, 'validation_error', 'Timeout: the request body was received too slowly.')
}

function requireJson({ headers }: IncomingMessage) {
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .split(';')
    .map(part => part.trim().toLowerCase())
  if (!/^application\/(?:[\w.-]+\+)?json$/.test(type))
    throw new ApiError(
      415,
      'validation_error',
      'The request body must be JSON (Content-Type: application/json).',
    )
  const charset = parameters.find(parameter => parameter.startsWith('charset='))?.slice('charset='.length)
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset))
    throw new ApiError(415, 'validation_error', 'The request body must be JSON in UTF-8.')
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw compressedBody()
}

export function createByteBlocks(): ByteBlocks {
  const full: Uint8Array<ArrayBuffer>[] = []
  let block = new Uint8Array(BLOCK_BYTES)
  let used = 0
  return {
    add(bytes) {
      for (let at = 0; at < bytes.length; ) {
        if (used === block.length) {
          full.push(block)
          block = new Uint8Array(BLOCK_BYTES)
          used = 0
        }
        const piece = bytes.subarray(at, at + block.length - used)
        block.set(piece, used)
        used += piece.length
        at += piece.length
      }
    },
    end: () => [...full, block.subarray(0, used)],
  }
}
