/**
 * Writes log lines to stdout, synchronously, from the thread that logs. A line that cannot be written (the
 * disk is full, the reader of the pipe has ended or is too slow) is dropped and counted, so that a log does
 * not stop the service. The next line that can be written is preceded by a line with the number of dropped
 * lines.
 */
import { writeSync } from 'node:fs'
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

interface LogOutput {
  /** Never throws. @returns whether all of the text was written */
  write(text: string): boolean
}

/**
 * Writes bytes from the offset on, like `writeSync`.
 * @returns number of bytes written
 */
export type WriteBytes = (bytes: Uint8Array, offset: number) => number

interface LogOutputOptions {
  writeBytes?: WriteBytes
  counts?: Int32Array
  /** Blocks the thread for a while. */
  pause?: (ms: number) => void
}

const STDOUT = 1
/**
 * Time that a slow reader of the pipe gets to take a line. While lines are being dropped, there is no wait.
 */
const WAIT_MS_MAX = 100
const WAIT_STEP_MS = 5

/** Indexes of the shared counts. */
const TOTAL = 0
const NOT_REPORTED = 1
/** 1 while the last output was only the beginning of a line. */
const IS_TORN = 2
const PLACES = 3

const SHARED_KEY = 'mailhorn.log-output'

export function createLogOutput(options: LogOutputOptions = {}): LogOutput {
  const { writeBytes = (bytes, offset) => writeSync(STDOUT, bytes, offset), counts = sharedCounts() } =
    options
  const { pause = sleepSync } = options
  const put = (text: string, waitMs: number): boolean => {
    const bytes = Buffer.from(Atomics.load(counts, IS_TORN) === 1 ? `\n${text}` : text)
    const written = writeAll(bytes, { writeBytes, pause, waitMs })
    if (written > 0) Atomics.store(counts, IS_TORN, bytes[written - 1] === NEWLINE ? 0 : 1)
    return written === bytes.length
  }
  const drop = (lines: number) => {
    Atomics.add(counts, NOT_REPORTED, lines)
    return false
  }
  return {
    write(text) {
      const missing = Atomics.exchange(counts, NOT_REPORTED, 0)
      const isReported = missing === 0 || put(missingLine(missing), 0)
      if (isReported && put(text, missing === 0 ? WAIT_MS_MAX : 0)) return true
      Atomics.add(counts, TOTAL, 1)
      return drop(isReported ? 1 : missing + 1)
    },
  }
}

/** @returns number of lines that the threads of this process have dropped */
export function droppedLogLines(counts = sharedCounts()): number {
  return Atomics.load(counts, TOTAL) >>> 0
}

/** Creates counts that several threads can share, as they share stdout. */
export function newDropCounts(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(PLACES * Int32Array.BYTES_PER_ELEMENT))
}

/**
 * Keeps the process alive when another writer (a library in any thread) uses `process.stdout` or
 * `process.stderr` while the stream is broken: without a listener, its error would be an uncaught exception.
 * To be called in the main thread, which writes for all threads.
 */
export function outliveBrokenStreams(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignore)
}

function ignore() {
  // the error cannot be reported, since the output is broken
}

/** Returns the counts of the process. Threads inherit environment data that was set before they started. */
function sharedCounts(): Int32Array {
  const known = getEnvironmentData(SHARED_KEY)
  if (known instanceof Int32Array) return known
  const counts = newDropCounts()
  if (isMainThread) setEnvironmentData(SHARED_KEY, counts)
  return counts
}

function missingLine(count: number): string {
  const line = {
    level: 'warn',
    time: new Date().toISOString(),
    event: 'log_lines_dropped',
    count,
    msg: `${count} log ${count === 1 ? 'line' : 'lines'} could not be written and are missing here`,
  }
  return `${JSON.stringify(line)}\n`
}

const NEWLINE = '\n'.charCodeAt(0)

/** @returns number of bytes written before the output failed */
function writeAll(
  bytes: Uint8Array,
  {
    writeBytes,
    pause,
    waitMs,
  }: Required<Pick<LogOutputOptions, 'writeBytes' | 'pause'>> & { waitMs: number },
): number {
  let written = 0
  let leftMs = waitMs
  while (written < bytes.length)
    try {
      const count = writeBytes(bytes, written)
      if (count === 0) return written
      written += count
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || leftMs <= 0) return written
      pause(WAIT_STEP_MS)
      leftMs -= WAIT_STEP_MS
    }
  return written
}

function sleepSync(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms)
}
