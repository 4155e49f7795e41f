/** Who opens a pixel or follows a link: a person, as far as can be told, or a machine. */
import type { IncomingHttpHeaders } from 'node:http'
import { KNOWN_VISITORS } from './bot-detection.ts'

export interface Visitor {
  ipAddress: string
  /** As it was said, cut; empty where nothing was. */
  userAgent: string
  /** What a machine is known by; null where a person may be behind it. */
  machine: string | null
  /** A proxy through which a person looks; null where there is none that is known. */
  proxy: string | null
}

const USER_AGENT_LENGTH_MAX = 512
/** Browsers and proxies that fetch what a person may want next say so. */
const PREFETCHING = ['purpose', 'sec-purpose', 'x-purpose', 'x-moz'] as const
const PREFETCH = /prefetch|prerender|preview/i

export function visitorOf(method: string, headers: IncomingHttpHeaders, ipAddress: string): Visitor {
  const userAgent = (headers['user-agent'] ?? '').slice(0, USER_AGENT_LENGTH_MAX)
  const known = KNOWN_VISITORS.find(visitor => visitor.userAgent.test(userAgent))
  return {
    ipAddress,
    userAgent,
    machine: machineOf(method, headers, userAgent) ?? (known?.kind === 'machine' ? known.name : null),
    proxy: known?.kind === 'proxy' ? known.name : null,
  }
}

function machineOf(method: string, headers: IncomingHttpHeaders, userAgent: string): string | undefined {
  if (method === 'HEAD') return 'head-request'
  if (PREFETCHING.some(name => PREFETCH.test(String(headers[name] ?? '')))) return 'prefetch'
  return userAgent === '' ? 'no-user-agent' : undefined
}
