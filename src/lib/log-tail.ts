/**
 * Keeps the last log lines of all threads of the process in shared memory of a fixed size, so that operators
 * can read them without access to the host. The lines are those of the log, in which secrets are redacted.
 */
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

export class LogTail {
  /** Memory that threads share. */
  readonly memory: SharedArrayBuffer
  /** Number of bytes that were ever appended. */
  readonly #end: BigInt64Array
  readonly #ring: Uint8Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#end = new BigInt64Array(memory, 0, 1)
    this.#ring = new Uint8Array(memory, HEAD_BYTES)
  }

  /** A line that would take more than half of the memory is only in the log itself. */
  append(line: string): void {
    const bytes = Buffer.from(line)
    const sizeBytes = this.#ring.length
    if (bytes.length > sizeBytes / 2) return
    const at = Number(Atomics.add(this.#end, 0, BigInt(bytes.length)) % BigInt(sizeBytes))
    const first = bytes.subarray(0, sizeBytes - at)
    this.#ring.set(first, at)
    this.#ring.set(bytes.subarray(first.length), 0)
  }

  /** Returns the lines, oldest first. A line that is being written by another thread may be torn. */
  lines(): string[] {
    const end = Atomics.load(this.#end, 0)
    const sizeBytes = this.#ring.length
    const at = Number(end % BigInt(sizeBytes))
    if (end < BigInt(sizeBytes))
      return textOf([this.#ring.subarray(0, at)])
        .split('\n')
        .filter(Boolean)
    const [, ...whole] = textOf([this.#ring.subarray(at), this.#ring.subarray(0, at)]).split('\n')
    return whole.filter(Boolean)
  }
}

function textOf(parts: readonly Uint8Array[]): string {
  return Buffer.concat(parts).toString()
}

const HEAD_BYTES = 8
/** About 2,000 lines. */
const SIZE_BYTES = 512 * 1024
const SHARED_KEY = 'mailhorn.log-tail'

/** @param sizeBytes size of the lines that are kept */
export function newLogTail(sizeBytes = SIZE_BYTES): LogTail {
  return new LogTail(new SharedArrayBuffer(HEAD_BYTES + sizeBytes))
}

let own: LogTail | undefined

/** Returns the tail of the process. Threads inherit environment data that was set before they started. */
export function sharedLogTail(): LogTail {
  if (own) return own
  const known = getEnvironmentData(SHARED_KEY)
  own = known instanceof SharedArrayBuffer ? new LogTail(known) : newLogTail()
  if (isMainThread) setEnvironmentData(SHARED_KEY, own.memory)
  return own
}
