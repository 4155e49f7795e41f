import * as assert from 'uvu/assert'
import { stsIdOf } from '../../../../../src/pipeline/delivery/tls-policy/sts-policy.ts'
import { tlsReportAddresses } from '../../../../../src/protocols/bounces/tls-report.ts'
import type { DnsObserver } from '../../../../../src/protocols/dns/dns-observer.ts'
import { selectorProbe } from '../../../../../src/resources/domains/checks/dkim.ts'
import { checkDmarc } from '../../../../../src/resources/domains/checks/dmarc.ts'
import { spfProbe } from '../../../../../src/resources/domains/checks/spf.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('domains/checks: what receivers see of a record')

const INCLUDE = 'mail.provider.example'
const HOST = 'here.test'

/** A resolver that has these texts at every name. */
function resolverWith(texts: readonly string[]): DnsObserver {
  const records = texts.map(text => ({ name: HOST, ttlSeconds: 60, type: 'TXT' as const, text }))
  return {
    server: '127.0.0.1',
    ask: async () => ({ kind: 'answer', records, chain: [], exists: true, ttlSeconds: 60 }),
  } as unknown as DnsObserver
}

/** Runs a check on the texts and returns `right`, or the codes of its problems. */
const READERS: Record<string, (texts: readonly string[]) => Promise<string>> = {
  async spf(texts) {
    const { verdict, problems } = await spfProbe(HOST, INCLUDE)(resolverWith(texts), false)
    return verdict === 'right' ? verdict : problems.map(({ code }) => code).join()
  },
  async dkim(texts) {
    const selector = { domain: HOST, host: `s._domainkey.${HOST}`, target: 's.dkim.x', publicKey: 'KEY==' }
    const probe = selectorProbe({ ...selector, laboratory: false })
    const { verdict, problems } = await probe(resolverWith(texts), false)
    return verdict === 'right' ? verdict : problems.map(({ code }) => code).join()
  },
  async dmarc(texts) {
    const { status, problems } = await checkDmarc(HOST, [resolverWith(texts)])
    return status === 'verified' ? 'right' : problems.map(({ code }) => code).join()
  },
  sts: async texts => (stsIdOf(texts) === undefined ? 'none' : 'right'),
  tlsrpt: async texts => (tlsReportAddresses(texts).length === 0 ? 'none' : 'right'),
}

/**
 * Texts of one name, and what receivers make of them (RFC 7208 §4.5, 6376 §3.6.1, 7489 §6.6.3, 8461, 8460).
 */
const TABLE: readonly [type: string, texts: string[], expected: string][] = [
  ['spf', [`v=spf1 include:${INCLUDE} ~all`], 'right'],
  ['spf', [`V=SPF1 INCLUDE:${INCLUDE.toUpperCase()} ~ALL`], 'right'],
  ['spf', [`v=spf1  include:${INCLUDE}.  ~all  `], 'right'],
  ['spf', [`v=spf1 redirect=${INCLUDE}.`], 'right'],
  ['spf', [`v=spf1 include:${INCLUDE} x-unknown=1 -all`], 'right'],
  ['spf', [` v=spf1 include:${INCLUDE} ~all`], 'leading_blank'],
  ['spf', [`\tv=spf1 include:${INCLUDE} ~all`], 'leading_blank'],
  ['spf', [`\u00a0v=spf1 include:${INCLUDE} ~all`], 'leading_blank'],
  ['spf', [`"v=spf1 include:${INCLUDE} ~all"`], 'quoted'],
  ['spf', [`v=spf1\tinclude:${INCLUDE} ~all`], 'spf_syntax'],
  ['spf', [`v=spf1 include:${INCLUDE} ~all\t`], 'spf_syntax'],
  ['spf', [`v=spf1 include:${INCLUDE} ~all`, ` v=spf1 -all`], 'right'],
  ['spf', [`v=spf1 include:${INCLUDE} ~all`, `V=spf1 -all`], 'several_spf'],
  ['spf', [`v=spf10 include:${INCLUDE} ~all`], ''],
  ['dkim', ['v=DKIM1; k=rsa; p=KEY=='], 'right'],
  ['dkim', ['p=KEY=='], 'right'],
  ['dkim', ['  v = DKIM1 ; p = KE Y== ; '], 'right'],
  ['dkim', ['v=DKIM1; t=y:s; h=sha1:sha256; s=email; n=note; x_own=1; p=KEY=='], 'right'],
  ['dkim', ['k=rsa; v=DKIM1; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=dkim1; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=DKIM2; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=DKIM1; h=sha1; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=DKIM1; s=tlsrpt; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=DKIM1; k=dsa; p=KEY=='], 'dkim_syntax'],
  ['dkim', ['v=DKIM1 p=KEY=='], 'wrong_key'],
  ['dkim', ['v=DKIM1; p=KEY==; p=OTHER'], 'dkim_syntax'],
  ['dkim', ['v=DKIM1; note; p=KEY=='], 'dkim_syntax'],
  ['dmarc', ['v=DMARC1; p=none'], 'right'],
  ['dmarc', ['v = DMARC1 ; P=NONE; unknown=x; '], 'right'],
  ['dmarc', [' v=DMARC1; p=none'], 'leading_blank'],
  ['dmarc', ['\tv=DMARC1;p=none'], 'leading_blank'],
  ['dmarc', ['v=dmarc1; p=none'], 'dmarc_syntax'],
  ['dmarc', ['v=DMARC1 p=none'], 'dmarc_syntax'],
  ['dmarc', ['v=DMARC1; p=none', ' v=DMARC1; p=reject'], 'right'],
  ['dmarc', ['v=DMARC1; p=none', 'v=DMARC1; p=reject'], 'several_dmarc'],
  ['sts', ['v=STSv1; id=20261126'], 'right'],
  ['sts', ['v=STSv1 ;id=1;'], 'right'],
  ['sts', [' v=STSv1; id=1'], 'none'],
  ['sts', ['v=stsv1; id=1'], 'none'],
  ['sts', ['v=STSv1; id=1', 'v=STSv1; id=2'], 'none'],
  ['sts', ['v=STSv1; id=1', '\tv=STSv1; id=2'], 'right'],
  ['tlsrpt', ['v=TLSRPTv1; rua=mailto:a@x.example'], 'right'],
  ['tlsrpt', ['v=TLSRPTv1;rua = mailto:a@x.example , https://x.example/r'], 'right'],
  ['tlsrpt', ['\tv=TLSRPTv1; rua=mailto:a@x.example'], 'none'],
  ['tlsrpt', ['v=TLSRPTv2; rua=mailto:a@x.example'], 'none'],
]

for (const [type, texts, expected] of TABLE)
  test(`${type} ${JSON.stringify(texts)}: ${expected || 'absent'}`, async () => {
    const found = await READERS[type]!(texts)
    assert.is(found, expected)
  })

test.run()
