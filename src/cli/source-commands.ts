/** `posthorn source …`: the addresses that mail is sent from. */
import type { CliCommand } from './command.ts'
import { printable } from './result.ts'

export interface CheckedSource {
  address: string
  /** With which we greet from there. */
  name: string
  /** What receivers would find wrong. */
  faults: readonly string[]
}

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
]

function sourcesText(sources: readonly CheckedSource[]): string {
  if (sources.length === 0) return 'The system chooses the address: delivery.source_ips names none.'
  return sources
    .flatMap(({ address, name, faults }) => [
      `${address} ${name}: ${faults.length === 0 ? 'good' : 'not good'}`,
      ...faults.map(fault => `  ${printable(fault)}`),
    ])
    .join('\n')
}
