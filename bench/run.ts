/**
 * Benchmarks, each next to its peers in the same run on the same machine. Needs root and Debian's postfix, opendkim,
 * unbound, wrk, iproute2 and strace.
 *
 *   npm run bench -- <scenario> [--reps 5] [--n 5000] [--only name]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { enterNamespace } from './kit/namespace.ts'
import { scenarios } from './scenarios.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reps: { type: 'string' },
    n: { type: 'string' },
    only: { type: 'string' },
    keep: { type: 'boolean' },
  },
})
const scenario = scenarios[positionals[0] ?? '']
if (!scenario) {
  console.error(
    `usage: npm run bench -- ${Object.keys(scenarios).join('|')} [--reps N] [--n N] [--only name]`,
  )
  process.exit(2)
}
enterNamespace()

const folder = mkdtempSync(join(tmpdir(), 'bench-'))
try {
  await scenario({
    folder,
    reps: Number(values.reps ?? 5),
    count: Number(values.n ?? 5_000),
    only: values.only,
  })
} finally {
  if (values.keep) console.log(`kept: ${folder}`)
  else rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
