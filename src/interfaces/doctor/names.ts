/**
 * Whether the addresses we send from have names that lead back to them, and so does the name we greet with.
 */
import type { Resolver } from '../../protocols/dns/resolver.ts'
import { nameFaults } from '../../protocols/dns/reverse.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'

export interface SendingAddress {
  address: string
  /** With which we greet from there. */
  ehlo: string
}

interface NamesOptions {
  resolver: Pick<Resolver, 'ptr' | 'addresses4' | 'addresses6'>
  addresses: readonly SendingAddress[]
}

const CHECK = 'reverse_name'
const ADVICE =
  'Have the provider of the address set its reverse name (PTR) to the EHLO name, and give that name an A or AAAA record with the address.'

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
            'It is not known from which public addresses mail is sent.',
            'This host has none on its interfaces: name them in dns.addresses.',
          ),
        ]
      return Promise.all(
        addresses.map(async ({ address, ehlo }) => {
          const faults = await nameFaults(resolver, address, ehlo)
          if (faults.length === 0)
            return good(CHECK, address, `Its name leads back to it, and so does ${ehlo}.`)
          const message = `${faults.join('; ')}.`
          const isLost = faults.some(fault => fault.includes('is not known'))
          return isLost
            ? unknownFinding(CHECK, address, message)
            : bad('failed', CHECK, address, message, ADVICE)
        }),
      )
    },
  }
}
