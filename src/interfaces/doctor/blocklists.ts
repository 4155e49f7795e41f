/** Checks whether the sending IP addresses are on DNS blocklists (RFC 5782). */
import { isIP } from 'node:net'
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

/** Lists contain the first address of each pair and not the second one (RFC 5782 §5). */
const TEST_ADDRESSES = { 4: ['127.0.0.2', '127.0.0.1'], 6: ['::ffff:7f00:2', '::ffff:7f00:1'] } as const

export function blocklists({ resolver, addresses, lists }: BlocklistsOptions): Examination {
  return {
    check: CHECK,
    examine: () =>
      Promise.all(
        [4, 6].flatMap(family => {
          const ours = addresses.filter(address => isIP(address) === family)
          return lists.flatMap(list => {
            const test = ours.length === 0 ? undefined : testOf(resolver, family as 4 | 6, list)
            return ours.map(address => lookUp(resolver, { address, list, test: test! }))
          })
        }),
      ),
  }
}

type TestResult = 'works' | 'lists nothing' | 'lists everything'

/** Tells a list that works from one that is closed, or that the resolver does not reach. */
async function testOf(
  { addresses4 }: BlocklistsOptions['resolver'],
  family: 4 | 6,
  list: string,
): Promise<TestResult> {
  const [listed, unlisted] = await Promise.all(
    TEST_ADDRESSES[family].map(address => addresses4(nameIn(list, address), { fresh: true })),
  )
  if (listed?.kind !== 'found' || !listed.records.some(record => LISTED.test(record))) return 'lists nothing'
  return unlisted?.kind === 'found' ? 'lists everything' : 'works'
}

/** Name of an address in a list (RFC 5782 §2.1, §2.4). */
function nameIn(list: string, address: string): string {
  return `${reverseName(address).replace(/\.(?:in-addr|ip6)\.arpa$/, '')}.${list}`
}

async function lookUp(
  resolver: BlocklistsOptions['resolver'],
  { address, list, test }: { address: string; list: string; test: Promise<TestResult> },
): Promise<DoctorFinding> {
  const name = nameIn(list, address)
  const subject = `${address} ${list}`
  const [answer, tested] = await Promise.all([resolver.addresses4(name, { fresh: true }), test])
  if (answer.kind === 'failure')
    return unknownFinding(CHECK, subject, `The blocklist did not respond: ${answer.reason}.`)
  if (answer.kind !== 'found')
    return tested === 'lists nothing' ? silent(subject) : good(CHECK, subject, 'Not listed.')
  if (answer.records.some(record => REFUSED.test(record)))
    return unknownFinding(
      CHECK,
      subject,
      'The blocklist refuses queries from this resolver, as is common for public resolvers. Set dns.resolvers to your own resolver.',
    )
  if (tested === 'lists everything' || !answer.records.some(record => LISTED.test(record)))
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

function silent(subject: string): DoctorFinding {
  return unknownFinding(
    CHECK,
    subject,
    'The blocklist does not list its test address, either: it does not exist, does not answer this resolver, or has no addresses of this family. Set dns.resolvers to your own resolver, or correct doctor.blocklists.',
  )
}
