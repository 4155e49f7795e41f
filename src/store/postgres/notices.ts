/**
 * Announcements between processes by LISTEN and NOTIFY on a separate connection. They are hints: they are
 * sent in batches a few times a second, never within a command's transaction. A listener that may have missed
 * announcements is notified and reads the database.
 */
import { randomUUID } from 'node:crypto'
import { MISSED } from '../model/command.ts'
import type { Announcement } from '../writer/protocol.ts'
import type { PostgresConnection, PostgresPool } from './connection.ts'

export interface Notices {
  send(announcements: readonly Announcement[]): void
  close(): Promise<void>
}

interface NoticesOptions {
  /** Pool with one connection. */
  pool: PostgresPool
  /** Receives the announcements of other processes. */
  hear(announcements: Announcement[]): void
}

interface Notice {
  from: string
  announcements: Announcement[]
}

const CHANNEL = 'mailhorn'
const SEND_INTERVAL_MS = 100
const RECONNECT_DELAY_MS = 1_000
/** Maximum size of a notification. PostgreSQL accepts less than 8,000 bytes. */
const PAYLOAD_BYTES_MAX = 7_500

export function startNotices({ pool, hear }: NoticesOptions): Notices {
  const from = randomUUID()
  const waiting = new Map<string, Set<string>>()
  let connection: PostgresConnection | undefined
  let sending: NodeJS.Timeout | undefined
  let again: NodeJS.Timeout | undefined
  const closing = Promise.withResolvers<void>()
  let isClosing = false

  const flush = async () => {
    clearTimeout(sending)
    sending = undefined
    if (!connection) {
      waiting.clear()
      waiting.set(MISSED, new Set(['null']))
      return
    }
    const text = encode(from, waiting)
    waiting.clear()
    await connection
      .query({ sql: `select pg_notify('${CHANNEL}', $1)`, values: [text], kept: true })
      .catch(() => {
        // the connection is lost; `keep` opens another
      })
  }
  /** Listens on a connection. Resolves when the connection is lost or no longer needed. */
  const listen = async (opened: PostgresConnection) => {
    const lost = new Promise<void>(resolve => opened.onLost(resolve))
    opened.onNotice(text => {
      const notice = decode(text)
      if (notice?.from !== from) hear(notice?.announcements ?? [{ topic: MISSED, payloads: [null] }])
    })
    await opened.query({ sql: `listen ${CHANNEL}` })
    connection = opened
    if (waiting.size > 0) void flush()
    hear([{ topic: MISSED, payloads: [null] }])
    await Promise.race([lost, closing.promise])
    connection = undefined
  }
  const keep = async (): Promise<void> => {
    await pool.use(listen).catch(() => {
      // the loop connects again; announcements meanwhile become MISSED
    })
    if (isClosing) return
    await new Promise<void>(resolve => {
      again = setTimeout(resolve, RECONNECT_DELAY_MS)
      void closing.promise.then(resolve)
    })
    if (!isClosing) return keep()
  }
  const kept = keep()

  return {
    send(announcements) {
      for (const { topic, payloads } of announcements) {
        const known = waiting.get(topic) ?? new Set()
        waiting.set(topic, known)
        for (const payload of payloads) known.add(JSON.stringify(payload, packBytes))
      }
      if (waiting.size > 0) sending ??= setTimeout(flush, SEND_INTERVAL_MS)
    },
    /** Sends waiting announcements, then closes the connection. */
    async close() {
      isClosing = true
      if (sending) await flush()
      clearTimeout(again)
      closing.resolve()
      await kept
      await pool.close()
    },
  }
}

/**
 * Encodes announcements. If they do not fit into one notification, listeners are asked to read the database.
 */
function encode(from: string, waiting: ReadonlyMap<string, ReadonlySet<string>>): string {
  const topics = [...waiting].map(
    ([topic, payloads]) => `{"topic":${JSON.stringify(topic)},"payloads":[${[...payloads]}]}`,
  )
  const text = `{"from":"${from}","announcements":[${topics}]}`
  if (Buffer.byteLength(text) <= PAYLOAD_BYTES_MAX) return text
  return JSON.stringify({ from, announcements: [{ topic: MISSED, payloads: [null] }] } satisfies Notice)
}

/** @returns undefined for a text that another program has sent; every user of the database may do so */
function decode(text: string): Notice | undefined {
  try {
    const notice = JSON.parse(text, unpackBytes) as Partial<Notice> | null
    const isOurs =
      typeof notice?.from === 'string' &&
      Array.isArray(notice.announcements) &&
      notice.announcements.every(isAnnouncement)
    return isOurs ? (notice as Notice) : undefined
  } catch {
    return undefined // not JSON
  }
}

function isAnnouncement(value: unknown): value is Announcement {
  const { topic, payloads } = (value ?? {}) as Partial<Announcement>
  return typeof topic === 'string' && Array.isArray(payloads)
}

const BYTES = '$bytes'

function packBytes(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const own = this[key]
  return own instanceof Uint8Array ? { [BYTES]: Buffer.from(own).toString('base64') } : value
}

function unpackBytes(_: string, value: unknown): unknown {
  const packed = (value as Record<string, unknown> | null)?.[BYTES]
  return typeof packed === 'string' ? new Uint8Array(Buffer.from(packed, 'base64')) : value
}
