/**
 * Errors that nobody handles, in the real program: the net that ends it in order, and tasks that are parked.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { databaseOf } from '../kit/database.ts'
import { type Program, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import type { PlantedCrash } from './planted-crash.ts'

const test = suite('uncaught errors', { limitMs: 240_000 })
const preload = new URL('./planted-crash.ts', import.meta.url)

function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-uncaught-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const dataDir = join(folder, 'data')
  const plantedFile = join(folder, 'planted.json')
  return {
    dataDir,
    plant: (crash: PlantedCrash) => writeFileSync(plantedFile, JSON.stringify(crash)),
    remove: () => rmSync(plantedFile, { force: true }),
    start: () => startProgram({ dataDir, preload }),
    /** Starts the program and resolves with its end; it may end before it is ready. */
    async startsAndEnds() {
      try {
        return await (await startProgram({ dataDir, preload })).ended
      } catch (error) {
        return { code: null, signal: null, output: (error as Error).message }
      }
    },
  }
}

const eventsOf = (output: string) =>
  output
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Record<string, unknown>)

for (const how of ['throw', 'reject'] as const)
  test(`an error outside of tasks (${how}) is a log line, and the service stops in order with code 1`, async t => {
    const { plant, start, dataDir } = open(t)
    const program = await t.using(start())
    plant({ how })
    process.kill(program.pid, 'SIGWINCH')
    const { code, output } = await program.ended
    assert.is(code, 1)
    const [uncaught] = eventsOf(output).filter(({ event }) => event === 'uncaught_error')
    assert.is(uncaught!.level, 'fatal')
    assert.is(uncaught!.task, null)
    assert.match((uncaught!.err as Error).message, 'planted')
    assert.not.match(output, /^\s+at /m)
    assert.equal(crashesOf(dataDir), [], 'it counts against no task')
    databaseOf(dataDir).release()
  })

function crashesOf(dataDir: string): { task: string }[] {
  try {
    return (
      JSON.parse(readFileSync(join(dataDir, 'crashes.json'), 'utf8')) as { crashes: { task: string }[] }
    ).crashes
  } catch {
    return [] // no crash was recorded
  }
}

const TASKS = ['delete old events', 'check domains', 'list received mail (small)']

for (const [i, task] of TASKS.entries())
  test(`the task "${task}" that ends three starts is parked at the fourth, with an alert, and runs after an hour`, async t => {
    // given a task that fails at each start
    const { plant, remove, start, startsAndEnds, dataDir } = open(t)
    plant({ task, how: i % 2 === 0 ? 'throw' : 'reject' })
    // when the service starts three times
    for (let starts = 1; starts <= 3; starts++) {
      const { code, output } = await startsAndEnds()
      assert.ok(code === 1 || code === null)
      const [uncaught] = eventsOf(output).filter(({ event }) => event === 'uncaught_error')
      assert.is(uncaught!.task, task)
      assert.is(crashesOf(dataDir).length, starts)
    }
    // then the fourth start lives without the task, and tells the operator
    const fourth: Program = await t.using(start())
    const [parked] = fourth.logs.filter(({ event }) => event === 'task_parked')
    assert.is(parked!.task, task)
    assert.is((await fourth.call('GET', '/healthz')).status, 200)
    const [alert] = databaseOf(dataDir).rows<{ kind: string; provider: string; reply: string }>(
      'select kind, provider, reply from operator_alerts',
    )
    assert.equal([alert!.kind, alert!.provider], ['task-parked', task])
    assert.match(alert!.reply, 'planted')
    databaseOf(dataDir).release()
    assert.is((await fourth.end('SIGTERM')).code, 0)
    // and when the hour is over, the task runs again
    const file = join(dataDir, 'crashes.json')
    const hourAgo = Date.now() - 3_600_001
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"at": \d+/g, `"at": ${hourAgo}`))
    remove()
    const later = await t.using(start())
    assert.equal(
      later.logs.filter(({ event }) => event === 'task_parked'),
      [],
    )
  })

test.run()
