/**
 * HTTP client for URLs that users choose: attachments by URL, webhooks, policies. In: a request with limits.
 * Out: a reply of any status, or a fault. The client connects to public addresses only, to the address that
 * was checked, follows no redirect, and limits the time and the size of every reply.
 *
 * Acceptance, webhooks, MTA-STS, TLS reports, certificates and domain checks use it.
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
  /** Any status is a reply. A fault of the host never rejects the promise. */
  send(request: OutboundRequest): Promise<OutboundReply | OutboundFault>
  close(): void
}

export interface OutboundOptions {
  resolver: Pick<Resolver, 'addresses4' | 'addresses6'>
  clock: Clock
  /** Allows loopback addresses, for tests. */
  allowLoopback?: boolean
  /** Allows `http://127.0.0.1` and `http://[::1]`, for tests. */
  allowInsecureLoopback?: boolean
  /** Keeps connections open for further requests to the same host. */
  keepAlive?: boolean
  /** Trusted authorities in PEM, in place of those of the runtime. */
  authorities?: string[] | undefined
  /** Allows every address, and host names of one label, for hosts that the operator has configured. */
  allowPrivate?: boolean
}

const ATTEMPTS_MAX = 3
const KEPT_IDLE_MS = 15_000

export function createOutbound(options: OutboundOptions): Outbound {
  const { clock, allowLoopback = false, allowInsecureLoopback = false, keepAlive = false } = options
  const dial = createDial(options)
  const agentOptions = keepAlive ? { keepAlive, timeout: KEPT_IDLE_MS } : { keepAlive }
  const secureAgent = dialling(new SecureAgent(agentOptions), dial, {
    isSecure: true,
    mayBeLoopback: allowLoopback,
  })
  const plainAgent = dialling(new Agent(agentOptions), dial, { isSecure: false, mayBeLoopback: true })

  /**
   * Abort controllers of the requests in progress. `AbortSignal.any()` with a signal that never aborts would
   * stay in memory.
   */
  const limits = new Set<AbortController>()
  let isClosed = false

  /**
   * A kept-alive connection may have been closed by the host. The host has not read the request then, so it
   * is sent again.
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
      const target = readTarget(wanted.url, {
        allowInsecureLoopback,
        allowOneLabel: options.allowPrivate === true,
      })
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

/** Makes an agent use `dial` for new connections. */
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
