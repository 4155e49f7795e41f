/**
 * Remembers credentials that were looked up recently, and writes the time of their last use lazily. API keys
 * and access tokens have one memory each.
 */
import { BoundedMap } from '../../lib/bounded-map.ts'
import type { Clock, Timer } from '../../lib/clock.ts'
import { type Id, idKey } from '../../lib/ids.ts'
import { hashToken } from './tokens.ts'

interface CredentialMemory<T> {
  /** Returns the credential of a token; undefined if there is none. */
  find(token: string): Promise<T | undefined>
  noteUse(id: Id): void
  /** Drops everything that is remembered, after a deletion. */
  forget(): void
  /** Writes the remaining times of last use. */
  close(): Promise<void>
}

interface MemoryOptions<T> {
  load(tokenHash: Uint8Array): Promise<T | undefined>
  writeUse(ids: Id[], at: number): Promise<void>
  /** Called with an error of `writeUse`. */
  onUseNotWritten(error: unknown): void
  clock: Clock
}

const WRITE_EVERY_MS = 60_000
const REMEMBERED_MAX = 1_000

export function createCredentialMemory<T>(options: MemoryOptions<T>): CredentialMemory<T> {
  const { load, writeUse, onUseNotWritten, clock } = options
  const used = new Map<string, Id>()
  /** Credentials by their token: hashing it would cost each request 12 μs. */
  let remembered = new BoundedMap<string, T>(REMEMBERED_MAX)
  let timer: Timer | undefined

  const flush = async () => {
    timer?.cancel()
    timer = undefined
    if (used.size === 0) return
    const ids = [...used.values()]
    used.clear()
    await writeUse(ids, clock.now()).catch(onUseNotWritten)
  }

  return {
    async find(token) {
      const known = remembered.get(token)
      if (known) return known
      const memory = remembered
      const loaded = await load(hashToken(token))
      // a credential that was deleted while it was loaded lands in a map that `forget` has replaced
      if (loaded) memory.set(token, loaded)
      return loaded
    },
    noteUse(id) {
      used.set(idKey(id), id)
      timer ??= clock.timer(WRITE_EVERY_MS, () => void flush())
    },
    forget() {
      remembered = new BoundedMap(REMEMBERED_MAX)
    },
    close: flush,
  }
}
