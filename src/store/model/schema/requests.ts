/** Tables of the log of API requests. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag } from './values.ts'

export interface LoggedRequestRow {
  accountId: Id
  /** The id has the time of the request. */
  id: Id
  /** Kind of the credential, as in `Credential` of the API. */
  credentialKind: string
  credentialId: Id
  method: string
  path: string
  /** Query string without `?`; null without one. */
  query: string | null
  status: number
  /** Name of the error; null for a reply below 400. */
  errorName: string | null
  userAgent: string | null
  /** Address of the client; null for requests of version 0.1.0. */
  clientAddress?: string | null | undefined
  durationMs: number
  /** Id of what a POST request has created or changed, as the API shows it; null for other requests. */
  resourceId: string | null
}

export interface LoggedRequestTable extends LoggedRequestRow {
  /** The id if the status is 400 or higher, for the index over failed requests. */
  failedId: Id | null
}

/** Bodies of a request. A request without a row has none, or they were not stored. */
export interface LoggedBodiesRow {
  accountId: Id
  requestId: Id
  requestCut: Flag
  responseCut: Flag
  /** Compressed JSON of both bodies. */
  packed: Uint8Array
}
