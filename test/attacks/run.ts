/**
 * Runs the battery, one series after the other, and prints a table of its rows: `npm run test:attacks [--
 * <file>… --table <file>]`. `--table results.md` (or `.json`, or `ATTACK_TABLE`) also writes it. A
 * measurement, for a machine that does nothing else.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { RowResult } from './battery.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The last line of the runner, which is to be the last one of this program, too. */
const SUM = /^\d+ passed, \d+ failed(?:, \d+ skipped)?$/

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { table: { type: 'string' }, match: { type: 'string' } },
})
const tableFile = values.table ?? process.env.ATTACK_TABLE
const folder = mkdtempSync(join(tmpdir(), 'mailhorn-attack-results-'))
const results = join(folder, 'rows')
const files = positionals.length > 0 ? positionals : ['test/attacks']
const match = values.match === undefined ? [] : ['--match', values.match]
const child = spawn(process.execPath, ['scripts/test.ts', ...files, ...match], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'inherit'],
  env: { ...process.env, TEST_LANES: '1', ATTACK_RESULTS: results },
})
const ended = new Promise<number>(resolve => child.once('close', code => resolve(code ?? 1)))
let sum = ''
for await (const line of createInterface(child.stdout))
  if (SUM.test(line)) sum = line
  else console.log(line)
process.exitCode = await ended

const rows = existsSync(results)
  ? readFileSync(results, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as RowResult)
  : []
rmSync(folder, { recursive: true })
console.log(`\n${markdown(rows)}\n`)
if (tableFile) writeFileSync(tableFile, tableFile.endsWith('.json') ? json(rows) : `${markdown(rows)}\n`)
console.log(sum)

function json(all: readonly RowResult[]): string {
  return `${JSON.stringify({ machine: machine(), rows: all }, null, 2)}\n`
}

function markdown(all: readonly RowResult[]): string {
  const lines = all.map(({ series, row, result, honest, note, faults }) => {
    const latencies = honest.map(({ p99Ms }) => p99Ms)
    const slowest = honest.find(({ p99Ms }) => p99Ms === Math.max(...latencies))
    const p99 = slowest ? `${slowest.p99Ms} ms (${slowest.kind})` : '–'
    const message = [note, ...(result === 'failed' ? faults : [])].filter(Boolean).join('; ')
    return `| ${[series, row, result, p99, message].map(cell).join(' | ')} |`
  })
  const head = '| series | attack | result | honest p99 | note |\n|---|---|---|---|---|'
  return `${machine()}\n\n${head}\n${lines.join('\n')}`
}

function cell(text: string): string {
  return text
    .replaceAll('|', '\\|')
    .replaceAll(/\s*\n\s*/g, ' ')
    .replaceAll('<', '&lt;')
    .slice(0, 300)
}

function machine(): string {
  const scale = process.env.ATTACK_SCALE === undefined ? '' : `, at scale ${process.env.ATTACK_SCALE}`
  return `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'processor'}, Node ${process.version}${scale}`
}
