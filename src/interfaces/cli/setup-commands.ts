/**
 * `mailhorn doctor`, `source …`, `dns records` and `domains rotate`: check the installation, and show and
 * renew what its DNS needs.
 */
import { reportSources, type SourceEntry } from '../../pipeline/delivery/shaping/source-report.ts'
import { recordData, recordLine } from '../../protocols/dns/record-text.ts'
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import { listZone } from '../../resources/domains/zone-list.ts'
import type { Db } from '../../store/model/schema.ts'
import { findZoneSerial, publishedPolicy } from '../../store/reading/settings.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { DoctorReport } from '../doctor/finding.ts'
import { type CheckedSource, type CliCommand, type CommandInput, textOf } from './command.ts'
import type { OperationOutput } from './control/operation.ts'
import { CommandError, printable, table } from './control/result.ts'
import type { senderOperations } from './control/sender-operations.ts'
import { failuresText, reportText } from './report-text.ts'

const NO_SOURCES = 'delivery.source_ips is not set: the operating system chooses the source address.'
const RECORDS_PER_PAGE = 1_000
export const CHECK_INTERVAL_MS = 10_000

export const setupCommands: CliCommand[] = [
  {
    name: 'doctor show',
    usage: '[--wait]',
    summary: 'Check port 25, reverse DNS, DNS zone, blocklists, certificate, clock and disk',
    details: `  --wait  Repeat the checks every 10 seconds until none fails, and print what still fails.
  Exits with code 1 if a check failed. Takes up to 20 seconds.`,
    options: { wait: { type: 'boolean' } },
    async run(input) {
      const db = await databaseOf(input)
      const report = input.values.wait === true ? await waitForChecks(input, db) : await examined(input, db)
      return { json: report, text: reportText(report), isBad: report.status === 'failed' }
    },
  },
  {
    name: 'source show',
    usage: '',
    summary: 'Check reverse DNS and EHLO names of the source addresses',
    details:
      '  The PTR record of an address must name a host that resolves to it, and so must the EHLO name.',
    async run({ checkSources }) {
      const sources = await checkSources()
      return { json: sources, text: sourcesText(sources) }
    },
  },
  {
    name: 'source warmup',
    usage: '',
    summary: 'Show warm-up progress, deliveries of today (UTC) and paused destinations per source address',
    details: '  An address in warm-up sends at most CAP messages per day to each provider.',
    async run({ open, sourceSettings }) {
      const settings = sourceSettings()
      const { db, clock } = await open()
      const entries = await reportSources({ ...settings, db }, clock.now())
      return { json: entries.map(warmupJson), text: warmupText(entries) }
    },
  },
  {
    name: 'domains add',
    usage: '<name> [--account <id>]',
    summary: 'Add the domain of your sender addresses, and print its DNS records',
    details: `  Prints the records of a domain that was added before, too. The service looks for the records, and so does
  \`mailhorn email test --wait\`.
  --account <id>  The account; required if there are several.`,
    options: { account: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ values: { account }, positionals, open }) {
      const domain = await (await open()).change('domain.add', {
        name: positionals[0]!,
        account_id: textOf(account),
      })
      return { json: domain, text: domainText(domain) }
    },
  },
  {
    name: 'domains rotate',
    usage: '<name> [--account <id>]',
    summary: 'Rotate the DKIM key of a domain',
    details: `  The next key becomes active once it has been published for 48 hours and its record is visible.
  The previous key stays published for a week.
  --account <id>  The account; required if several accounts have registered the domain.`,
    options: { account: { type: 'string' } },
    positionals: { min: 1, max: 1 },
    async run({ values: { account }, positionals, open }) {
      const rotation = await (await open()).change('domain.rotate_keys', {
        name: positionals[0]!,
        account_id: textOf(account),
      })
      return { json: rotation, text: `Key rotation of ${rotation.name} was requested.` }
    },
  },
  {
    name: 'dns records',
    usage: '',
    summary: 'Print the provider zone as a zone file, including the DKIM keys of all domains',
    details: `  If the zone is hosted elsewhere, publish this output, and again whenever domains are added or keys rotate:
  a key is used only once its record is visible.`,
    async run({ zoneRecords, open }) {
      zoneRecords() // reports configuration errors before the database is opened
      const { db } = await open()
      const { mailHost, records } = zoneRecords(await findZoneSerial(db), await publishedPolicy(db))
      const all: DnsRecord[] = []
      for (let total = 1; all.length < total; ) {
        const page = await listZone(db, records, mailHost, { limit: RECORDS_PER_PAGE, offset: all.length })
        all.push(...page.rows)
        total = page.rows.length === 0 ? 0 : page.total
      }
      return { json: { zone: mailHost, records: all.map(recordJson) }, text: all.map(recordLine).join('\n') }
    },
  },
]

/** Repeats the checks until none fails; says what fails whenever that changes. */
export async function waitForChecks(input: CommandInput, db: Db | null): Promise<DoctorReport> {
  let report = await examined(input, db)
  for (let last = ''; report.status === 'failed'; report = await examined(input, db)) {
    const text = failuresText(report)
    if (text !== last) input.say(text)
    last = text
    await input.pause(CHECK_INTERVAL_MS)
  }
  return report
}

function examined({ examine, values }: CommandInput, db: Db | null): Promise<DoctorReport> {
  return examine(db, textOf(values['data-dir']) ?? undefined)
}

/** Null if there is no database, as before the first start. */
async function databaseOf({ open }: CommandInput) {
  try {
    return (await open()).db
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return null
  }
}

function warmupJson({ address, warmup, rests }: SourceEntry) {
  return {
    source_ip: address,
    warmup: warmup && { day: warmup.number, cap: warmup.cap, sent: warmup.sent },
    rests: rests.map(({ destination, until, reason }) => ({ destination, until: timestamp(until), reason })),
  }
}

function warmupText(entries: readonly SourceEntry[]): string {
  if (entries.length === 0) return NO_SOURCES
  const rows = entries.map(({ address, warmup, rests }) => [
    address,
    warmup ? String(warmup.number) : 'warm',
    warmup ? String(warmup.cap) : '',
    warmup?.sent.map(({ provider, count }) => `${provider} ${count}`).join(', ') ?? '',
    rests.length,
  ])
  return table(['ADDRESS', 'DAY', 'CAP', 'SENT TODAY', 'PAUSED DESTINATIONS'], rows)
}

function sourcesText(sources: readonly CheckedSource[]): string {
  if (sources.length === 0) return NO_SOURCES
  return sources
    .flatMap(({ address, name, faults }) => [
      `${address} ${name}: ${faults.length === 0 ? 'ok' : 'failed'}`,
      ...faults.map(fault => `  ${printable(fault)}`),
    ])
    .join('\n')
}

type AddedDomain = OperationOutput<(typeof senderOperations)['domain.add']>

/** The records as lines of a zone file. The DMARC policy is no condition of a verification. */
function domainText({ name, records, status }: AddedDomain): string {
  const lines = records.map(({ type, host, value, priority }) => {
    const data = type === 'TXT' ? `"${value}"` : `${value}.`
    return `${host}.  ${type}  ${priority === undefined ? '' : `${priority} `}${data}`
  })
  return [
    `${name} is ${status === 'pending' ? 'not verified yet' : status.replace('_', ' ')}. Its DNS records:`,
    ['', ...lines, `_dmarc.${name}.  TXT  "v=DMARC1; p=none"`].join('\n'),
    '\nLeave the record at _dmarc as it is if there is one already.',
  ].join('\n')
}

function recordJson(record: DnsRecord) {
  const { name, type, ttlSeconds } = record
  return { name, type, ttl: ttlSeconds, value: recordData(record) }
}
