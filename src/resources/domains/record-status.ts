/** Status of each record of a domain by the last check. */
import type { CheckStatus } from './checks/observation.ts'
import type { DomainDnsRecord } from './dns-records.ts'
import type { DomainChecks } from './verify.ts'

export type RecordStatus = CheckStatus | 'not_started'

/** @param checks null before the first check; checks of an older version may lack fields */
export function recordStatus(
  { record, host }: DomainDnsRecord,
  checks: Partial<DomainChecks> | null,
): RecordStatus {
  return foundOf(record, host, checks ?? {}) ?? 'not_started'
}

function foundOf(record: DomainDnsRecord['record'], host: string, checks: Partial<DomainChecks>) {
  switch (record) {
    case 'Verification':
      return checks.ownership?.status
    case 'SPF':
      return checks.spf?.status
    case 'MX':
      return checks.mx?.status
    case 'Tracking':
      return checks.tracking?.host === host ? checks.tracking.status : undefined
    default:
      return checks.dkim?.selectors.find(selector => selector.host === host)?.status
  }
}
