/** Runs `mailhorn import …` in this process, against a running service and a fake of the other one. */
import * as assert from 'uvu/assert'
import { KINDS, type Kind } from '../../src/interfaces/cli/import/shapes.ts'
import { runProgram } from '../../src/interfaces/cli/program.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { addAccount } from './accounts.ts'
import type { CallOptions, Mailhorn } from './mailhorn.ts'

export interface ImportEnd {
  code: number
  out: string
  err: string
  /** Times that it waited, in ms. */
  waits: number[]
  // biome-ignore lint/suspicious/noExplicitAny: tests look into reports of every shape
  json: any
}

interface ImportOptions {
  args: readonly string[]
  env?: Record<string, string | undefined>
  input?: string
}

let accounts = 0

/** An account of its own, with the command that imports into it. */
export function importingAccount(mailhorn: Mailhorn, keys: Record<string, string>) {
  const { session } = addAccount(mailhorn, `import-${++accounts}`)
  const call = async (method: string, path: string, options: CallOptions = {}) =>
    (await mailhorn.call(method, path, { session, ...options })).body
  const run = ({ args, env = {}, input = '' }: ImportOptions) =>
    runImportLine(['import', ...args], {
      serviceUrl: mailhorn.baseUrl,
      env: { MAILHORN_ACCESS_TOKEN: session, ...keys, ...env },
      input,
    })
  /** Lists everything that the account has of a kind. */
  const all = async (path: string) => {
    const found = []
    for (let offset = 0; ; offset += 100) {
      const { data, has_more } = await call('GET', `${path}?limit=100&offset=${offset}`)
      found.push(...data)
      if (!has_more) return found
    }
  }
  return { session, call, run, all }
}

/**
 * Expects that a dry run stores nothing, and that a second import makes nothing. Leaves the account imported.
 * @param kinds kinds that the provider has; all by default
 * @returns the report of the dry run
 */
export async function assertMadeOnce(
  { all, run }: { all(path: string): Promise<unknown[]>; run(...more: string[]): Promise<ImportEnd> },
  kinds: readonly Kind[] = KINDS,
) {
  const dry = await run('--dry-run')
  const paths = kinds.flatMap(kind => (kind === 'contacts' ? ['/audiences', '/contacts'] : [`/${kind}`]))
  for (const path of paths) assert.equal(await all(path), [], path)
  await run()
  const { json } = await run()
  for (const kind of kinds) assert.is(json[kind].made, 0, kind)
  return dry.json
}

interface Surroundings {
  serviceUrl: string
  env: Record<string, string | undefined>
  input: string
}

async function runImportLine(
  args: readonly string[],
  { serviceUrl, env, input }: Surroundings,
): Promise<ImportEnd> {
  let out = ''
  let err = ''
  const waits: number[] = []
  const unused = () => {
    throw new Error('not for imports')
  }
  const code = await runProgram(args, {
    version: '1.2.3',
    openInstallation: unused,
    checkSources: unused,
    zoneRecords: unused,
    sourceSettings: unused,
    examine: unused,
    examineHost: unused,
    interfaceAddresses: unused,
    ask: unused,
    pause: unused,
    say(line) {
      err += `${line}\n`
    },
    backupSettings: unused,
    importSettings: () => ({ serviceUrl, variable: name => env[name], clock: impatient(waits) }),
    readInput: async () => input,
    out(text) {
      out += text
    },
    err(text) {
      err += text
    },
  })
  return { code, out, err, waits, json: args.includes('--json') && out !== '' ? JSON.parse(out) : undefined }
}

/** A clock whose timers fire at once. */
function impatient(waits: number[]): Clock {
  return {
    now: Date.now,
    monotonic: () => performance.now(),
    timer(ms, fn) {
      waits.push(ms)
      const handle = setImmediate(fn)
      return { cancel: () => clearImmediate(handle) }
    },
  }
}
