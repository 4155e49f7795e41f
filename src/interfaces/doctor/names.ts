/** Checks forward-confirmed reverse DNS of the sending addresses, and that the EHLO name resolves to them. */
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { nameFaults } from '../../protocols/dns/reverse.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'

export interface SendingAddress {
  address: string
  /** EHLO name used from this address. */
  ehlo: string
}

interface NamesOptions {
  resolver: Pick<Resolver, 'ptr' | 'addresses4' | 'addresses6'>
  addresses: readonly SendingAddress[]
}

const CHECK = 'reverse_name'
const ADVICE =
  'Ask your hosting provider to set the PTR (reverse DNS) record of the address to the EHLO name, and add an A or AAAA record with the address to that name.'

export function reverseNames({ resolver, addresses }: NamesOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      if (addresses.length === 0)
        return [
          bad(
            'warning',
            CHECK,
            null,
            'The public sending addresses are not known.',
            'No network interface has a public address. List your public addresses in dns.addresses.',
          ),
        ]
      return Promise.all(
        addresses.map(async ({ address, ehlo }) => {
          const faults = await nameFaults(resolver, address, ehlo)
          if (faults.length === 0)
            return good(CHECK, address, `The PTR record is valid, and ${ehlo} resolves to the address.`)
          const message = sentenceOf(faults)
          const isLost = faults.some(fault => fault.includes('could not be looked up'))
          return isLost
            ? unknownFinding(CHECK, address, message)
            : bad('failed', CHECK, address, message, ADVICE)
        }),
      )
    },
  }
}

function sentenceOf(clauses: readonly string[]): string {
  const text = clauses.join('; ')
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}
