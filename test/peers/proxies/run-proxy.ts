/** Runs HAProxy and nginx from Debian with the configuration of docs/proxies.md, on ports of their own. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startMta } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { until } from '../../kit/until.ts'

/** Address of the proxies that the service trusts. */
export const PROXY = '127.9.9.9'

export interface RunningProxy {
  /** Ports of the proxy by those of the documentation, such as 25. */
  ports: Record<string, number>
  close(): Promise<void>
}

export interface ProxyOptions {
  program: 'haproxy' | 'nginx'
  /** Ports of the service by those of the documentation. */
  servicePorts: Record<string, number>
  /** Version of the header; nginx knows only the first. */
  version: 1 | 2
  /** Address from which the proxy connects to the service. */
  from?: string
}

const page = readFileSync(new URL('../../../docs/proxies.md', import.meta.url), 'utf8')

/** Resolves when the proxy accepts connections. @throws when it cannot be run */
export async function runProxy({
  program,
  servicePorts,
  version,
  from = PROXY,
}: ProxyOptions): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), `${program}-`))
  const ports: Record<string, number> = {}
  for (const name of Object.keys(servicePorts)) ports[name] = await freePort()
  const file = join(folder, `${program}.conf`)
  const documented = page.match(new RegExp(`\`\`\`${program}\n(.*?)\`\`\``, 's'))![1]!
  const text = documented
    .replace(/(bind |listen )(?:[^\n:;]*:)?(\d+)/g, (_, word, port) => `${word}127.0.0.1:${ports[port]}`)
    .replace(/10\.0\.0\.20:(\d+)/g, (_, port) => `127.0.0.1:${servicePorts[port]}`)
  const settings = program === 'haproxy' ? ofHaproxy(text, from, version) : ofNginx(text, from, folder)
  writeFileSync(file, settings)
  const child =
    program === 'haproxy'
      ? startMta('haproxy', ['-db', '-f', file])
      : startMta('nginx', ['-p', folder, '-c', file, '-e', join(folder, 'error.log')])
  await until(async () => {
    if (child.hasEnded())
      throw new Error(
        `${program} cannot be run: install it with libnginx-mod-stream from Debian\n${child.log()}`,
      )
    const open = await Promise.all(Object.values(ports).map(isOpen))
    return open.every(Boolean)
  })
  return {
    ports,
    async close() {
      await child.end()
      rmSync(folder, { recursive: true })
    },
  }
}

function ofHaproxy(text: string, from: string, version: 1 | 2): string {
  const settings = text.replace('defaults\n', `defaults\n  source ${from}\n`)
  return version === 2 ? settings : settings.replaceAll('send-proxy-v2', 'send-proxy')
}

function ofNginx(text: string, from: string, folder: string): string {
  return `load_module /usr/lib/nginx/modules/ngx_stream_module.so;
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log;
events {}
${text.replace('stream {\n', `stream {\n  proxy_bind ${from};\n`)}`
}

function isOpen(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
