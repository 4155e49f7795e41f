/** `mailhorn dns …`: prints the provider zone for hosting it elsewhere. */
import { recordData, recordLine } from '../../protocols/dns/record-text.ts'
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import { listZone } from '../../resources/domains/zone-list.ts'
import { publishedPolicy } from '../../store/settings.ts'
import type { CliCommand } from './command.ts'

const PAGE = 1_000

export const zoneCommands: CliCommand[] = [
  {
    name: 'dns records',
    usage: '',
    summary: 'Print the provider zone as a zone file, including the DKIM keys of all domains',
    details: `  If the zone is hosted elsewhere, publish this output, and again whenever domains are added or keys rotate:
  a key is used only once its record is visible.`,
    async run({ zoneRecords, open }) {
      zoneRecords() // reports configuration errors before the database is opened
      const { db } = await open()
      const { mailHost, records } = zoneRecords(await publishedPolicy(db))
      const all: DnsRecord[] = []
      for (let total = 1; all.length < total; ) {
        const page = await listZone(db, records, mailHost, { limit: PAGE, offset: all.length })
        all.push(...page.rows)
        total = page.rows.length === 0 ? 0 : page.total
      }
      return { json: { zone: mailHost, records: all.map(recordJson) }, text: all.map(recordLine).join('\n') }
    },
  },
]

function recordJson(record: DnsRecord) {
  const { name, type, ttlSeconds } = record
  return { name, type, ttl: ttlSeconds, value: recordData(record) }
}
