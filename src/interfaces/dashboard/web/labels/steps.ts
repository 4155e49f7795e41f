/** The first steps, which are checked off automatically. */
import type { ApiKey, Domain, List, Metrics } from '../api/types.ts'

export interface Progress {
  tested: boolean
  domain: Domain | undefined
  verified: boolean
  key: boolean
  sent: boolean
}

interface Seen {
  domains: List<Domain> | undefined
  keys: List<ApiKey> | undefined
  /** Total number of delivered emails, and of those delivered by the simulator. */
  metrics: Metrics | undefined
}

/** Returns undefined until everything is loaded. */
export function progressOf({ domains, keys, metrics }: Seen): Progress | undefined {
  if (!domains || !keys || !metrics) return undefined
  const { delivered = 0, simulated_delivered: simulated = 0 } = metrics.totals
  const verified = domains.data.find(({ status }) => status === 'verified')
  return {
    tested: delivered > 0,
    domain: verified ?? domains.data[0],
    verified: verified !== undefined,
    key: keys.data.some(({ last_used_at }) => last_used_at !== null),
    sent: delivered > simulated,
  }
}

export const STEPS: readonly (readonly [keyof Progress, string])[] = [
  ['tested', 'Send a test email to the simulator'],
  ['verified', 'Verify a domain'],
  ['key', 'Send with an API key'],
  ['sent', 'Deliver your first real email'],
]
