/**
 * Lists the DNS records that a customer creates once for a domain. They are aliases wherever values change
 * later.
 */
import { feedbackHost } from '../../protocols/dns/provider-zone.ts'
import { type LinkPlace, type TrackedDomain, trackingHostOf } from './checks/tracking-host.ts'
import type { DkimKeyFacts } from './domain-rows.ts'

export interface DomainDnsRecord {
  record: 'Verification' | 'DKIM 1' | 'DKIM 2' | 'DKIM 3' | 'SPF' | 'MX' | 'Tracking'
  type: 'TXT' | 'CNAME' | 'MX'
  host: string
  value: string
  /** Preference of an MX record. */
  priority?: number
}

export const MX_PREFERENCE = 10
/** Subdomain of the return paths of every domain. */
export const RETURN_PATH_LABEL = 'send'

interface RecordsSource {
  name: string
  region: string
  verificationToken: string
  keys: readonly Pick<DkimKeyFacts, 'slot' | 'token'>[]
}

/**
 * Returns the six records that every domain needs, in the order of the API contract.
 * @param mailHost provider host
 */
export function dnsRecordsOf(domain: RecordsSource, mailHost: string): DomainDnsRecord[] {
  const { name, region, verificationToken, keys } = domain
  return [
    { record: 'Verification', type: 'TXT', host: `_svc.${name}`, value: `svc-verify=${verificationToken}` },
    ...keys.map(({ slot, token }) => ({
      record: `DKIM ${slot}` as DomainDnsRecord['record'],
      type: 'CNAME' as const,
      host: `${token}._domainkey.${name}`,
      value: `${token}.dkim.${mailHost}`,
    })),
    {
      record: 'SPF',
      type: 'TXT',
      host: `${RETURN_PATH_LABEL}.${name}`,
      value: `v=spf1 include:${mailHost} ~all`,
    },
    {
      record: 'MX',
      type: 'MX',
      host: `${RETURN_PATH_LABEL}.${name}`,
      value: feedbackHost(region, mailHost),
      priority: MX_PREFERENCE,
    },
  ]
}

/** Returns the six records, and that of the tracking host if there is one. */
export function allRecordsOf(
  domain: RecordsSource & TrackedDomain,
  mailHost: string,
  place: LinkPlace,
): DomainDnsRecord[] {
  const tracking = trackingHostOf(domain, place)
  const records = dnsRecordsOf(domain, mailHost)
  if (!tracking) return records
  return [...records, { record: 'Tracking', type: 'CNAME', host: tracking.host, value: place.target }]
}
