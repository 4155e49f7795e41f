import * as assert from 'uvu/assert'
import type { SmtpSession } from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
import type { HostTlsPolicy } from '../../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import type { StsPolicy } from '../../../../../src/pipeline/delivery/tls-policy/mta-sts-cache.ts'
import { nextHopTo } from '../../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import {
  createTlsResults,
  type TlsResults,
} from '../../../../../src/pipeline/delivery/tls-policy/tls-results.ts'
import { policyResults } from '../../../../../src/pipeline/delivery/tls-reporter.ts'
import type { TlsResultRow } from '../../../../../src/store/model/schema/tls.ts'
import { createManualClock } from '../../../../kit/manual-clock.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('TLS results')
const WANTED = 'v=TLSRPTv1; rua=mailto:tls@there.test'

const nextHop = nextHopTo({ domain: 'there.test', hostSet: 'mx.test', hosts: [], security: undefined }, 'any')
if ('reason' in nextHop) throw new Error(nextHop.reason)
const inPlainText = { facts: { tls: null, tlsFallback: null, localAddress: '198.51.100.7' } } as SmtpSession

/** Returns the row that is stored for one counted result. */
async function countedOf(note: (results: TlsResults) => void): Promise<TlsResultRow> {
  const stored: TlsResultRow[] = []
  const results = createTlsResults({
    resolver: { txt: async () => ({ kind: 'found', records: [WANTED] }) },
    run: (async (_: string, rows: TlsResultRow[]) => void stored.push(...rows)) as never,
    clock: createManualClock(),
    onError: assert.unreachable,
  })
  note(results)
  await results.close()
  assert.is(stored.length, 1)
  return stored[0]!
}

/** Returns the row for one session in plain text under the given policy. */
const counted = (terms: Pick<HostTlsPolicy, 'brokenTls'>) =>
  countedOf(results =>
    results.count(
      nextHop as never,
      { policy: 'none', options: { tls: 'none' }, ...terms },
      'mx.test',
      '192.0.2.1',
      inPlainText,
    ),
  )

test('a host without STARTTLS is counted, with our address', async () => {
  const { result, reason, mxHost, mxIp, policy } = await counted({ brokenTls: null })
  assert.equal([result, reason, mxHost, mxIp], ['starttls-not-supported', null, 'mx.test', '192.0.2.1'])
  assert.equal(JSON.parse(policy), { from: '198.51.100.7' })
})

test('a host contacted in plain text because its TLS failed is not counted as lacking STARTTLS', async () => {
  const { result, reason } = await counted({ brokenTls: 'alert internal error' })
  assert.equal([result, reason], ['validation-failure', 'alert internal error'])
})

const STS: StsPolicy = {
  domain: 'there.test',
  mode: 'enforce',
  mx: ['other.there.test'],
  maxAgeSeconds: 86_400,
}

test('a host that the policy rules out is counted, with the policy', async () => {
  const refusal = 'mx.there.test is not in the MTA-STS policy of there.test'
  const row = await countedOf(results =>
    results.countRefusal({ ...nextHop, sts: STS }, 'mx.there.test', {
      refusal,
      policyType: 'sts',
      result: 'validation-failure',
    }),
  )
  const [report] = policyResults([row])
  assert.equal(report, {
    type: 'sts',
    strings: ['version: STSv1', 'mode: enforce', 'mx: other.there.test', 'max_age: 86400'],
    mxHosts: ['other.there.test'],
    successCount: 0,
    failures: [
      {
        ...{ result: 'validation-failure', mxHost: 'mx.there.test', mxIp: null, sendingIp: null },
        ...{ count: 1, reason: refusal },
      },
    ],
  })
})

test('a host that DNSSEC does not validate is counted without a policy', async () => {
  const { policyType, mxHost, policy } = await countedOf(results =>
    results.countRefusal({ ...nextHop, sts: STS }, 'mx.there.test', {
      refusal: 'DNSSEC knows no MX host mx.there.test of there.test',
      policyType: 'tlsa',
      result: 'dnssec-invalid',
    }),
  )
  assert.equal([policyType, mxHost, policy], ['tlsa', 'mx.there.test', '{}'])
})

for (const [what, answer, isStored] of [
  ['who wants no reports is not counted', { kind: 'no-domain' }, false],
  ['who cannot be asked now is counted', { kind: 'failure', reason: 'SERVFAIL' }, true],
] as const)
  test(what, async () => {
    const clock = createManualClock()
    const stored = Promise.withResolvers<boolean>()
    const results = createTlsResults({
      resolver: { txt: async () => answer },
      run: (async () => stored.resolve(true)) as never,
      clock,
      onError: assert.unreachable,
    })
    results.countFault('there.test', 'sts', 'sts-policy-fetch-error', 'it is gone')
    clock.advance(60_000)
    setImmediate(() => stored.resolve(false))
    assert.is(await stored.promise, isStored)
  })

test('name servers that do not answer neither lose counts nor delay close()', async () => {
  const stored: string[] = []
  const clock = createManualClock()
  const results = createTlsResults({
    resolver: { txt: () => new Promise(() => {}) },
    run: (async (_: string, rows: TlsResultRow[]) =>
      void stored.push(...rows.map(({ domain }) => domain))) as never,
    clock,
    onError: assert.unreachable,
  })
  const note = (domain: string) => results.countFault(domain, 'sts', 'sts-policy-fetch-error', 'it is gone')
  const waiting = Array.from({ length: 40 }, (_, i) => `silent${i}.test`)
  waiting.forEach(note)
  clock.advance(60_000)
  note('late.test')
  await results.close()
  assert.equal(stored.sort(), ['late.test', ...waiting].sort())
})

test.run()
