/** MTA-STS policy of the provider host (RFC 8461 §3.2). */
import { hash } from 'node:crypto'
import type { DnsRecord } from '../../protocols/dns/wire.ts'

export const OWN_POLICY_MODES = ['enforce', 'testing'] as const
type OwnPolicyMode = (typeof OWN_POLICY_MODES)[number]

export interface OwnPolicy {
  /** Names of the MX hosts. */
  hosts: readonly string[]
  /** Content of the policy file. */
  text: string
  /** Id of the policy, which changes with its text (RFC 8461 §3.1). */
  id: string
}

/** One week. A withdrawn policy expires after this time. */
const MAX_AGE_SECONDS = 604_800
const ID_CHARACTERS = 20

/**
 * @param records records of the provider zone
 * @returns undefined if the zone has no MX record
 */
export function ownPolicy(
  mailHost: string,
  mode: OwnPolicyMode,
  records: readonly DnsRecord[],
): OwnPolicy | undefined {
  const hosts = records.flatMap(record =>
    record.type === 'MX' && record.name === mailHost && record.exchange !== '' ? [record.exchange] : [],
  )
  if (hosts.length === 0) return undefined
  const lines = ['version: STSv1', `mode: ${mode}`, ...hosts.map(host => `mx: ${host}`)]
  const text = [...lines, `max_age: ${MAX_AGE_SECONDS}`, ''].join('\r\n')
  return { hosts, text, id: hash('sha256', text, 'hex').slice(0, ID_CHARACTERS) }
}
