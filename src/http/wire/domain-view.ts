/** A domain as the API shows it, with the state of each of its records. */
import { type DnsRecord, dnsRecordsOf } from '../../domains/dns-records.ts'
import type { Check, DomainChecks } from '../../domains/verify.ts'
import { wireId } from '../../lib/ids.ts'
import type { DomainWithKeys } from '../../store/domains.ts'
import { timestamp } from './timestamp.ts'

const TTL = 'Auto'

export function domainView(domain: DomainWithKeys, mailHost: string) {
  const checks = domain.checks === null ? null : (JSON.parse(domain.checks) as DomainChecks)
  return {
    object: 'domain',
    id: wireId('dom', domain.id),
    name: domain.name,
    status: domain.status,
    region: domain.region,
    records: dnsRecordsOf(domain, mailHost).map(record => ({
      ...record,
      name: record.host,
      ttl: TTL,
      status: recordStatus(record, checks),
    })),
    open_tracking: domain.openTracking === 1,
    click_tracking: domain.clickTracking === 1,
    receiving: { enabled: domain.receiving === 1, record: receivingRecord(domain, mailHost) },
    created_at: timestamp(domain.createdAt),
    verified_at: timestamp(domain.verifiedAt),
    last_checked_at: timestamp(domain.lastCheckedAt),
  }
}

function recordStatus(
  { record, host }: DnsRecord,
  checks: DomainChecks | null,
): Check['status'] | 'not_started' {
  if (!checks) return 'not_started'
  switch (record) {
    case 'Verification':
      return checks.ownership.status
    case 'SPF':
      return checks.spf.status
    case 'MX':
      return checks.mx.status
    default:
      return checks.dkim.selectors.find(selector => selector.host === host)?.status ?? 'not_started'
  }
}

/** What brings the domain's own mail here. */
function receivingRecord({ name }: DomainWithKeys, mailHost: string) {
  return { type: 'MX', host: name, value: mailHost, priority: 10 }
}
