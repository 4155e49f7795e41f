/**
 * The provider zone for operators: every record that is served, or is to be copied to where the zone is
 * hosted.
 */

import * as z from 'zod'
import { recordData, recordLine } from '../../../protocols/dns/record-text.ts'
import type { DnsRecord } from '../../../protocols/dns/wire.ts'
import { requireOperator } from '../auth/operator.ts'
import { listReply, type Route } from '../route/route.ts'
import { pageQuery, readPage } from '../schema/read.ts'
import { listSchema } from '../schema/reply-schemas.ts'

const zoneRecordSchema = z
  .object({
    object: z.literal('dns_record'),
    name: z.string(),
    type: z.string(),
    ttl: z.int(),
    value: z.string().meta({ description: 'Record data in zone file syntax.' }),
    line: z.string().meta({ description: 'Whole record in zone file syntax.' }),
  })
  .meta({ id: 'ZoneRecord' })

interface ZonePage {
  total: number
  rows: DnsRecord[]
}

interface ZoneRecordRoutesOptions {
  listZone(page: { limit: number; offset: number }): Promise<ZonePage>
}

export function zoneRecordRoutes({ listZone }: ZoneRecordRoutesOptions): Route[] {
  return [
    {
      method: 'GET',
      path: '/dns/records',
      access: 'session',
      summary: 'List the records of the provider zone, the DKIM keys of domains last (operator)',
      query: pageQuery(),
      replies: { 200: listSchema(zoneRecordSchema) },
      async handle(request) {
        requireOperator(request)
        const page = readPage(request.query)
        const { total, rows } = await listZone(page)
        return listReply({ total, offset: page.offset }, rows.map(zoneRecordView))
      },
    },
  ]
}

function zoneRecordView(record: DnsRecord): z.output<typeof zoneRecordSchema> {
  return {
    object: 'dns_record',
    name: record.name,
    type: record.type,
    ttl: record.ttlSeconds,
    value: recordData(record),
    line: recordLine(record),
  }
}
