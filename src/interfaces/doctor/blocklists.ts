/** Checks whether the sending IP addresses are on DNS blocklists (RFC 5782). */

import type { Resolver } from '../../protocols/dns/resolver.ts'
import { reverseName } from '../../protocols/dns/reverse.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'

interface BlocklistsOptions {
  resolver: Pick<Resolver, 'addresses4' | 'txt'>
  addresses: readonly string[]
  lists: readonly string[]
}

const CHECK = 'blocklist'
/** Error codes that lists return to clients they do not serve, such as public resolvers. */
const REFUSED = /^127\.255\.255\.\d+$/
const LISTED = /^127\.0\.\d+\.\d+$/

export function blocklists({ resolver, addresses, lists }: BlocklistsOptions): Examination {
  return {
    check: CHECK,
    examine: () =>
      Promise.all(addresses.flatMap(address => lists.map(list => lookUp(resolver, address, list)))),
  }
}

async function lookUp(
  resolver: BlocklistsOptions['resolver'],
  address: string,
  list: string,
): Promise<DoctorFinding> {
  const name = `${reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '')}.${list}`
  const subject = `${address} ${list}`
  const answer = await resolver.addresses4(name, { fresh: true })
  if (answer.kind === 'failure')
    return unknownFinding(CHECK, subject, `The blocklist did not respond: ${answer.reason}.`)
  if (answer.kind !== 'found') return good(CHECK, subject, 'Not listed.')
  if (answer.records.some(record => REFUSED.test(record)))
    return unknownFinding(
      CHECK,
      subject,
      'The blocklist refuses queries from this resolver, as is common for public resolvers. Set dns.resolvers to your own resolver.',
    )
  if (!answer.records.some(record => LISTED.test(record)))
    return unknownFinding(
      CHECK,
      subject,
      `Unexpected response ${answer.records.join(', ')}: the blocklist may have been shut down.`,
    )
  const reason = await resolver.txt(name)
  const text = reason.kind === 'found' ? ` Reason: ${reason.records[0]!.slice(0, 300)}` : ''
  return bad(
    'failed',
    CHECK,
    subject,
    `Listed (${answer.records.join(', ')}).${text}`,
    `Find and stop the abusive traffic from this IP address, then request delisting from ${list}.`,
  )
}
