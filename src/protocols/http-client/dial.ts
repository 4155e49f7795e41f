/**
 * Connects to checked addresses of a host only. The address that was looked up and checked is the one that is
 * dialled, which excludes DNS rebinding.
 */
import { lookup } from 'node:dns/promises'
import { isIP, connect as openSocket, type Socket } from 'node:net'
import { createSecureContext, connect as openTls, type SecureContext } from 'node:tls'
import type { Clock } from '../../lib/clock.ts'
import { isGlobalUnicast, isLoopback } from '../dns/address-safety.ts'
import type { Answer } from '../dns/answer.ts'
import type { Resolver } from '../dns/resolver.ts'
import { OutboundFault } from './fault.ts'

interface DialTarget {
  host: string
  port: number
  isSecure: boolean
  /** Allows loopback addresses, too. */
  mayBeLoopback: boolean
}

/** @throws OutboundFault */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Socket>

interface DialOptions {
  resolver: Pick<Resolver, 'addresses4' | 'addresses6'>
  clock: Clock
  /** Trusted authorities in PEM, in place of those of the runtime. */
  authorities?: string[] | undefined
  /** Allows every address, for hosts that the operator has configured. */
  allowPrivate?: boolean | undefined
}

const ADDRESSES_MAX = 4
const CONNECT_LIMIT_MS = 5_000

export function createDial({ resolver, clock, authorities, allowPrivate = false }: DialOptions): Dial {
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(authorities && { ca: authorities }),
  })
  return async (target, signal) => {
    const addresses = await checkedAddresses(resolver, target, allowPrivate)
    signal.throwIfAborted()
    const socket = await connectToFirst(addresses, target.port, clock, signal)
    return target.isSecure ? secured(socket, target.host, secureContext, signal) : socket
  }
}

/** IPv4 addresses come first, since a broken IPv6 route usually costs a timeout. */
async function checkedAddresses(
  resolver: DialOptions['resolver'],
  { host, mayBeLoopback }: DialTarget,
  allowPrivate: boolean,
): Promise<string[]> {
  const isAllowed = (address: string) =>
    allowPrivate || isGlobalUnicast(address) || (mayBeLoopback && isLoopback(address))
  if (isIP(host) !== 0) {
    if (isAllowed(host)) return [host]
    throw new OutboundFault('forbidden', 'the address is not a public one')
  }
  if (allowPrivate && !host.includes('.')) return localAddresses(host)
  const answers = await Promise.all([resolver.addresses4(host), resolver.addresses6(host)])
  const allowed = answers.flatMap(recordsOf).filter(isAllowed)
  if (allowed.length > 0) return allowed.slice(0, ADDRESSES_MAX)
  if (answers.some(({ kind }) => kind === 'failure') && answers.every(({ kind }) => kind !== 'found'))
    throw new OutboundFault('unreachable', 'the address of the host cannot be looked up')
  throw new OutboundFault('forbidden', `${host} does not resolve to a public address`)
}

/**
 * Looks up a host name of one label as other programs of this machine do, by its hosts file and search list,
 * because such names need not be in the DNS.
 */
async function localAddresses(host: string): Promise<string[]> {
  try {
    const found = await lookup(host, { all: true, order: 'ipv4first' })
    return found.slice(0, ADDRESSES_MAX).map(({ address }) => address)
  } catch (error) {
    throw new OutboundFault('unreachable', `the host cannot be looked up (${(error as Error).message})`)
  }
}

function recordsOf(answer: Answer<string>): readonly string[] {
  return answer.kind === 'found' ? answer.records : []
}

async function connectToFirst(
  addresses: readonly string[],
  port: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Socket> {
  let last: unknown
  for (const address of addresses) {
    try {
      return await opened(openSocket({ host: address, port, noDelay: true }), 'connect', signal, clock)
    } catch (error) {
      signal.throwIfAborted()
      last = error
    }
  }
  throw last
}

/** The certificate is verified against the host name, or against the address if the URL has one. */
function secured(
  socket: Socket,
  host: string,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<Socket> {
  const tls = openTls({
    socket,
    host,
    ...(isIP(host) === 0 && { servername: host }),
    secureContext,
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  })
  return opened(tls, 'secureConnect', signal).catch(error => {
    signal.throwIfAborted()
    throw new OutboundFault('unreachable', `TLS failed (${error.code ?? error.message})`)
  })
}

function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
  clock?: Clock,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void) => {
      timer?.cancel()
      signal.removeEventListener('abort', onAbort)
      socket.off(event, onOpen).off('error', onError).off('close', onClose)
      end()
    }
    const fail = (error: unknown) =>
      settle(() => {
        socket.on('error', () => {}) // Later errors of an abandoned socket are ignored.
        socket.destroy()
        reject(error)
      })
    const onOpen = () => settle(() => resolve(socket))
    const onError = (error: Error) => fail(error)
    const onClose = () => fail(new OutboundFault('unreachable', 'the host closed the connection'))
    const onAbort = () => fail(signal.reason)
    const timer = clock?.timer(CONNECT_LIMIT_MS, () =>
      fail(new OutboundFault('unreachable', 'the host does not answer')),
    )
    socket.on(event, onOpen).on('error', onError).on('close', onClose)
    signal.addEventListener('abort', onAbort)
  })
}
