/**
 * Holds that work is proportional to its input: four times as much takes less than twelve times the CPU time
 * of the thread, where quadratic work takes sixteen times, and linear work with much garbage takes ten. It
 * compares a program with itself, so that the speed of the machine does not matter.
 */
const TIMES = 4
const RATIO_MAX = 12
/** Less than this is quick at any ratio, and too short to compare. */
const QUICK_MS = 40
const ROUNDS = 5

/**
 * @param what names the input in the error
 * @param work does the work for so many pieces
 * @param count number of pieces of the smaller input
 */
export function assertLinear(what: string, work: (count: number) => unknown, count: number): void {
  work(count)
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const few = cpuMsOf(() => work(count))
    const many = cpuMsOf(() => work(count * TIMES))
    if (isInProportion(few, many)) return
    ratios.push(Math.round(many / few))
  }
  throw notLinear(what, ratios)
}

/** The same for work that the event loop of this thread carries out in several turns. */
export async function assertLinearInTurns(
  what: string,
  work: (count: number) => Promise<unknown>,
  count: number,
): Promise<void> {
  await work(count)
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const few = await cpuMsInTurns(() => work(count))
    const many = await cpuMsInTurns(() => work(count * TIMES))
    if (isInProportion(few, many)) return
    ratios.push(Math.round(many / few))
  }
  throw notLinear(what, ratios)
}

function isInProportion(few: number, many: number): boolean {
  return many < QUICK_MS || many < RATIO_MAX * few
}

function notLinear(what: string, ratios: readonly number[]): Error {
  return new Error(
    `${JSON.stringify(what)}: ${TIMES} times as much takes ${Math.min(...ratios)} times as long`,
  )
}

function cpuMsOf(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  return cpuMsSince(before)
}

async function cpuMsInTurns(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  return cpuMsSince(before)
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
