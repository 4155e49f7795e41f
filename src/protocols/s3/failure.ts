/** Failure of a request to an S3-compatible store. */

interface FailureParts {
  /** Status of the reply; null if there was none. */
  status: number | null
  /** Code of the store, such as `NoSuchBucket`; empty when it gave none. */
  reason: string
  /** Region that the store asks for. */
  region?: string | undefined
}

export class S3Failure extends Error {
  override readonly name = 'S3Failure'
  readonly status: number | null
  readonly reason: string
  readonly region: string | undefined
  /** `ENOENT` when there is no such object, as for files. */
  readonly code: string

  constructor(message: string, { status, reason, region }: FailureParts) {
    super(message)
    this.status = status
    this.reason = reason
    this.region = region
    this.code = status === 404 && /^(?:NoSuchKey|NotFound)?$/.test(reason) ? 'ENOENT' : ''
  }

  /** Whether the same request may succeed a little later. */
  get isTemporary(): boolean {
    const { status, reason } = this
    if (status === null || status === 429 || reason === 'RequestTimeout' || reason === 'SlowDown') return true
    return status >= 500 && status < 505 && status !== 501
  }
}
