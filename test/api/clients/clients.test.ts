import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('clients generated from the OpenAPI document', { limitMs: 300_000 })
const TOOLS = join(import.meta.dirname, '../../../node_modules/.cache/clients')
/** Below the tools, so that their packages are found. */
const FOLDER = join(TOOLS, 'run')
const CLIENTS = ['openapi-typescript', 'hey-api', 'orval']
const MODULES = join(TOOLS, 'node_modules')
const BINARIES = {
  redocly: '@redocly/cli/bin/cli.js',
  spectral: '@stoplight/spectral-cli/dist/index.js',
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  'hey-api': '@hey-api/openapi-ts/bin/run.js',
  orval: 'orval/dist/bin/orval.mjs',
  tsc: 'typescript/bin/tsc',
}
let mailhorn: Mailhorn

/** @throws with its output when the program fails */
async function run(file: string, args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const { PATH = '', HOME = '' } = process.env
  const options = { cwd: FOLDER, env: { PATH, HOME, REDOCLY_TELEMETRY: 'off', CI: 'true', ...env } }
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [file, ...args], options)
    return stdout + stderr
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }
    throw new Error(`${file}: ${stdout}${stderr}`)
  }
}

const tool = (name: keyof typeof BINARIES, ...args: string[]) => run(join(MODULES, BINARIES[name]), args)

test.before(async () => {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  cpSync(import.meta.dirname, FOLDER, { recursive: true })
  mailhorn = await startMailhorn()
  await mailhorn.verifiedDomain('here.example')
  const { body } = await mailhorn.call('GET', '/openapi.json')
  writeFileSync(join(FOLDER, 'openapi.json'), JSON.stringify(body, null, 2))
})
test.after(() => mailhorn?.close())

test('Redocly finds nothing', async () => {
  const found = await tool('redocly', 'lint', 'openapi.json', '--config', 'redocly.yaml', '--format', 'json')
  const { totals } = JSON.parse(found.slice(found.indexOf('{'), found.lastIndexOf('}') + 1))
  assert.equal([totals.errors, totals.warnings], [0, 0], found)
})

test('Spectral finds nothing', async () => {
  await tool('spectral', 'lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint')
})

test('generated clients compile and make the ten most common calls', async () => {
  await tool('openapi-typescript', 'openapi.json', '-o', 'openapi-typescript/schema.ts')
  await tool('hey-api', '-i', 'openapi.json', '-o', 'hey-api')
  await tool('orval', '--input', 'openapi.json', '--output', 'orval/client.ts', '--client', 'fetch')
  const programs = CLIENTS.map(name => `programs/${name}.ts`)
  const types = ['--strict', '--noEmit', '--target', 'esnext', '--module', 'esnext', '--skipLibCheck']
  await tool(
    'tsc',
    ...types,
    '--moduleResolution',
    'bundler',
    '--lib',
    'esnext,dom,dom.iterable',
    ...programs,
  )
  for (const [i, program] of programs.entries()) {
    const outfile = join(FOLDER, `${CLIENTS[i]}.mjs`)
    const common = { bundle: true, platform: 'node', format: 'esm', logLevel: 'error' } as const
    await build({ ...common, entryPoints: [join(FOLDER, program)], outfile })
    const MAILHORN_TOKEN = openSession(mailhorn, 'bearer')
    await run(outfile, [], { MAILHORN_URL: mailhorn.baseUrl, MAILHORN_TOKEN })
  }
})

test.run()
