/** `mailhorn source …`: the addresses that mail is sent from. */
import { reportSources, type SourceEntry } from '../../pipeline/delivery/shaping/source-report.ts'
import type { CheckedSource, CliCommand } from './command.ts'
import { isoTime, printable, table } from './result.ts'

const NO_SOURCES = 'The system chooses the address: delivery.source_ips names none.'

export const sourceCommands: CliCommand[] = [
  {
    name: 'source show',
    usage: '',
    summary: 'Looks up the names of the addresses that mail is sent from, as receivers do',
    details:
      '  An address should have a name (PTR) that leads back to it, and so should the name we greet with (EHLO).',
    async run({ checkSources }) {
      const sources = await checkSources()
      return { json: sources, text: sourcesText(sources) }
    },
  },
  {
    name: 'source warmup',
    usage: '',
    summary: 'Shows how far the addresses are warmed up, what they sent today (UTC), and where they rest',
    details: '  An address that is new to receivers sends no more than its CAP a day to each provider.',
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
  return table(['ADDRESS', 'DAY', 'CAP', 'SENT TODAY', 'RESTS AT'], rows)
}

function sourcesText(sources: readonly CheckedSource[]): string {
  if (sources.length === 0) return NO_SOURCES
  return sources
    .flatMap(({ address, name, faults }) => [
      `${address} ${name}: ${faults.length === 0 ? 'good' : 'not good'}`,
      ...faults.map(fault => `  ${printable(fault)}`),
    ])
    .join('\n')
}
