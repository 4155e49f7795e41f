import * as assert from 'uvu/assert'
import type {
  SessionFailure,
  SmtpFailure,
  SmtpSession,
} from '../../../../../src/pipeline/delivery/smtp-client/types.ts'
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
      { policy: 'none', tls: { mode: 'none' }, ...terms },
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

const failureOf = (failed: Partial<SmtpFailure>): SmtpFailure => ({
  phase: 'tls',
  kind: 'tls',
  reply: null,
  message: 'told',
  ...failed,
})
const UNDER_NO_POLICY = { policy: 'none', tls: { mode: 'none' }, brokenTls: null } as const

for (const [what, failed, expected] of [
  ['454 to STARTTLS', { phase: 'starttls', kind: 'reply' }, ['starttls-not-supported', 'told']],
  ['STARTTLS not offered', { phase: 'starttls', kind: 'tls' }, ['starttls-not-supported', null]],
  ['silence after STARTTLS', { phase: 'starttls', kind: 'timeout' }, ['validation-failure', 'told']],
  [
    'a connection that ends at STARTTLS',
    { phase: 'starttls', kind: 'closed' },
    ['validation-failure', 'told'],
  ],
  ['an alert', {}, ['validation-failure', 'told']],
  ['an unknown code', { code: 'ERR_SSL_WRONG' }, ['validation-failure', 'told']],
  ['an expired certificate', { code: 'CERT_HAS_EXPIRED' }, ['certificate-expired', 'CERT_HAS_EXPIRED']],
  [
    'a certificate of tomorrow',
    { code: 'CERT_NOT_YET_VALID' },
    ['certificate-expired', 'CERT_NOT_YET_VALID'],
  ],
  [
    "another host's certificate",
    { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    ['certificate-host-mismatch', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ],
  [
    'a self-signed certificate',
    { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
    ['certificate-not-trusted', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ],
] as const) {
  const failure = failureOf(failed)
  test(`${what} is counted alike for a session that failed and for one in plain text after it`, async () => {
    const unopened = { failure, localAddress: null, tlsFallback: null } as unknown as SessionFailure
    const inPlain = { facts: { ...inPlainText.facts, tlsFallback: failure } } as SmtpSession
    for (const opened of [unopened, inPlain]) {
      const { result, reason } = await countedOf(results =>
        results.count(nextHop, UNDER_NO_POLICY, 'mx.test', '192.0.2.1', opened),
      )
      assert.equal([result, reason], expected)
    }
  })
}

test('a session that failed after TLS failed is counted by its TLS, and one without TLS in play is not', async () => {
  const timeout = failureOf({ phase: 'banner', kind: 'timeout' })
  const { result } = await countedOf(results => {
    const failed = { failure: timeout, localAddress: null } as unknown as SessionFailure
    results.count(nextHop, UNDER_NO_POLICY, 'mx.test', '192.0.2.1', { ...failed, tlsFallback: null })
    const tlsFallback = failureOf({ code: 'CERT_HAS_EXPIRED' })
    results.count(nextHop, UNDER_NO_POLICY, 'mx.test', '192.0.2.1', { ...failed, tlsFallback })
  })
  assert.is(result, 'certificate-expired')
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

for (const [what, host, reason, result] of [
  ['a good session', 'other.there.test', null, ''],
  ['an unlisted host', 'mx.there.test', null, 'validation-failure'],
  ['an untrusted certificate', 'other.there.test', 'SELF_SIGNED_CERT_IN_CHAIN', 'certificate-not-trusted'],
  ['an unknown fault', 'other.there.test', 'UNABLE_TO_GET_CRL', 'certificate-not-trusted'],
] as const)
  test(`${what} under MTA-STS is counted by what the policy asks, without a policy as a success`, async () => {
    const facts = { ...inPlainText.facts, tls: { unauthorizedReason: reason } }
    const session = { facts } as unknown as SmtpSession
    const resultWith = async (sts: StsPolicy | null) => {
      const hop = { ...nextHop, sts } as typeof nextHop
      const row = await countedOf(results => results.count(hop, UNDER_NO_POLICY, host, '192.0.2.1', session))
      return [row.policyType, row.result]
    }
    assert.equal(await resultWith(STS), ['sts', result])
    assert.equal(await resultWith(null), ['no-policy-found', ''])
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
