/**
 * Runs pebble from Debian, a certificate authority for tests, on ports of its own on loopback, also on that
 * of a network namespace; it asks the DNS server that it is told.
 */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/lib/clock.ts'
import { OutboundFault } from '../../../src/protocols/http-client/fault.ts'
import { createOutbound } from '../../../src/protocols/http-client/outbound.ts'
import { startMta } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { certificateFiles, testAuthority } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'

export interface RunningPebble {
  port: number
  directoryUrl: string
  /** Root certificate that verifies its certificates, PEM. */
  root: string
  log(): string
  close(): Promise<void>
}

const NOTHING = async () => ({ kind: 'no-data' }) as const

/**
 * @param options.httpPort where it looks for files @param options.settings environment variables
 * @param options.enter command that enters a network namespace, where all ports are free
 */
export async function runPebble(options: {
  dnsServer: string
  httpPort: number
  settings?: Record<string, string>
  enter?: readonly string[]
}): Promise<RunningPebble> {
  const folder = await mkdtemp(join(tmpdir(), 'pebble-'))
  const enter = options.enter ?? []
  const [port, managementPort] = [await freePort(), await freePort()]
  const config = join(folder, 'pebble.json')
  await writeFile(
    config,
    JSON.stringify({
      pebble: {
        listenAddress: `127.0.0.1:${port}`,
        managementListenAddress: `127.0.0.1:${managementPort}`,
        certificate: certificateFiles.cert,
        privateKey: certificateFiles.key,
        httpPort: options.httpPort,
        tlsPort: 1,
        ocspResponderURL: '',
        externalAccountBindingRequired: false,
      },
    }),
  )
  const settings = Object.entries({ PEBBLE_VA_NOSLEEP: '1', ...options.settings })
  const [program, ...args] = [
    ...enter,
    'env',
    ...settings.map(([name, value]) => `${name}=${value}`),
    ...['pebble', '-strict', '-config', config, '-dnsserver', options.dnsServer],
  ]
  const child = startMta(program!, args)
  const outbound = createOutbound({
    resolver: { addresses4: NOTHING, addresses6: NOTHING },
    clock: systemClock,
    allowPrivate: true,
    authorities: [testAuthority()],
  })
  const root = await until(async () => {
    if (child.hasEnded())
      throw new Error(`pebble cannot be run: install the Debian package pebble\n${child.log()}`)
    const url = `https://127.0.0.1:${managementPort}/roots/0`
    if (enter.length > 0) return fetchedWithin(enter, url)
    const reply = await outbound.send({ url, limitMs: 1_000, limitBytes: 65_536 })
    return reply instanceof OutboundFault ? undefined : reply.body.toString()
  })
  outbound.close()
  return {
    port,
    directoryUrl: `https://127.0.0.1:${port}/dir`,
    root,
    log: child.log,
    async close() {
      await child.end()
      await rm(folder, { recursive: true })
    },
  }
}

/** The test itself does not reach a server in a namespace. @returns empty while it does not serve */
function fetchedWithin([program, ...args]: readonly string[], url: string): string {
  return spawnSync(program!, [...args, 'curl', '--silent', '--insecure', url], { encoding: 'utf8' }).stdout
}
