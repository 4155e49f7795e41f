/**
 * Texts for the operator when the service cannot start, or has to end because its store has failed: one line
 * with what to do, or a stack trace for an unexpected error. Checks the listeners before the start. Called by
 * `main.ts` and `app.ts`.
 */

import { createServer } from 'node:net'
import { type Config, ConfigError } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import { hostPort } from '../lib/host-port.ts'
import type { Log } from '../lib/log.ts'
import { isStartFault } from '../lib/start-fault.ts'
import { createDnsListener } from '../protocols/dns/listener.ts'
import { RecordFault } from '../protocols/dns/record-text.ts'
import { damageText, isDamaged, locate } from '../store/opening/dialect.ts'

/** @param config undefined when the configuration could not be read */
export function startFaultText(error: unknown, config: Config | undefined): string {
  if (error instanceof ConfigError) return `The configuration is wrong:\n${error.message}`
  if (error instanceof RecordFault) return `The configuration is wrong:\ndns.records: ${error.message}`
  const line = config && explained(error, config)
  if (line !== undefined) return `mailhorn: ${line}`
  return error instanceof Error ? `${error.stack}` : `${error}`
}

function explained(error: unknown, config: Config): string | undefined {
  if (isStartFault(error)) return error.message
  if (isDamaged(error))
    return damageText(locate({ dataDir: config.dataDir, url: config.database.url }), error as Error)
  if (!isListenFault(error)) return systemText(error)
  return listenText(error, config) ?? systemText(error) ?? socketText(error)
}

/** Describes for the log why the store of a running service has failed; a damaged database needs no trace. */
export function storeFailure(
  error: Error,
  { dataDir, database }: Pick<Config, 'dataDir' | 'database'>,
): { fields: { err: Error } | { fault: string }; text: string } {
  if (isDamaged(error))
    return {
      fields: { fault: error.message },
      text: `The process exits: ${damageText(locate({ dataDir, url: database.url }), error)}`,
    }
  return {
    fields: { err: error },
    text: 'The store has failed. The process exits, so that it accepts no mail that it cannot store.',
  }
}

/**
 * Advice for errors of the system and of SQLite that the checks before the start cannot foresee, by their
 * codes.
 */
const SYSTEM_ADVICE: [RegExp, string][] = [
  [/^(?:ENOSPC|EDQUOT|EFBIG|SQLITE_FULL)/, 'the disk or the quota is full; free some space, or enlarge it'],
  [/^(?:EROFS|SQLITE_READONLY)/, 'make the data folder and its files writable for the user of the service'],
  [
    /^(?:EACCES|EPERM|EISDIR|ENOTDIR|SQLITE_CANTOPEN|SQLITE_PERM|SQLITE_AUTH)/,
    "make the service's user the owner of the data folder and its files",
  ],
  [
    /^(?:EMFILE|ENFILE)/,
    'too many files are open; raise the limit (`ulimit -n 65536`; in systemd: LimitNOFILE=65536)',
  ],
  [
    /^(?:EIO|SQLITE_IOERR)/,
    'the disk cannot be read or written, or it is full; look at the log of the system (`dmesg`)',
  ],
  [
    /^(?:EAGAIN|ENOMEM|SQLITE_NOMEM)/,
    'the system has no memory or no threads left; raise its limits, or free some',
  ],
  [/^SQLITE_(?:BUSY|LOCKED)/, 'another program uses the database; stop it'],
]

/** @returns undefined for an error that is not of the system */
function systemText(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const code = `${error.code}`
  const advice = SYSTEM_ADVICE.find(([codes]) => codes.test(code))?.[1]
  return advice && `cannot start: ${error.message.replaceAll('\n', ' ')} (${code}): ${advice}`
}

interface ListenFault extends NodeJS.ErrnoException {
  address?: string
  hostname?: string
  port?: number
}

/** System calls of a failed listener: `bind` for UDP, `getaddrinfo` for a host name. */
const LISTEN_CALLS = ['listen', 'bind', 'getaddrinfo']

function isListenFault(error: unknown): error is ListenFault {
  return error instanceof Error && 'syscall' in error && LISTEN_CALLS.includes(`${error.syscall}`)
}

/** Describes a fault of the control socket, which is a file in the data folder. */
function socketText({ address, message, code }: ListenFault): string {
  return `cannot listen on ${address ?? message}: the system refuses it; the file system of data_dir must allow sockets (${code})`
}

/** @returns undefined when the address belongs to no listener of the configuration */
function listenText(fault: ListenFault, config: Config): string | undefined {
  const host = fault.address ?? fault.hostname
  const found = listenersOf(config).find(
    ({ place }) => place.host === host && (fault.port === undefined || place.port === fault.port),
  )
  if (!found) return undefined
  const { key, place } = found
  return `cannot listen on ${hostPort(place.host, place.port)} (${key}): ${adviceFor(fault.code ?? '', key, place)} (${fault.code})`
}

const ADVICE: Record<string, string> = {
  EADDRINUSE:
    'another program uses the port; stop that program (`ss -lntup` names it), or set another address',
  EAFNOSUPPORT: 'this machine has no addresses of that kind; IPv6 may be switched off',
  EACCES:
    'the user of the service may not open ports below 1024; allow it (in systemd: AmbientCapabilities=CAP_NET_BIND_SERVICE), ' +
    'or listen on a higher port and forward this one to it',
}

function adviceFor(code: string, key: string, { host, port }: { host: string; port: number }): string {
  if (code === 'EADDRNOTAVAIL') {
    const zone = key === 'dns.listen' ? ', and set dns.addresses to the public address' : ''
    return `no interface of this machine has that address; behind NAT (most clouds) listen on 0.0.0.0:${port} or on the private address${zone}`
  }
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `the name ${host} has no address here; set an IP address`
  const isStub = code === 'EADDRINUSE' && port === 53
  const stub = isStub
    ? '; on port 53 that is often systemd-resolved, which leaves other addresses than 127.0.0.53 free'
    : ''
  return (ADVICE[code] ?? 'the system refuses it') + stub
}

/** The listeners that a process with the configuration opens, with the keys of their settings. */
export function listenersOf({ http, smtp, acme, dns, metrics, roles }: Config) {
  const places = [
    ['http.listen', http.listen],
    ['http.tls_listen', http.tlsListen],
    ['smtp.inbound.listen', roles.includes('all') ? smtp.inbound.listen : null],
    ['smtp.submission.listen', smtp.submission.listen],
    ['smtp.submission_tls.listen', smtp.submissionTls.listen],
    ['smtp.relay.listen', smtp.relay.listen],
    ['acme.listen', acme.enabled ? acme.listen : null],
    ['metrics.listen', metrics.listen],
    ...dns.listen.map(place => ['dns.listen', place] as const),
  ] as const
  return places.flatMap(([key, place]) => (place === null ? [] : [{ key, place }]))
}

/**
 * Opens and closes every listener of the configuration, so that an address that cannot be used is found
 * before the start writes anything.
 * @throws the error of binding, with the address and the port
 */
export async function checkListeners(config: Config, context: { clock: Clock; log: Log }): Promise<void> {
  await using stack = new AsyncDisposableStack()
  for (const { key, place } of listenersOf(config))
    stack.defer(key === 'dns.listen' ? await openDns(place, context) : await openTcp(place))
}

async function openDns(
  listen: { host: string; port: number },
  { clock, log }: { clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const listener = createDnsListener({ listen, respond: () => undefined, clock, log })
  await listener.listen()
  return listener.close
}

async function openTcp({ host, port }: { host: string; port: number }): Promise<() => Promise<void>> {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return () => new Promise(resolve => void server.close(() => resolve()))
}
