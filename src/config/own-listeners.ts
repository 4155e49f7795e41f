/**
 * Finds smart hosts that are a mail listener of this installation: each email would come back and be sent
 * again. Smart hosts that lead back by other ways, such as a port that a router forwards, are found when the
 * mail returns (`pipeline/inbound/rounds.ts`). Called by `config.ts`.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { isWildcard } from '../lib/host-port.ts'
import type { SmartHostAddress } from './smart-host.ts'

interface Place {
  host: string
  port: number
}

/** Names and addresses of this machine. */
export interface Machine {
  /** In lower case. */
  names: readonly string[]
  addresses: readonly string[]
}

interface SmtpListeners {
  inbound: { listen: Place | null }
  submission: { listen: Place | null }
  submissionTls: { listen: Place | null }
  relay: { listen: Place | null }
}

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/

/** Reads names and addresses from the operating system. */
export function thisMachine(mailHost: string): Machine {
  return {
    names: [mailHost.toLowerCase(), hostname().toLowerCase()],
    addresses: Object.values(networkInterfaces()).flatMap(found => found!.map(({ address }) => address)),
  }
}

/** @returns the key of the setting of the listener that is the smart host, such as `smtp.relay.listen` */
export function ownListener(
  { host, port }: Pick<SmartHostAddress, 'host' | 'port'>,
  { inbound, submission, submissionTls, relay }: SmtpListeners,
  machine: Machine,
): string | undefined {
  const listeners = [
    ['smtp.inbound.listen', inbound.listen],
    ['smtp.submission.listen', submission.listen],
    ['smtp.submission_tls.listen', submissionTls.listen],
    ['smtp.relay.listen', relay.listen],
  ] as const
  return listeners.find(
    ([, place]) => place?.port === port && accepts(plain(place.host), plain(host), machine),
  )?.[0]
}

/** Tells whether a listener accepts connections to a host. */
function accepts(bound: string, host: string, { names, addresses }: Machine): boolean {
  const isName = !isIPv4(host) && !isIPv6(host)
  if (isWildcard(bound)) {
    if (isName) return isLocalhost(host) || names.includes(host)
    const isHere = isLoopback(host) || isWildcard(host) || addresses.includes(host)
    return isHere && (bound === '::' || isIPv4(host))
  }
  if (bound === host) return true
  if (isLoopback(bound)) return isLocalhost(host) || isWildcard(host)
  return names.includes(host)
}

/** Lower case, without the dot at the end of a name, and IPv4 addresses in their own form. */
function plain(host: string): string {
  return host.toLowerCase().replace(MAPPED, '').replace(/\.$/, '')
}

function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

/** A listener may be bound to the name `localhost`. */
/** Tells whether only programs of this machine can connect to a host. */
export function isLoopback(host: string): boolean {
  return host === '::1' || (isIPv4(host) && host.startsWith('127.')) || isLocalhost(host)
}
