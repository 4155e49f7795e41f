/** Checks forward-confirmed reverse DNS of a source address: PTR record and the addresses of its name. */
import ipaddr from 'ipaddr.js'
import type { Resolver } from './resolver.ts'

/** @returns the name at which an address has its PTR records (RFC 1035 §3.5, RFC 3596 §2.5) */
export function reverseName(address: string): string {
  const parsed = ipaddr.parse(address)
  if (parsed.kind() === 'ipv4') return `${parsed.toByteArray().reverse().join('.')}.in-addr.arpa`
  const nibbles = Buffer.from(parsed.toByteArray()).toString('hex')
  return `${[...nibbles].reverse().join('.')}.ip6.arpa`
}

/**
 * @param ehlo the EHLO name that is used from the address
 * @returns faults in the form of clauses for people; none if the name of the address resolves to the address,
 * and the EHLO name does, too
 */
export async function nameFaults(
  resolver: Pick<Resolver, 'ptr' | 'addresses4' | 'addresses6'>,
  address: string,
  ehlo: string,
): Promise<string[]> {
  const [names, greeting] = await Promise.all([
    resolver.ptr(reverseName(address)),
    leadsTo(resolver, ehlo, address),
  ])
  const faults: string[] = []
  if (names.kind === 'failure')
    faults.push(`the PTR record of ${address} could not be looked up: ${names.reason}`)
  else if (names.kind !== 'found') faults.push(`${address} has no PTR record`)
  else {
    const back = await Promise.all(names.records.map(name => leadsTo(resolver, name, address)))
    if (!back.includes(true))
      faults.push(
        `the PTR record of ${address} names ${names.records.join(', ')}, which does not resolve to it`,
      )
  }
  if (!greeting) faults.push(`the EHLO name ${ehlo} does not resolve to ${address}`)
  return faults
}

async function leadsTo(
  { addresses4, addresses6 }: Pick<Resolver, 'addresses4' | 'addresses6'>,
  name: string,
  address: string,
): Promise<boolean> {
  const wanted = reverseName(address)
  const answer = await (wanted.endsWith('.ip6.arpa') ? addresses6 : addresses4)(name)
  return answer.kind === 'found' && answer.records.some(found => reverseName(found) === wanted)
}
