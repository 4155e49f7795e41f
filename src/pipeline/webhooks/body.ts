/** The body of a delivery as it is sent. */
import { dnsRecordsOf } from '../../resources/domains/dns-records.ts'
import type { RecordStatus } from '../../resources/domains/record-status.ts'

/** As an event of a domain tells of it. */
interface ToldDomain {
  name: string
  region: string
  verification_token: string
  selectors: { slot: number; token: string }[]
  record_statuses: RecordStatus[]
  receiving: boolean
}

/**
 * What was queued; of a domain, its records in place of what they are made of, as its object in the API has
 * them.
 * @param mailHost the provider host, to which the records of domains point
 */
export function bodyOf({ eventType, body }: { eventType: string; body: string }, mailHost: string): string {
  if (!eventType.startsWith('domain.')) return body
  const event = JSON.parse(body) as { data: ToldDomain }
  const { verification_token: verificationToken, selectors: keys, record_statuses, ...told } = event.data
  const records = dnsRecordsOf({ ...told, verificationToken, keys }, mailHost)
  const domain = {
    ...told,
    records: records.map((record, i) => ({
      ...{ ...record, name: record.host, ttl: 'Auto', status: record_statuses[i] },
    })),
    receiving: { enabled: told.receiving },
  }
  return JSON.stringify({ ...event, data: domain })
}
