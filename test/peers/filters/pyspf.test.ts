import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import type { BudgetedResolver } from '../../../src/pipeline/inbound/verdicts/dns-budget.ts'
import type { Answer } from '../../../src/protocols/dns/answer.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'
import { envelope, judgeBy, mailOf } from '../../unit/pipeline/inbound/verdicts/scene.ts'
import { runPython, temporaryFolder } from '../mail-format/tools.ts'

const test = suite('peers/filters/pyspf')
const script = fileURLToPath(new URL('check_by_pyspf.py', import.meta.url))
const WORLDS = 1_500

type Data = string[] | [number, string][] | 'SERVFAIL'
type Records = Record<string, Partial<Record<'TXT' | 'A' | 'MX' | 'PTR', Data>>>

interface Case {
  records: Records
  ip: string
  sender: string
  helo: string
}

const IPS = ['192.0.2.1', '192.0.2.77', '198.51.100.1']
/**
 * pyspf counts it among the look-ups in vain when a mail server has no address, which RFC 7208 §4.6.4 does
 * not.
 */
const HOSTS = ['a.test', 'b.test', 'c.test']
const name = fc.constantFrom('a.test', 'b.test', 'c.test', 'd.test', 'gone.test', 'sub.a.test')
const qualifier = fc.constantFrom('', '', '+', '-', '~', '?')
const cidr = fc.constantFrom('', '', '/24', '/32', '/0', '//64')
const mechanism = fc.oneof(
  fc.constant('all'),
  name.map(domain => `include:${domain}`),
  fc.tuple(fc.constantFrom('a', 'mx'), cidr).map(parts => parts.join('')),
  fc.tuple(fc.constantFrom('a:', 'mx:'), name, cidr).map(parts => parts.join('')),
  name.map(domain => `exists:${domain}`),
  fc.constantFrom('exists:%{i}.list.test', 'exists:%{ir}.list.test', 'exists:%{l}.%{d2}', 'a:%{h}'),
  fc.constantFrom('ip4:192.0.2.0/24', 'ip4:192.0.2.1', 'ip6:2001:db8::/32', 'ip4:10.0.0.0/8', 'ip6:::1'),
  fc.constantFrom(
    'ip4:1.2.3',
    'ip4:1.2.3.4/33',
    'a:',
    'nonsense',
    'all:x',
    'include',
    'ip6:1::/129',
    'exists:%{z}.test',
  ),
)
const term = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(qualifier, mechanism).map(parts => parts.join('')) },
  { weight: 1, arbitrary: name.map(domain => `redirect=${domain}`) },
  { weight: 1, arbitrary: fc.constantFrom('exp=why.test', 'unknown=x', 'redirect=', 'x-y=%{i}') },
)
const record = fc.oneof(
  { weight: 9, arbitrary: fc.array(term, { maxLength: 6 }).map(terms => ['v=spf1', ...terms].join(' ')) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('v=spf10 -all', 'V=SPF1 -all', 'spf2.0/mfrom -all', 'v=spf1', 'v=spf1  -all '),
  },
)
const texts = fc.oneof(
  { weight: 12, arbitrary: fc.array(record, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(record, { minLength: 2, maxLength: 2 }) },
  { weight: 1, arbitrary: fc.constant<Data>('SERVFAIL') },
)
const addresses = fc.array(fc.constantFrom('192.0.2.1', '192.0.2.9', '203.0.113.1'), {
  minLength: 1,
  maxLength: 3,
})
const exchanges = fc
  .uniqueArray(fc.constantFrom(...HOSTS), { minLength: 1, maxLength: 3 })
  .map(hosts => hosts.map((host, i): [number, string] => [i, host]))
const domainRecords = fc.record({ TXT: texts, A: addresses, MX: exchanges }, { requiredKeys: ['A'] })
const worlds: fc.Arbitrary<Case> = fc.record({
  records: fc.record({
    'a.test': fc.record({ TXT: texts, A: addresses, MX: exchanges }, { requiredKeys: ['TXT', 'A'] }),
    'b.test': domainRecords,
    'c.test': domainRecords,
    'd.test': domainRecords,
    '1.2.0.192.list.test': fc.record({ A: addresses }, { requiredKeys: [] }),
  }) as fc.Arbitrary<Records>,
  ip: fc.constantFrom(...IPS),
  sender: fc.constantFrom('ann@a.test', 'ann@a.test', 'b.test@a.test', 'ann@b.test', ''),
  helo: fc.constantFrom('a.test', 'b.test', 'mail.a.test'),
})

function resolverOf(records: Records): BudgetedResolver {
  const find = async <T>(
    domain: string,
    type: 'TXT' | 'A' | 'MX',
    read: (data: never) => T,
  ): Promise<Answer<T>> => {
    const known = records[domain.toLowerCase()]
    const data = known?.[type]
    if (data === 'SERVFAIL') return { kind: 'failure', reason: 'SERVFAIL' }
    if (!data) return known ? { kind: 'no-data' } : { kind: 'no-domain' }
    return { kind: 'found', records: data.map(one => read(one as never)) }
  }
  const nothing = async (): Promise<Answer<never>> => ({ kind: 'no-domain' })
  const same = (data: string) => data
  return {
    txt: domain => find(domain, 'TXT', same),
    addresses4: domain => find(domain, 'A', same),
    mx: domain =>
      find(domain, 'MX', ([preference, exchange]: [number, string]) => ({ preference, exchange })),
    ...{ addresses6: nothing, ptr: nothing, cname: nothing },
  }
}

/**
 * Returns false for cases in which pyspf is stricter than RFC 7208: unknown modifiers that occur twice, and
 * records that include themselves.
 */
function isPlain({ records }: Case): boolean {
  return Object.entries(records).every(([domain, { TXT }]) => {
    const terms = [TXT ?? []].flat().flatMap(text => String(text).split(' '))
    const modifiers = terms.filter(one => /^(?:unknown|x-y)=/.test(one))
    return (
      new Set(modifiers).size === modifiers.length &&
      !terms.some(one => /(?:include:|redirect=)/.test(one) && one.endsWith(domain))
    )
  })
}

test('SPF is what pyspf finds, in worlds drawn by lot', async t => {
  const cases = fc.sample(worlds.filter(isPlain), { numRuns: WORLDS, seed: 7_208 })
  const file = join(await temporaryFolder(t), 'cases.json')
  await writeFile(file, JSON.stringify(cases))
  const theirs = (await runPython(script, [file], 'python3-spf python3-dnspython')) as string[]
  const counts = new Map<string, number>()
  const different: unknown[] = []
  for (const [i, { records, ip, sender, helo }] of cases.entries()) {
    const judge = judgeBy(resolverOf(records))
    const { detail } = await judge(mailOf('\r\n'), envelope({ clientIp: ip, mailFrom: sender, helo }))
    const { result, reason } = detail.spf
    counts.set(result, (counts.get(result) ?? 0) + 1)
    if (result !== theirs[i])
      different.push({ ours: result, theirs: theirs[i], reason, ip, sender, helo, records })
  }
  assert.equal(different.slice(0, 3), [], `${different.length} of ${cases.length}`)
  for (const result of ['pass', 'fail', 'softfail', 'neutral', 'none', 'permerror', 'temperror'])
    assert.ok(counts.get(result)! > 10, `${result}: ${counts.get(result)}`)
})

test.run()
