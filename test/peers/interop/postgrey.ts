/** postgrey as the policy server of a Postfix, at a time that the test moves. */
import { chmodSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFolder, startMta } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { listens } from '../../kit/listens.ts'
import { until } from '../../kit/until.ts'

export interface Postgrey {
  readonly port: number
  log(): string
  /** Moves its time. */
  advance(ms: number): void
  close(): Promise<void>
}

const HOST = '127.0.0.1'
const OPTIONS = [
  ...['--user=nobody', '--group=nogroup', '--hostname=there.test'],
  ...['--whitelist-clients=/dev/null', '--whitelist-recipients=/dev/null'],
]

/** Starts Postgrey with its default delay of five minutes. */
export async function startPostgrey(): Promise<Postgrey> {
  const root = packageFolder('postgrey')
  const folder = mkdtempSync(join(tmpdir(), 'postgrey-'))
  const clockFile = join(folder, 'clock')
  const database = join(folder, 'db')
  mkdirSync(database)
  chmodSync(folder, 0o755)
  chmodSync(database, 0o777)
  let movedMs = 0
  const setClock = () => writeFileSync(clockFile, String(Math.round(movedMs / 1_000)))
  setClock()
  const modules = [
    fileURLToPath(new URL('.', import.meta.url)),
    join(root, 'usr/share/perl5'),
    ...globSync(join(root, 'usr/lib/*/perl5/*')),
  ]
  const port = await freePort(HOST)
  const program = [
    join(root, 'usr/sbin/postgrey'),
    `--inet=${HOST}:${port}`,
    `--dbdir=${database}`,
    ...OPTIONS,
  ]
  const perl = ['/usr/bin/perl', '-T', ...modules.map(path => `-I${path}`), '-MMovedClock', ...program]
  const postgrey = startMta('env', [`MOVED_CLOCK=${clockFile}`, ...perl])
  await until(async () => {
    if (await listens(HOST, port)) return true
    if (postgrey.hasEnded()) throw new Error(`postgrey does not start: ${postgrey.log()}`)
    return false
  })
  return {
    port,
    log: postgrey.log,
    advance(ms) {
      movedMs += ms
      setClock()
    },
    async close() {
      await postgrey.end('SIGKILL') // of SIGTERM it may take note too late, and wait for somebody to call
      rmSync(folder, { recursive: true })
    },
  }
}
