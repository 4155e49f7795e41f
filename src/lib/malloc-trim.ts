/**
 * Returns free memory of the C library's allocator to the operating system. glibc keeps freed memory that
 * lies below memory still in use, which after a burst of large messages can be more than half of the process
 * (decision 0102).
 */

const SAMPLE_INTERVAL_MS = 5_000
/**
 * The process counts as idle while all its threads together use less CPU time than this per sample interval.
 */
const IDLE_CPU_MS_MAX = 250
/**
 * Threads collect garbage when they become idle and free memory in the background, which takes a few
 * intervals.
 */
const IDLE_SAMPLES_MIN = 3
/** A trim is worth it when the process has used so much CPU time since the last one. */
const WORK_CPU_MS_MIN = 500

interface MallocTrimOptions {
  /** CPU time of all threads since the process started, in milliseconds. */
  cpuMs(): number
  trim(): void
}

/**
 * Trims the memory of this process whenever it becomes idle, where its C library can. The timer keeps no
 * process alive.
 */
export async function trimWhenIdle(): Promise<void> {
  const trim = await loadMallocTrim()
  if (trim) setInterval(mallocTrimmer({ cpuMs: processCpuMs, trim }), SAMPLE_INTERVAL_MS).unref()
}

/**
 * @returns the function to call every `SAMPLE_INTERVAL_MS`; it trims once after the start, and later after
 * each time of work
 */
export function mallocTrimmer({ cpuMs, trim }: MallocTrimOptions): () => void {
  let sampledAtMs = cpuMs()
  let trimmedAtMs = Number.NEGATIVE_INFINITY
  let idleSamples = 0
  return () => {
    const nowMs = cpuMs()
    idleSamples = nowMs - sampledAtMs < IDLE_CPU_MS_MAX ? idleSamples + 1 : 0
    sampledAtMs = nowMs
    if (idleSamples < IDLE_SAMPLES_MIN || nowMs - trimmedAtMs < WORK_CPU_MS_MIN) return
    trim()
    trimmedAtMs = cpuMs()
  }
}

/**
 * @returns glibc's `malloc_trim(0)`; undefined where the C library has none (musl, macOS) or cannot be called
 */
export async function loadMallocTrim(): Promise<(() => void) | undefined> {
  try {
    const { default: koffi } = await import('koffi')
    const mallocTrim = koffi.load(null).func('int malloc_trim(size_t)')
    return () => void mallocTrim(0)
  } catch {
    return undefined
  }
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
