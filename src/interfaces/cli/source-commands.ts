/** `mailhorn source …` shows the source IP addresses of outbound email. */
import { reportSources, type SourceEntry } from '../../pipeline/delivery/shaping/source-report.ts'
import type { CheckedSource, CliCommand } from './command.ts'
import { isoTime, printable, table } from './control/result.ts'

const NO_SOURCES = 'delivery.source_ips is not set: the operating system chooses the source address.'

export const sourceCommands: CliCommand[] = [
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
    summary: 'Show warm-up progress, deliveries of today (UTC) and paused sites per source address',
    details: '  An address in warm-up sends at most CAP messages per day to each provider.',
    async run({ open, sourceSettings }) {
      const settings = sourceSettings()
      const { db, clock } = await open()
      const entries = await reportSources({ ...settings, db }, clock.now())
      return { json: entries.map(warmupJson), text: warmupText(entries) }
    },
  },
]

function warmupJson({ address, warmup, rests }: SourceEntry) {
  return {
    source_ip: address,
    warmup: warmup && { day: warmup.number, cap: warmup.cap, sent: warmup.sent },
    rests: rests.map(({ site, until, reason }) => ({ site, until: isoTime(until), reason })),
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
  return table(['ADDRESS', 'DAY', 'CAP', 'SENT TODAY', 'PAUSED SITES'], rows)
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
