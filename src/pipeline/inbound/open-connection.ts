/**
 * Connections of the SMTP server, and the choice of the one that is evicted for a new one when all slots are
 * taken. Called by `smtp-server.ts`.
 */
import type { Socket } from 'node:net'
import type { Timer } from '../../lib/clock.ts'
import { slowestOfLargest } from './eviction.ts'
import { FAST_BYTES_PER_SECOND, type MinDataRate } from './min-data-rate.ts'
import { type Connection, waitsForUs } from './smtp-connection.ts'

/** A connection from the moment TCP accepts it until it is closed. */
export interface OpenConnection {
  readonly id: string
  /** Address of the client; while a trusted proxy has not named it, that of the proxy. */
  address: string
  netblock: string
  /** Whether the connection counts for the network of the client. */
  isCounted: boolean
  readonly socket: Socket
  /** The TLS socket once a handshake has begun; before, the TCP socket. */
  top: Socket
  /** Undefined until the PROXY header and the handshake of an implicit-TLS listener are complete. */
  connection: Connection | undefined
  /** Time limit of the PROXY header or TLS handshake in progress. */
  handshake: Timer | undefined
  /** Maximum duration of the connection. */
  longest: Timer | undefined
  /** The message that is being received. */
  transfer: MinDataRate | undefined
  /** Monotonic ms of the last progress: accept, begin or end of a message. */
  progressAt: number
}

/** A connection is not evicted within this time after its last progress. */
const PROTECTED_MS = 5_000
/** If more than this share of all connections is in one stage, the shorter time applies to transactions. */
const MANY_SHARE = 0.25
const PROTECTED_TRANSACTION_MS = 1_000

/**
 * Chooses the connection to evict. Candidates in order: connections that have not finished their TLS
 * handshake or not sent EHLO, connections without a mail transaction, and slow transactions.
 *
 * @param now monotonic ms
 * @param max maximum number of open connections
 */
export function connectionToEvict(
  opens: readonly OpenConnection[],
  now: number,
  max: number,
): OpenConnection | undefined {
  const unfinished = opens.filter(isUnfinished)
  const idle = opens.filter(isIdle)
  /** @param whenManyMs protected time after the last progress when there are many such connections */
  const evictable = (some: readonly OpenConnection[], whenManyMs: number) => {
    const before = now - (some.length > max * MANY_SHARE ? whenManyMs : PROTECTED_MS)
    return some.filter(({ progressAt }) => progressAt <= before)
  }
  return (
    worst(evictable(unfinished, 0), now) ??
    worst(evictable(idle, 0), now) ??
    worst(
      evictable(
        opens.filter(open => isSlow(open, now)),
        PROTECTED_TRANSACTION_MS,
      ),
      now,
    ) ??
    worst([...unfinished, ...idle], now)
  )
}

function worst(opens: readonly OpenConnection[], now: number): OpenConnection | undefined {
  const candidates = opens.map(open => ({
    open,
    netblock: open.netblock,
    bytesPerSecond: open.transfer?.bytesPerSecond(now) ?? 0,
    since: open.progressAt,
  }))
  return slowestOfLargest(candidates)?.open
}

/** The client has not sent EHLO yet. */
function isUnfinished({ connection, handshake }: OpenConnection): boolean {
  return connection === undefined || handshake !== undefined || connection.hostNameAppearsAs === false
}

/** The connection is between transactions. */
function isIdle({ connection }: OpenConnection): boolean {
  if (!connection || connection.hostNameAppearsAs === false) return false
  return !waitsForUs(connection) && !connection.session.envelope?.mailFrom
}

function isSlow({ connection, transfer }: OpenConnection, now: number): boolean {
  if (!connection || waitsForUs(connection)) return false
  if (!transfer) return true
  return !transfer.isHeldUp() && transfer.bytesPerSecond(now) < FAST_BYTES_PER_SECOND
}
