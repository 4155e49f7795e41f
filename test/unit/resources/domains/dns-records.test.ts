import * as assert from 'uvu/assert'
import { dnsRecordsOf } from '../../../../src/resources/domains/dns-records.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('domains/dns-records')

const domain = {
  name: 'here.test',
  region: 'eu-west-1',
  verificationToken: 'verify-me',
  keys: [
    { slot: 1, token: 'one' },
    { slot: 2, token: 'two' },
    { slot: 3, token: 'three' },
  ],
}

test('DNS records: six, in the order of the API contract', () => {
  assert.equal(
    dnsRecordsOf(domain, 'mail.provider.example').map(({ record, type, host, value }) => [
      record,
      type,
      host,
      value,
    ]),
    [
      ['Verification', 'TXT', '_svc.here.test', 'svc-verify=verify-me'],
      ['DKIM 1', 'CNAME', 'one._domainkey.here.test', 'one.dkim.mail.provider.example'],
      ['DKIM 2', 'CNAME', 'two._domainkey.here.test', 'two.dkim.mail.provider.example'],
      ['DKIM 3', 'CNAME', 'three._domainkey.here.test', 'three.dkim.mail.provider.example'],
      ['SPF', 'TXT', 'send.here.test', 'v=spf1 include:mail.provider.example ~all'],
      ['MX', 'MX', 'send.here.test', 'feedback-smtp.eu-west-1.mail.provider.example'],
    ],
  )
})

test('DNS records: only the MX record has a preference', () => {
  assert.equal(
    dnsRecordsOf(domain, 'p.example').map(({ priority }) => priority),
    [undefined, undefined, undefined, undefined, undefined, 10],
  )
})

test.run()
