/**
 * A lock object in a bucket. It keeps data folders that were given the same address by mistake from removing
 * each other's files. A data folder takes the lock over that a killed process of its own has left.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import * as z from 'zod'
import type { Clock } from '../../lib/clock.ts'
import { BackupInProgress } from './backup-fault.ts'
import type { S3Place } from './s3-address.ts'

const LOCK_OBJECT = 'lock'
/** Age from which a lock was left by a machine that is gone. */
const STALE_AFTER_MS = 24 * 3_600_000

const schema = z.object({ holder: z.string(), at: z.iso.datetime() })

export class S3Lock {
  readonly #place: S3Place
  readonly #holderFile: string
  readonly #clock: Clock

  /** @param holderFile path of a file that names this data folder; it is created */
  constructor(place: S3Place, holderFile: string, clock: Clock) {
    this.#place = place
    this.#holderFile = holderFile
    this.#clock = clock
  }

  /** @throws BackupInProgress when another data folder holds the lock */
  async held<T>(run: () => Promise<T>): Promise<T> {
    const { bucket, address } = this.#place
    const holder = this.#holder()
    const lock = Buffer.from(`${JSON.stringify({ holder, at: new Date(this.#clock.now()).toISOString() })}\n`)
    if (!(await this.#isHeldByOther(holder))) {
      await bucket.remove(this.#key)
      await bucket.putNew(this.#key, lock)
      if (!(await this.#isHeldByOther(holder)))
        try {
          return await run()
        } finally {
          await bucket.remove(this.#key).catch(() => {}) // the next backup takes it over
        }
    }
    throw new BackupInProgress(
      `another data folder is making a backup to ${address}: give each its own prefix; if none is, remove ${address}/${LOCK_OBJECT}`,
    )
  }

  get #key(): string {
    return this.#place.prefix + LOCK_OBJECT
  }

  async #isHeldByOther(mine: string): Promise<boolean> {
    const text = await this.#place.bucket.get(this.#key)
    if (text === undefined) return false
    const { holder, at } = lockIn(text.toString())
    return holder !== mine && this.#clock.now() - at < STALE_AFTER_MS
  }

  #holder(): string {
    if (!existsSync(this.#holderFile)) writeFileSync(this.#holderFile, randomUUID(), { mode: 0o600 })
    return readFileSync(this.#holderFile, 'utf8')
  }
}

/** An object that is no lock holds until somebody looks at it. */
function lockIn(text: string): { holder: string; at: number } {
  try {
    const { holder, at } = schema.parse(JSON.parse(text))
    return { holder, at: Date.parse(at) }
  } catch {
    return { holder: '', at: Number.POSITIVE_INFINITY }
  }
}
