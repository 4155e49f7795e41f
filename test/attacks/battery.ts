/**
 * A series of attacks on one running service. Each attack is a row: honest clients of all kinds work while it
 * runs, and it passes when what it asserts holds, the service is the same process as before, no honest
 * request failed and their p99 is under `HONEST_P99_MOST_MS`. Rows are recorded for the table that `run.ts`
 * prints.
 *
 * The battery is a measurement: it judges durations, which no other test does, and is run on a machine that
 * does nothing else.
 */
import { appendFileSync, existsSync } from 'node:fs'
import { suite, type TestContext } from '../kit/suite.ts'
import { childrenOf, type Field, type FieldOptions, openField, residentBytes } from './field.ts'
import { complaintsOf, type HonestClients, type Latencies, startHonestClients } from './honest.ts'
import { KINDS, type Kind } from './honest-protocol.ts'
import { MIB, pause } from './scale.ts'

export interface Attack {
  field: Field
  t: TestContext
  /** A few words for the table. */
  note(text: string): void
}

export interface RowOptions {
  /** The honest clients that work meanwhile; none where the service is killed or its disk is full. */
  kinds?: readonly Kind[]
  /** Why it cannot be tried here. */
  skip?: string | undefined
  /** Whether the memory of the service must come back within a minute. */
  comesBack?: boolean
}

export interface RowResult {
  series: string
  row: string
  result: 'passed' | 'failed' | 'skipped'
  honest: Latencies[]
  note: string
  faults: string[]
  elapsedMs: number
}

export interface Battery {
  attack(row: string, body: (attack: Attack) => Promise<void>, options?: RowOptions): void
  /**
   * The last row: within a minute of quiet, the service uses as much memory as before the series, or little
   * more.
   */
  soak(): void
  run(): void
}

/**
 * `ATTACK_ONLY=login` runs the rows alone that match; a series without such a row counts as failed, so name
 * the file, too.
 */
const ONLY = new RegExp(process.env.ATTACK_ONLY ?? '', 'i')
const ROW_LIMIT_MS = 300_000
const WARM_UP_MS = 3_000
const GROWTH_BYTES_MAX = 100 * MIB
const QUIET_MS = 60_000
const LOOK_EVERY_MS = 1_000
/** A connection may be seen to end before the process is. */
const END_SEEN_MS = 300

/** @param open starts the service of the series; it is called again when a row has ended it */
export function battery(series: string, options: FieldOptions = {}): Battery {
  const test = suite(series, { limitMs: ROW_LIMIT_MS })
  let honest: HonestClients
  let field: Field | undefined
  let residentBefore = 0
  let wasRestarted = false

  const standing = async (): Promise<Field> => {
    if (field && field.end === undefined) return field
    wasRestarted = field !== undefined
    await field?.close()
    field = await openField(options)
    honest.begin({ ...field.visit, kinds: KINDS })
    await pause(WARM_UP_MS)
    await honest.end()
    residentBefore = residentBytes(field.program.pid)
    return field
  }
  test.before(() => {
    honest = startHonestClients()
  })
  test.after(async () => {
    await honest.close()
    await field?.close()
  })

  const attack: Battery['attack'] = (row, body, { kinds = KINDS, skip, comesBack = false } = {}) => {
    if (!ONLY.test(row)) return
    if (skip !== undefined)
      record({ series, row, result: 'skipped', honest: [], note: skip, faults: [], elapsedMs: 0 })
    const run = async (t: TestContext) => {
      let began = performance.now()
      const notes: string[] = []
      const settle = (result: RowResult['result'], latencies: Latencies[], faults: string[]) => {
        const elapsedMs = Math.round(performance.now() - began)
        record({ series, row, result, honest: latencies, note: notes.join('; '), faults, elapsedMs })
        if (faults.length > 0) throw new Error(faults.join('\n'))
      }
      const attacked = await standing()
      began = performance.now()
      const before = residentBytes(attacked.program.pid)
      if (kinds.length > 0) honest.begin({ ...attacked.visit, kinds })
      const faults: string[] = []
      await body({ field: attacked, t, note: text => notes.push(text) }).catch(error => {
        faults.push(faultOf(error))
      })
      const latencies = kinds.length > 0 ? await honest.end() : []
      faults.push(...complaintsOf(latencies))
      if (faults.length > 0) await pause(END_SEEN_MS)
      if (attacked.end !== undefined) faults.unshift(attacked.end)
      else if (comesBack) await quieten(attacked, before, notes, faults)
      return settle(faults.length > 0 ? 'failed' : 'passed', latencies, faults)
    }
    test(row, run, { skip })
  }

  return {
    attack,
    soak() {
      attack(
        'memory after the series',
        async ({ field: { program }, note }) => {
          if (wasRestarted) throw new Error('the service ended during the series')
          const faults: string[] = []
          const notes: string[] = []
          await quieten({ program }, residentBefore, notes, faults)
          const children = childrenOf(program.pid).map(pid => mib(residentBytes(pid)))
          const beside = children.length > 0 ? `, children ${children.join(' and ')} MB` : ', no children'
          note(notes.join() + beside)
          if (faults.length > 0) throw new Error(faults.join())
        },
        { kinds: [] },
      )
    },
    run: () => test.run(),
  }
}

/** Waits, for a minute at most, until the service uses little more memory than before. */
async function quieten(
  { program: { pid } }: Pick<Field, 'program'>,
  before: number,
  notes: string[],
  faults: string[],
): Promise<void> {
  const limit = before + GROWTH_BYTES_MAX
  const deadline = performance.now() + QUIET_MS
  let now = residentBytes(pid)
  while (now > limit && performance.now() < deadline) {
    await pause(LOOK_EVERY_MS)
    now = residentBytes(pid)
  }
  notes.push(`${mib(before)} MB before, ${mib(now)} MB after`)
  if (now > limit) faults.push(`${mib(now)} MB a minute later, which were ${mib(before)} MB before`)
}

/** Why a row of this system's `/proc` cannot be tried. */
export const WITHOUT_PROC = existsSync('/proc/self/fd') ? undefined : 'there is no /proc here'

/** Returns the error message, with the values that an assertion compared. */
function faultOf(error: Error & { actual?: unknown; expects?: unknown }): string {
  const { message, actual, expects } = error
  if (actual === undefined && expects === undefined) return message
  const shown = (value: unknown) =>
    (value instanceof RegExp ? `${value}` : JSON.stringify(value))?.slice(0, 200)
  return `${message} (${shown(actual)}, in place of ${shown(expects)})`
}

function mib(bytes: number): number {
  return Math.round(bytes / MIB)
}

function record(row: RowResult) {
  const file = process.env.ATTACK_RESULTS
  if (file) appendFileSync(file, `${JSON.stringify(row)}\n`)
  const slowest = Math.max(0, ...row.honest.map(({ p99Ms }) => p99Ms))
  console.log(`row: ${row.result} ${row.row} (${row.elapsedMs} ms, honest p99 ${slowest} ms) ${row.note}`)
}
