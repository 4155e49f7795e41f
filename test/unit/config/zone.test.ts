/** Settings of the provider zone: addresses to listen on, name servers, records of the operator's own. */
import * as assert from 'uvu/assert'
import { ConfigError, loadConfig } from '../../../src/config/config.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/zone')
const root = new URL('../../..', import.meta.url).pathname

const dnsOf = (env: Record<string, string>) => loadConfig(root, env).config.dns

test('dns.listen: one address, several or none', () => {
  assert.equal(dnsOf({}).listen, [{ host: '127.0.0.1', port: 5300 }])
  assert.equal(dnsOf({ MAILHORN_DNS_LISTEN: '' }).listen, [])
  assert.equal(dnsOf({ MAILHORN_DNS_LISTEN: '192.0.2.1:53, [2001:db8::1]:53' }).listen, [
    { host: '192.0.2.1', port: 53 },
    { host: '2001:db8::1', port: 53 },
  ])
})

test('dns.records: semicolons outside quotation marks separate records', () => {
  const { records } = dnsOf({
    MAILHORN_DNS_RECORDS: '@ CAA 0 issue "ca.example; account=1"; www A 192.0.2.1;_x TXT "a;b" ;',
  })
  assert.equal(records, ['@ CAA 0 issue "ca.example; account=1"', 'www A 192.0.2.1', '_x TXT "a;b"'])
})

const WRONG: [variable: string, value: string, complaint: RegExp][] = [
  ['DNS_LISTEN', '127.0.0.1:53,5300', /^dns\.listen \(environment\): must be host:port/],
  [
    'DNS_ADDRESSES',
    '192.0.2.1,mail.example',
    /^dns\.addresses .* "mail\.example", which is not an IP address/,
  ],
  ['DNS_NAME_SERVERS', 'ns1.example.com,ns2', /^dns\.name_servers .* "ns2", which is not a host name/],
  ['DNS_RECORDS', 'www A 192.0.2', /^dns\.records .* contains "www A 192\.0\.2", which has no address for A/],
  ['DNS_RECORDS', '@ SOA a b 1 2 3 4 5', /^dns\.records .* can be added/],
  ['DNS_RECORDS', '@ TXT "open', /^dns\.records .* quotation mark/],
  ['DNS_REPORTS_TO', 'nobody', /^dns\.reports_to .* must be an email address/],
  ['DNS_REPORTS_TO', 'a@b.example,c@d.example', /^dns\.reports_to .* must be an email address/],
  ['DNS_RESPONSES_PER_SECOND', '-1', /^dns\.responses_per_second/],
]

for (const [variable, value, complaint] of WRONG)
  test(`${variable}=${value} is refused by name`, () => {
    try {
      loadConfig(root, { [`MAILHORN_${variable}`]: value })
      assert.unreachable()
    } catch (error) {
      assert.instance(error, ConfigError)
      assert.match((error as Error).message, complaint)
    }
  })

test.run()
