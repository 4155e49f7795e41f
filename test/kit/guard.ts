/**
 * Loaded before every test file and worker thread: any attempt to reach a host outside loopback is
 * refused and fails the run, files that nobody closed fail it when the garbage collector finds them, and a
 * process that is still alive long after its tests says what holds it.
 */
import dgram from 'node:dgram'
import dns from 'node:dns'
import net from 'node:net'

const LOOPBACK = new net.BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')
LOOPBACK.addAddress('0.0.0.0', 'ipv4')
LOOPBACK.addAddress('::', 'ipv6')

const EXIT_CODES = { outside: 97, unclosed: 96 }
let attemptCount = 0
let unclosedCount = 0

process.on('exit', () => {
  process.exitCode = takeGuardCode() ?? process.exitCode
})

process.on('warning', ({ message }) => {
  if (/^Closing .* on garbage collection$/.test(message)) unclosedCount++
})

function isLoopback(host: string): boolean {
  if (host === 'localhost') return true
  const family = net.isIP(host)
  return family !== 0 && LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

function insist(host: string | undefined, what: string) {
  if (host === undefined || isLoopback(host)) return
  const breach = new Error(`network guard: ${what} ${host} is outside loopback`)
  process.stderr.write(`${breach.stack}\n`)
  attemptCount++
  throw breach
}

/**
 * Returns the exit code that tells of attempts to reach a host outside loopback, or of unclosed files, since
 * the last call.
 */
export function takeGuardCode(): number | undefined {
  const code = attemptCount > 0 ? EXIT_CODES.outside : unclosedCount > 0 ? EXIT_CODES.unclosed : undefined
  attemptCount = 0
  unclosedCount = 0
  return code
}

const connect = net.Socket.prototype.connect
net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
  const first = Array.isArray(args[0]) ? args[0][0] : args[0]
  if (typeof first === 'object' && first !== null && 'port' in first)
    insist((first as { host?: string }).host, 'a connection to')
  else if (typeof first === 'number' && typeof args[1] === 'string') insist(args[1], 'a connection to')
  return Reflect.apply(connect, this, args)
} as typeof connect

const send = dgram.Socket.prototype.send
dgram.Socket.prototype.send = function (this: dgram.Socket, ...args: unknown[]) {
  insist(
    args.slice(1).find(arg => typeof arg === 'string'),
    'a datagram to',
  )
  return Reflect.apply(send, this, args)
} as typeof send

for (const Resolver of [dns.Resolver, dns.promises.Resolver]) {
  const setServers = Resolver.prototype.setServers
  Resolver.prototype.setServers = function (servers: readonly string[]) {
    for (const server of servers) insist(hostOf(server), 'a resolver at')
    return setServers.call(this, servers)
  }
}

function hostOf(server: string): string {
  const bracketed = /^\[(.+)\]/.exec(server)
  if (bracketed) return bracketed[1]!
  return net.isIPv6(server) ? server : server.replace(/:\d+$/, '')
}

process.on('SIGUSR2', () => {
  process.stderr.write(`still open: ${process.getActiveResourcesInfo().join(', ')}\n`)
  process.exit(98)
})
