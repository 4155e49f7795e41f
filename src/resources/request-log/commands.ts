/** Commands of the request log. Bodies are stored without secrets, compressed. */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Id } from '../../lib/ids.ts'
import { batchCommand, command, concurrent } from '../../store/model/command.ts'
import type {
  LoggedBodiesRow,
  LoggedRequestRow,
  LoggedRequestTable,
} from '../../store/model/schema/requests.ts'
import { loggedBody } from './redact.ts'

/** Request to the API as the request log records it. */
export interface LoggedRequest extends LoggedRequestRow {
  /**
   * First bytes of the JSON body of the request. The array has memory of its own, which is cloned as a whole.
   */
  requestBody: Uint8Array | undefined
  /** First characters of the JSON body of the reply. */
  responseBody: string | undefined
  /** Whether the body is longer than the part that is recorded. */
  requestCut: boolean
  responseCut: boolean
}

/** Bodies of a request as they are stored; null for a body that was empty or not JSON. */
export interface StoredBodies {
  request: unknown
  response: unknown
}

/** Requests that cost the writer as much as one usual command. */
const REQUESTS_PER_WEIGHT = 10
/** Small tables suffice for two bodies of 16 KiB, and are set up faster. */
const DEFLATE = { level: 1, windowBits: 13, memLevel: 6, chunkSize: 4_096 }
/** Requests with this status or a higher one have failed. */
export const FAILED_STATUS_MIN = 400

export const requestLogCommands = {
  logRequests: concurrent(
    batchCommand<{ requests: readonly LoggedRequest[] }, void>(
      async (tx, inputs) => {
        const requests = inputs.flatMap(input => input.requests)
        await tx.rows.insert('loggedRequests', requests.map(rowOf))
        await tx.rows.insert(
          'loggedBodies',
          requests.map(bodiesOf).filter(row => row !== undefined),
        )
        return inputs.map(() => undefined)
      },
      { weigh: ({ requests }) => Math.ceil(requests.length / REQUESTS_PER_WEIGHT) },
    ),
  ),
  /**
   * Deletes requests with lower ids than `before`, oldest first, at most `limit`.
   * @returns the number of deleted requests
   */
  forgetRequests: command<{ accountId: Id; before: Id; limit: number }, number>(
    async (tx, { accountId, before, limit }) => {
      const old = await tx.db
        .selectFrom('loggedRequests')
        .select('id')
        .where('accountId', '=', accountId)
        .where('id', '<', before)
        .orderBy('id')
        .limit(limit)
        .execute()
      const last = old.at(-1)
      if (!last) return 0
      await tx.db
        .deleteFrom('loggedBodies')
        .where('accountId', '=', accountId)
        .where('requestId', '<=', last.id)
        .execute()
      await tx.db
        .deleteFrom('loggedRequests')
        .where('accountId', '=', accountId)
        .where('id', '<=', last.id)
        .execute()
      return old.length
    },
  ),
}

export function readBodies({ packed }: Pick<LoggedBodiesRow, 'packed'>): StoredBodies {
  return JSON.parse(inflateRawSync(packed).toString()) as StoredBodies
}

function rowOf(request: LoggedRequest): LoggedRequestTable {
  const { accountId, id, credentialKind, credentialId, method, path } = request
  const { query, status, errorName, userAgent, durationMs, resourceId, clientAddress = null } = request
  return {
    ...{ accountId, id, credentialKind, credentialId, method, path },
    ...{ query, status, errorName, userAgent, durationMs, resourceId, clientAddress },
    failedId: status >= FAILED_STATUS_MIN ? id : null,
  }
}

/** @returns undefined for a request without bodies */
function bodiesOf(request: LoggedRequest): LoggedBodiesRow | undefined {
  const { accountId, id, requestBody, responseBody, requestCut, responseCut } = request
  if (!requestBody?.length && responseBody === undefined) return undefined
  const bodies: StoredBodies = {
    request: requestBody?.length ? readPart(Buffer.from(requestBody).toString(), requestCut) : null,
    response: responseBody === undefined ? null : readPart(responseBody, responseCut),
  }
  return {
    accountId,
    requestId: id,
    requestCut: requestCut ? 1 : 0,
    responseCut: responseCut ? 1 : 0,
    packed: deflateRawSync(JSON.stringify(bodies), DEFLATE),
  }
}

/** A character that was cut is decoded as U+FFFD. */
function readPart(text: string, isCut: boolean): unknown {
  return loggedBody(isCut ? text.replace(/\ufffd$/, '') : text, isCut) ?? null
}
