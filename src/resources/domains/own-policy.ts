/**
 * The MTA-STS policy of the provider host (RFC 8461 §3.2): what senders to it are told of its mail servers.
 */
import { hash } from 'node:crypto'
import type { DnsRecord } from '../../protocols/dns/wire.ts'

export interface OwnPolicy {
  /** Content of the policy file. */
  text: string
  /** Another text has another id (RFC 8461 §3.1). */
  id: string
}

/** A week: after that a policy that was withdrawn is forgotten. */
const MAX_AGE_SECONDS = 604_800
const ID_CHARACTERS = 20

/** @param records of the provider zone @returns undefined where nobody is to send there */
export function ownPolicy(
  mailHost: string,
  mode: 'enforce' | 'testing',
  records: readonly DnsRecord[],
): OwnPolicy | undefined {
  const hosts = records.flatMap(record =>
    record.type === 'MX' && record.name === mailHost && record.exchange !== '' ? [record.exchange] : [],
  )
  if (hosts.length === 0) return undefined
  const lines = ['version: STSv1', `mode: ${mode}`, ...hosts.map(host => `mx: ${host}`)]
  const text = [...lines, `max_age: ${MAX_AGE_SECONDS}`, ''].join('\r\n')
  return { text, id: hash('sha256', text, 'hex').slice(0, ID_CHARACTERS) }
}
