/** Builds the request body of a webhook delivery. */
import { payloadFor, type SdkDialect } from '../../resources/compat/typed-clients.ts'
import { dnsRecordsOf } from '../../resources/domains/dns-records.ts'
import type { RecordStatus } from '../../resources/domains/record-status.ts'

/** `data` of a stored domain event. */
interface EventDomain {
  name: string
  region: string
  verification_token: string
  selectors: { slot: number; token: string }[]
  record_statuses: RecordStatus[]
  /** Absent in events of older versions, which could not disable it. */
  sending?: boolean
  receiving: boolean
}

interface StoredEvent {
  eventType: string
  body: string
}

/**
 * Returns the stored body. In a domain event, the DNS records replace the values that they are derived from,
 * as in the API's domain object.
 * @param mailHost is the host that the DNS records point to
 * @param dialect of the webhook
 */
export function bodyOf(
  { eventType, body }: StoredEvent,
  mailHost: string,
  dialect: SdkDialect | null,
): string {
  const isOfDomain = eventType.startsWith('domain.')
  if (!isOfDomain && dialect === null) return body
  const event = JSON.parse(body) as { data: EventDomain }
  return JSON.stringify(payloadFor(dialect, isOfDomain ? withRecords(event, mailHost) : event))
}

function withRecords(event: { data: EventDomain }, mailHost: string) {
  const {
    verification_token: verificationToken,
    selectors: keys,
    record_statuses,
    sending = true,
    ...rest
  } = event.data
  const records = dnsRecordsOf({ ...rest, verificationToken, keys }, mailHost)
  const domain = {
    ...rest,
    records: records.map((record, i) => ({
      ...record,
      name: record.host,
      ttl: 'Auto',
      status: record_statuses[i],
    })),
    capabilities: { sending: wordFor(sending), receiving: wordFor(rest.receiving) },
    receiving: { enabled: rest.receiving },
  }
  return { ...event, data: domain }
}

function wordFor(isEnabled: boolean): 'enabled' | 'disabled' {
  return isEnabled ? 'enabled' : 'disabled'
}
