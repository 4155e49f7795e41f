/** Whether our addresses stand on lists by which receivers turn mail away (RFC 5782). */

import type { Resolver } from '../../protocols/dns/resolver.ts'
import { reverseName } from '../../protocols/dns/reverse.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'

interface BlocklistsOptions {
  resolver: Pick<Resolver, 'addresses4' | 'txt'>
  addresses: readonly string[]
  lists: readonly string[]
}

const CHECK = 'blocklist'
/** What lists answer to those they do not serve, such as large public resolvers. */
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
    return unknownFinding(CHECK, subject, `The list does not answer: ${answer.reason}.`)
  if (answer.kind !== 'found') return good(CHECK, subject, 'It is not listed.')
  if (answer.records.some(record => REFUSED.test(record)))
    return unknownFinding(
      CHECK,
      subject,
      'The list does not answer through this resolver: public resolvers are often turned away. Set dns.resolvers to one of your own.',
    )
  if (!answer.records.some(record => LISTED.test(record)))
    return unknownFinding(
      CHECK,
      subject,
      `The answer ${answer.records.join(', ')} is none of a list: it may be no more.`,
    )
  const reason = await resolver.txt(name)
  const text = reason.kind === 'found' ? ` It says: ${reason.records[0]!.slice(0, 300)}` : ''
  return bad(
    'failed',
    CHECK,
    subject,
    `It is listed (${answer.records.join(', ')}).${text}`,
    `Find out what was sent from it, end that, then ask ${list} to take it off.`,
  )
}
