/** Records of the provider zone as the API shows them. */
import * as z from 'zod'
import { recordData, recordLine } from '../../../protocols/dns/record-text.ts'
import type { DnsRecord } from '../../../protocols/dns/wire.ts'

export const zoneRecordSchema = z
  .object({
    object: z.literal('dns_record'),
    name: z.string(),
    type: z.string(),
    ttl: z.int(),
    value: z.string().meta({ description: 'The data, as in a zone file.' }),
    line: z.string().meta({ description: 'The whole record, as in a zone file.' }),
  })
  .meta({ id: 'ZoneRecord' })

export function zoneRecordView(record: DnsRecord): z.output<typeof zoneRecordSchema> {
  return {
    object: 'dns_record',
    name: record.name,
    type: record.type,
    ttl: record.ttlSeconds,
    value: recordData(record),
    line: recordLine(record),
  }
}
