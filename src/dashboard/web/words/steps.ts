/** The first steps, which tick themselves. */
import type { ApiKey, Domain, EmailRow, List } from '../api/types.ts'

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
  delivered: List<EmailRow> | undefined
  simulator: string | undefined
}

/** Undefined until everything has been seen. */
export function progressOf({ domains, keys, delivered, simulator }: Seen): Progress | undefined {
  if (!domains || !keys || !delivered || !simulator) return undefined
  const real = delivered.data.filter(({ to }) => to.some(address => !isAt(address, simulator)))
  const verified = domains.data.find(({ status }) => status === 'verified')
  return {
    tested: delivered.total > 0,
    domain: verified ?? domains.data[0],
    verified: verified !== undefined,
    key: keys.data.some(({ last_used_at }) => last_used_at !== null),
    sent: real.length > 0,
  }
}

export const STEPS: readonly (readonly [keyof Progress, string])[] = [
  ['tested', 'Send a test to the simulator'],
  ['verified', 'Verify a domain of yours'],
  ['key', 'Send from your program'],
  ['sent', 'Deliver a first real mail'],
]

export function isAt(mailbox: string, domain: string): boolean {
  return mailbox.replace(/>$/, '').endsWith(`@${domain}`)
}
