/**
 * Announcements between processes by LISTEN and NOTIFY on a separate connection. They are hints: they are
 * sent in batches a few times a second, never within a command's transaction. A listener that may have missed
 * announcements is notified and reads the database.
 */
import { randomUUID } from 'node:crypto'
import { MISSED } from '../model/command.ts'
import type { Announcement } from '../writer/protocol.ts'
import type { PostgresConnection, PostgresPool } from './connection.ts'

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

export class Notices {
  readonly #options: NoticesOptions
  readonly #from = randomUUID()
  readonly #waiting = new Map<string, Set<string>>()
  readonly #closing = Promise.withResolvers<void>()
  readonly #connected: Promise<void>
  #connection: PostgresConnection | undefined
  #sending: NodeJS.Timeout | undefined
  #again: NodeJS.Timeout | undefined
  #isClosing = false

  constructor(options: NoticesOptions) {
    this.#options = options
    this.#connected = this.#keep()
  }

  send(announcements: readonly Announcement[]): void {
    for (const { topic, payloads } of announcements) {
      const known = this.#waiting.get(topic) ?? new Set()
      this.#waiting.set(topic, known)
      for (const payload of payloads) known.add(JSON.stringify(payload, packBytes))
    }
    if (this.#waiting.size > 0) this.#sending ??= setTimeout(() => this.#flush(), SEND_INTERVAL_MS)
  }

  /** Sends waiting announcements, then closes the connection. */
  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#sending) await this.#flush()
    clearTimeout(this.#again)
    this.#closing.resolve()
    await this.#connected
    await this.#options.pool.close()
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#sending)
    this.#sending = undefined
    if (!this.#connection) {
      this.#waiting.clear()
      this.#waiting.set(MISSED, new Set(['null']))
      return
    }
    const text = encode(this.#from, this.#waiting)
    this.#waiting.clear()
    await this.#connection
      .query({ sql: `select pg_notify('${CHANNEL}', $1)`, values: [text], isPrepared: true })
      .catch(() => {
        // the connection is lost; `keep` opens another
      })
  }

  async #keep(): Promise<void> {
    await this.#options.pool
      .use(opened => this.#listen(opened))
      .catch(() => {
        // the loop connects again; announcements meanwhile become MISSED
      })
    if (this.#isClosing) return
    await new Promise<void>(resolve => {
      this.#again = setTimeout(resolve, RECONNECT_DELAY_MS)
      void this.#closing.promise.then(resolve)
    })
    if (!this.#isClosing) return this.#keep()
  }

  /** Listens on a connection. Resolves when the connection is lost or no longer needed. */
  async #listen(opened: PostgresConnection): Promise<void> {
    const { hear } = this.#options
    const lost = new Promise<void>(resolve => opened.onLost(resolve))
    opened.onNotice(text => {
      const notice = decode(text)
      if (notice?.from !== this.#from) hear(notice?.announcements ?? [{ topic: MISSED, payloads: [null] }])
    })
    await opened.query({ sql: `listen ${CHANNEL}` })
    this.#connection = opened
    if (this.#waiting.size > 0) void this.#flush()
    hear([{ topic: MISSED, payloads: [null] }])
    await Promise.race([lost, this.#closing.promise])
    this.#connection = undefined
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
