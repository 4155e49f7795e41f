import * as assert from 'uvu/assert'
import { policyResults } from '../../../../src/pipeline/delivery/tls-reporter.ts'
import {
  reportFileName,
  reportJson,
  tlsReportAddresses,
} from '../../../../src/protocols/bounces/tls-report.ts'
import type { TlsResultRow } from '../../../../src/store/model/schema/tls.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('reports/tls-report')

for (const [texts, destinations] of [
  [['v=TLSRPTv1; rua=mailto:a@there.test'], ['mailto:a@there.test']],
  [
    ['v=TLSRPTv1;rua=mailto:a@there.test , https://there.test/tls;'],
    ['mailto:a@there.test', 'https://there.test/tls'],
  ],
  [['v=spf1 -all', 'v=TLSRPTv1; rua=mailto:a@there.test'], ['mailto:a@there.test']],
  [['v=TLSRPTv1; rua=http://there.test/,ftp://x,mailto:nobody,javascript:x'], []],
  [['v=TLSRPTv1; rua=mailto:a@there.test', 'v=TLSRPTv1; rua=mailto:b@there.test'], []],
  [['v=TLSRPTv1; rua=mailto:a@there.test%zz,mailto:b%2Bc@there.test'], ['mailto:b%2Bc@there.test']],
  [['v=TLSRPTv1;'], []],
  [['v=TLSRPTv2; rua=mailto:a@there.test'], []],
  [
    ['v=TLSRPTv1; rua=mailto:1@a.test,mailto:2@a.test,mailto:3@a.test,mailto:4@a.test,mailto:5@a.test'],
    [1, 2, 3, 4].map(n => `mailto:${n}@a.test`),
  ],
  [[], []],
] as const)
  test(`${JSON.stringify(texts)} asks for reports to ${destinations.length}`, () => {
    assert.equal(tlsReportAddresses(texts), destinations)
  })

const row = (over: Partial<TlsResultRow>): TlsResultRow => ({
  day: '2026-11-21',
  domain: 'there.test',
  policyType: 'sts',
  result: '',
  mxHost: 'mx1.there.test',
  policy: JSON.stringify({
    strings: ['version: STSv1', 'mode: enforce'],
    mxHosts: ['*.there.test'],
    from: '198.51.100.7',
  }),
  reason: null,
  mxIp: '192.0.2.1',
  count: 5,
  ...over,
})

test('a report tells, policy by policy, how many sessions were good, and why others were not', () => {
  const policies = policyResults([
    row({ policyType: 'no-policy-found', policy: '{"from":"198.51.100.7"}', count: 2 }),
    row({}),
    row({ mxHost: 'mx2.there.test', count: 3 }),
    row({ result: 'certificate-expired', reason: 'CERT_HAS_EXPIRED', count: 4 }),
    row({
      result: 'sts-policy-fetch-error',
      reason: 'the policy host answered 404',
      mxHost: '',
      mxIp: null,
      policy: '{}',
      count: 1,
    }),
  ])
  const report = {
    domain: 'there.test',
    day: '2026-11-21',
    submitter: 'mailhorn.test',
    contact: 'tls@here.test',
    policies,
  }
  assert.equal(JSON.parse(reportJson(report)), {
    'organization-name': 'mailhorn.test',
    'date-range': { 'start-datetime': '2026-11-21T00:00:00Z', 'end-datetime': '2026-11-21T23:59:59Z' },
    'contact-info': 'tls@here.test',
    'report-id': '2026-11-21.there.test@mailhorn.test',
    policies: [
      {
        policy: { 'policy-type': 'no-policy-found', 'policy-domain': 'there.test' },
        summary: { 'total-successful-session-count': 2, 'total-failure-session-count': 0 },
      },
      {
        policy: {
          'policy-type': 'sts',
          'policy-domain': 'there.test',
          'policy-string': ['version: STSv1', 'mode: enforce'],
          'mx-host': ['*.there.test'],
        },
        summary: { 'total-successful-session-count': 8, 'total-failure-session-count': 5 },
        'failure-details': [
          {
            'result-type': 'certificate-expired',
            'sending-mta-ip': '198.51.100.7',
            'receiving-mx-hostname': 'mx1.there.test',
            'receiving-ip': '192.0.2.1',
            'failed-session-count': 4,
            'failure-reason-code': 'CERT_HAS_EXPIRED',
          },
          {
            'result-type': 'sts-policy-fetch-error',
            'failed-session-count': 1,
            'failure-reason-code': 'the policy host answered 404',
          },
        ],
      },
    ],
  })
  assert.is(reportFileName(report), 'mailhorn.test!there.test!1795219200!1795305599.json.gz')
})

test.run()
