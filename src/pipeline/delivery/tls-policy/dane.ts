/**
 * DANE for SMTP (RFC 7672): finds the MX hosts that DNSSEC validates, and the certificates that they must
 * present.
 *
 * In: domains and hosts. Out: validated host names and TLSA records, from the validating resolver. Called by
 * `domain-security.ts` and `host-tls-policy.ts`.
 */

import type { Clock, Timer } from '../../../lib/clock.ts'
import { isLoopback } from '../../../protocols/dns/address-safety.ts'
import { serverOf } from '../../../protocols/dns/query.ts'
import {
  createValidatingClient,
  type SecureAnswer,
  type ValidatingClient,
} from '../../../protocols/dns/validating-client.ts'
import type { TypeName } from '../../../protocols/dns/wire.ts'
import { parseTlsa, type Tlsa } from './tlsa.ts'

type HostTlsa =
  /** DANE does not apply to the host. */
  | { kind: 'none' }
  /**
   * Without records, TLS is required and the certificate is not verified: the host has TLSA records, but none
   * is usable.
   */
  | {
      kind: 'records'
      records: readonly Tlsa[]
      /** Name at which the records were found: the host, or the target of its alias (RFC 7672 §2.2.3). */
      baseDomain: string
    }
  /** The host must not be used now. */
  | { kind: 'failure'; reason: string }

export interface Dane {
  /**
   * MX hosts of the domain whose names DNSSEC validates; empty when DNSSEC does not cover the domain.
   * `failure` says why that is unknown.
   */
  secureHosts(domain: string): Promise<readonly string[] | { failure: string }>
  tlsaOf(host: string): Promise<HostTlsa>
  close(): void
}

interface DaneOptions {
  client: ValidatingClient
  clock: Clock
  /** SMTP port of MX hosts. */
  port: number
  /** A name in a zone that is known to be signed. */
  signedName: string
  /** Called when the resolver starts or stops to validate. */
  onChange(isOn: boolean, reason: string): void
}

interface DaneSettings extends Pick<DaneOptions, 'clock' | 'port' | 'signedName' | 'onChange'> {
  /** Address of the validating resolver; null when DANE is off. */
  validatingResolver: string | null
  /** Whether the resolver is trusted although it is not on this host. */
  trustAd: boolean
}

const TEST_INTERVAL_MS = 5 * 60_000

/** @returns null without a validating resolver, or with one whose answers could be forged on the way */
export function openDane({
  validatingResolver,
  trustAd,
  signedName,
  clock,
  port,
  onChange,
}: DaneSettings): Dane | null {
  if (validatingResolver === null) return null
  if (!trustAd && !isLoopback(serverOf(validatingResolver).host)) {
    onChange(false, 'the validating resolver is not on this host, and dns.trust_ad is not set')
    return null
  }
  const client = createValidatingClient({ server: validatingResolver, clock })
  return createDane({ client, clock, port, signedName: signedName.replace(/\.$/, ''), onChange })
}

/** DANE is off until the resolver validates the signed name, and whenever a later check fails. */
export function createDane({ client, clock, port, signedName, onChange }: DaneOptions): Dane {
  let isOn: boolean | undefined
  let timer: Timer | undefined
  let closed = false

  const test = async () => {
    const answer = await client.ask(signedName, 'SOA', { fresh: true })
    if (closed) return
    const now = answer.kind === 'found' && answer.secure
    if (now !== isOn) onChange(now, reasonOf(answer))
    isOn = now
    timer = clock.timer(TEST_INTERVAL_MS, () => void test())
  }
  const tested = test()

  return {
    async secureHosts(domain) {
      if (isOn === undefined) await tested
      if (!isOn) return []
      const answer = await client.ask(domain, 'MX')
      if (answer.kind === 'failure') return { failure: answer.reason }
      if (!answer.secure) return []
      if (answer.kind === 'none') return [domain]
      return answer.answers.flatMap(record => (record.type === 'MX' ? record.exchange.toLowerCase() : []))
    },
    async tlsaOf(host) {
      const addresses = await Promise.all([client.ask(host, 'A'), client.ask(host, 'AAAA')])
      const failed = addresses.find(answer => answer.kind === 'failure')
      if (failed) return failed
      if (!addresses.every(answer => answer.kind === 'failure' || answer.secure)) return { kind: 'none' }
      for (const name of new Set([expanded(host, addresses), host])) {
        const answer = await client.ask(`_${port}._tcp.${name}`, 'TLSA')
        if (answer.kind === 'failure') return answer
        if (answer.kind === 'found') return answer.secure ? recordsOf(answer, name) : { kind: 'none' }
      }
      return { kind: 'none' }
    },
    close() {
      closed = true
      timer?.cancel()
      client.close()
    },
  }
}

function recordsOf({ answers }: Extract<SecureAnswer, { kind: 'found' }>, baseDomain: string): HostTlsa {
  const type: TypeName = 'TLSA'
  const found = answers.flatMap(record => (record.type === type && 'bytes' in record ? record.bytes : []))
  return { kind: 'records', records: found.flatMap(bytes => parseTlsa(bytes) ?? []), baseDomain }
}

/** Follows the CNAME records of a host (RFC 7672 §2.2.2). */
function expanded(host: string, answers: readonly SecureAnswer[]): string {
  let name = host
  for (const answer of answers)
    if (answer.kind === 'found')
      for (const record of answer.answers)
        if (record.type === 'CNAME' && record.name.toLowerCase() === name) name = record.target.toLowerCase()
  return name
}

function reasonOf(answer: SecureAnswer): string {
  if (answer.kind === 'failure') return answer.reason
  if (answer.kind === 'none') return 'the name that should be signed is not there'
  return answer.secure
    ? 'the resolver vouches for what is signed'
    : 'the resolver does not vouch for what is signed'
}
