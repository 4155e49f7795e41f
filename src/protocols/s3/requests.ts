/**
 * Signed requests to one bucket of an S3-compatible store, each repeated a few times when the connection
 * breaks or the store is busy. Bodies are in memory and bounded, so that every request can be repeated.
 */
import { type Clock, sleep } from '../../lib/clock.ts'
import { awsCredential, encoded } from '../http-client/aws-signature.ts'
import { S3Failure } from './failure.ts'
import { readError } from './reply.ts'

export interface S3Options {
  /** Such as `https://s3.eu-central-1.amazonaws.com`; the name of the bucket follows in the path. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  clock: Clock
}

export interface S3Request {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Empty for requests about the bucket. */
  key: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array<ArrayBuffer>
  /** Size limit of the reply. */
  limitBytes?: number
}

export interface S3Reply {
  status: number
  headers: Headers
  body: Buffer
}

const TRIES_MAX = 4
const FIRST_WAIT_MS = 1_000
/** The shortest time limit; larger bodies get the time that they take at the lowest rate. */
const LIMIT_MS = 5 * 60_000
const LOWEST_BYTES_PER_MS = 30
const REPLY_BYTES_MAX = 8 * 1024 * 1024
const SHOWN_CHARACTERS_MAX = 200

export class S3Requests {
  readonly #options: S3Options
  readonly #sign: ReturnType<typeof awsCredential>

  constructor(options: S3Options) {
    this.#options = options
    const { region, accessKeyId, secretAccessKey } = options
    this.#sign = awsCredential({ accessKeyId, secretKey: secretAccessKey }, { region, service: 's3' })
  }

  /** @throws S3Failure for a reply that is not one of success */
  async send(request: S3Request): Promise<S3Reply> {
    const { clock } = this.#options
    for (let tries = 1; ; tries++)
      try {
        return await this.#exchange(request)
      } catch (error) {
        if (!(error instanceof S3Failure) || !error.isTemporary || tries === TRIES_MAX) throw error
        await sleep(clock, FIRST_WAIT_MS * 2 ** (tries - 1))
      }
  }

  async #exchange(request: S3Request): Promise<S3Reply> {
    const { method, headers = {}, body = new Uint8Array(), limitBytes = REPLY_BYTES_MAX } = request
    const { clock } = this.#options
    const url = this.#urlOf(request)
    const late = new AbortController()
    const limitMs = Math.max(LIMIT_MS, body.length / LOWEST_BYTES_PER_MS)
    const timer = clock.timer(limitMs, () => late.abort(new Error('the store does not answer')))
    try {
      const response = await fetch(url, {
        method,
        headers: { ...headers, ...this.#sign({ method, url, headers, body, at: clock.now() }) },
        ...(method === 'PUT' || method === 'POST' ? { body } : {}),
        redirect: 'manual', // the signature is for this host only
        signal: late.signal,
      })
      const reply = {
        status: response.status,
        headers: response.headers,
        body: await boundedBody(response, limitBytes),
      }
      const isError = !response.ok || (method === 'POST' && readError(reply.body.toString()) !== undefined)
      if (isError) throw failureOf(request, reply)
      return reply
    } catch (error) {
      if (error instanceof S3Failure) throw error
      const { message, cause } = error as Error & { cause?: Error }
      throw new S3Failure(cause?.message || message, { status: null, reason: '' })
    } finally {
      timer.cancel()
    }
  }

  #urlOf({ key, query = {} }: S3Request): URL {
    const { endpoint, bucket } = this.#options
    const path = [bucket, ...(key === '' ? [] : key.split('/'))].map(encoded).join('/')
    const parameters = Object.entries(query).map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    return new URL(`${endpoint}/${path}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`)
  }
}

async function boundedBody(response: Response, limitBytes: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body ?? []) {
    bytes += piece.length
    if (bytes > limitBytes)
      throw new S3Failure(`the reply is larger than ${limitBytes} bytes`, {
        status: response.status,
        reason: 'TooLarge',
      })
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** A reply without XML, as to HEAD, has its status alone. */
function failureOf({ method, key }: S3Request, { status, headers, body }: S3Reply): S3Failure {
  const error = readError(body.toString())
  // a reply of success that holds an error came too late to have another status
  const shown = status < 300 ? 500 : status
  const words = error ? `${error.code}: ${error.message}` : `status ${status}`
  const text = `${method} ${key || 'of the bucket'}: ${words}`.replace(/[^\P{Cc}]+/gu, ' ')
  return new S3Failure(text.slice(0, SHOWN_CHARACTERS_MAX), {
    status: shown,
    reason: error?.code ?? '',
    region: headers.get('x-amz-bucket-region') ?? error?.region,
  })
}
