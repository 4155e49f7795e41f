/**
 * The one client for HTTP requests to addresses that strangers choose: files named by a URL, webhooks,
 * policies. It reaches the public internet alone, at the address that was checked, follows no redirect, and
 * bounds the time and the size of every reply.
 */
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import type { Clock } from '../../lib/clock.ts'
import type { Resolver } from '../dns/resolver.ts'
import { createDial, type Dial } from './dial.ts'
import {
  type DialledOptions,
  exchange,
  type OutboundReply,
  type OutboundRequest,
  StaleConnection,
} from './exchange.ts'
import { httpFaultOf, OutboundFault } from './fault.ts'
import { readTarget, type Target } from './target.ts'

export interface Outbound {
  /** Any status is a reply. Never rejects for what the other side does. */
  send(request: OutboundRequest): Promise<OutboundReply | OutboundFault>
  close(): void
}

export interface OutboundOptions {
  resolver: Pick<Resolver, 'addresses4' | 'addresses6'>
  clock: Clock
  /** Lets it reach this host itself, for tests. */
  allowLoopback?: boolean
  /** Lets it reach `http://127.0.0.1` and `http://[::1]`, for tests. */
  allowInsecureLoopback?: boolean
  /** Keeps connections for the next request to the same host. */
  keepAlive?: boolean
  /** PEM of the authorities to trust, in place of the runtime's. */
  authorities?: string[]
  /** Lets it reach any address: for hosts that the operator has named. */
  allowPrivate?: boolean
}

const ATTEMPTS_MAX = 3
const KEPT_IDLE_MS = 15_000

export function createOutbound(options: OutboundOptions): Outbound {
  const { clock, allowLoopback = false, allowInsecureLoopback = false, keepAlive = false } = options
  const dial = createDial(options)
  const kept = keepAlive ? { keepAlive, timeout: KEPT_IDLE_MS } : { keepAlive }
  const secureAgent = dialling(new SecureAgent(kept), dial, { isSecure: true, mayBeLoopback: allowLoopback })
  const plainAgent = dialling(new Agent(kept), dial, { isSecure: false, mayBeLoopback: true })

  /**
   * Of the requests under way: signals made of several stay in memory as long as one that never ends is among
   * them.
   */
  const limits = new Set<AbortController>()
  let isClosed = false

  /**
   * A kept connection may have been closed meanwhile; then the request has not been read, and is made again.
   */
  const exchanged = async (target: Target, wanted: OutboundRequest, signal: AbortSignal) => {
    const agent = target.isSecure ? secureAgent : plainAgent
    for (let attempt = 1; ; attempt++) {
      try {
        return await exchange(target, agent, wanted, signal)
      } catch (error) {
        if (!(error instanceof StaleConnection) || attempt === ATTEMPTS_MAX) throw error
      }
    }
  }

  return {
    async send(wanted) {
      const target = readTarget(wanted.url, { allowInsecureLoopback })
      if ('fault' in target) return new OutboundFault('forbidden', `the URL ${target.fault}`)
      if (isClosed) return closedFault()
      const limit = new AbortController()
      limits.add(limit)
      const timer = clock.timer(wanted.limitMs, () =>
        limit.abort(new OutboundFault('timeout', 'the host did not answer in time')),
      )
      try {
        return await exchanged(target, wanted, limit.signal)
      } catch (error) {
        return httpFaultOf(error)
      } finally {
        timer.cancel()
        limits.delete(limit)
      }
    },
    close() {
      isClosed = true
      for (const limit of limits) limit.abort(closedFault())
      secureAgent.destroy()
      plainAgent.destroy()
    },
  }
}

function closedFault(): OutboundFault {
  return new OutboundFault('broken', 'the client is closed')
}

/** An agent whose every new connection is dialled by us. */
function dialling<A extends Agent>(
  agent: A,
  dial: Dial,
  facts: { isSecure: boolean; mayBeLoopback: boolean },
): A {
  agent.createConnection = (options, onCreate) => {
    const { host, port, until } = options as DialledOptions
    dial({ host, port, ...facts }, until).then(
      socket => onCreate?.(null, socket),
      error => onCreate?.(error, undefined as never),
    )
    return undefined
  }
  return agent
}
