/**
 * Benchmarks, each next to its peers in the same run on the same machine. Needs root and Debian's postfix,
 * opendkim, unbound, wrk, dnsperf, iproute2 and strace.
 *
 *   npm run bench -- <scenario> [--rounds N] [--n N] [--domains N] [--only name]
 *     [--json file] [--profile folder] [--slots 1,3] [--before checkout] [--keep]
 */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { enterNamespaces } from './kit/namespace.ts'
import { machine, record, splitLines, table } from './kit/report.ts'
import { scenarios } from './scenarios.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    n: { type: 'string' },
    domains: { type: 'string' },
    only: { type: 'string' },
    json: { type: 'string' },
    profile: { type: 'string' },
    slots: { type: 'string', default: '1,3' },
    before: { type: 'string' },
    keep: { type: 'boolean' },
  },
})
const name = positionals[0] ?? ''
const scenario = Object.hasOwn(scenarios, name) ? scenarios[name] : undefined
if (!scenario) {
  console.error(
    'usage: npm run bench -- <scenario> [--rounds N] [--n messages] [--domains N] [--only name] [--json file] [--profile folder] ' +
      '[--slots 1,3] [--before checkout] [--keep]\n',
  )
  for (const [known, { what, rounds, count, domainCount }] of Object.entries(scenarios))
    console.error(`  ${known.padEnd(8)} ${what} (--rounds ${rounds} --n ${count} --domains ${domainCount})`)
  process.exit(2)
}
const folder = await enterNamespaces(values.keep ?? false)

const options = {
  rounds: Number(values.rounds ?? scenario.rounds),
  count: Number(values.n ?? scenario.count),
  domainCount: Number(values.domains ?? scenario.domainCount),
  only: values.only,
  profiles: values.profile === undefined ? undefined : resolve(values.profile),
  before: values.before === undefined ? undefined : resolve(values.before),
  signingSlots: values.slots.split(',').map(Number),
}
const findings = await scenario.run({ ...options, folder })
const { cpu, coreCount, node } = machine()
console.log(
  `\n${name}: ${scenario.what}; ${options.count} messages, median of ${options.rounds}; ${coreCount} × ${cpu}, Node ${node}\n`,
)
console.log(table(findings))
console.log(['', ...splitLines(findings)].join('\n'))
if (values.json) writeFileSync(values.json, `${JSON.stringify(record(name, options, findings), null, 2)}\n`)
process.exit(0)
