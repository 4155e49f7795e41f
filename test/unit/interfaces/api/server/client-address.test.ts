import type { IncomingHttpHeaders } from 'node:http'
import * as assert from 'uvu/assert'
import { createClientAddress } from '../../../../../src/interfaces/api/server/client-address.ts'
import { suite } from '../../../../kit/suite.ts'
import { request } from '../request.ts'

const test = suite('http: the address a request comes from')

function addressOf(trusted: string[], remoteAddress: string, forwarded?: string | string[]): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded as string }
  return createClientAddress(trusted)(request({ headers, remoteAddress }))
}

const PROXY = '10.0.0.1'
const CLIENT = '192.0.2.7'

test('client address: without trusted proxies it is that of the peer', () => {
  assert.is(addressOf([], CLIENT), CLIENT)
  assert.is(addressOf([], CLIENT, '198.51.100.1'), CLIENT)
  assert.is(addressOf([], '127.0.0.1', '198.51.100.1'), '127.0.0.1')
})

test('client address: headers of an untrusted peer are ignored', () => {
  assert.is(addressOf([PROXY], '10.0.0.2', '198.51.100.1'), '10.0.0.2')
})

for (const [what, forwarded, expected] of [
  ['one hop', CLIENT, CLIENT],
  ['blanks around it', `  ${CLIENT}  `, CLIENT],
  ['what the client claims before it', `198.51.100.1, ${CLIENT}`, CLIENT],
  ['a chain of trusted proxies', `${CLIENT}, 10.0.0.3, ${PROXY}`, CLIENT],
  ['a claim behind a chain', `198.51.100.1, ${CLIENT}, 10.0.0.3`, CLIENT],
  ['IPv6', '2001:db8::7', '2001:db8::7'],
  ['IPv4 in IPv6', `::ffff:${CLIENT}`, CLIENT],
  ['an empty header', '', PROXY],
  ['nothing but trusted hops', `10.0.0.3, ${PROXY}`, PROXY],
  ['garbage', 'unknown', PROXY],
  ['a claim before garbage, which nobody vouches for', '198.51.100.1, unknown', PROXY],
  ['a claim before an address with a port', '198.51.100.1, 192.0.2.7:4711', PROXY],
  ['a claim before an empty entry', '198.51.100.1,', PROXY],
] as const)
  test(`client address: ${what} gives ${expected}`, () => {
    assert.is(addressOf(['10.0.0.0/8'], PROXY, forwarded), expected)
  })

test('client address: several header lines are one list', () => {
  assert.is(addressOf([PROXY], PROXY, ['198.51.100.1', CLIENT]), CLIENT)
})

for (const [what, forwarded, expected] of [
  ['one hop', `for=${CLIENT}`, CLIENT],
  ['further parameters', `by=10.0.0.1;FOR=${CLIENT};proto=https;host="a.example"`, CLIENT],
  ['a port', `for="${CLIENT}:4711"`, CLIENT],
  ['IPv6', 'for="[2001:db8::7]"', '2001:db8::7'],
  ['IPv6 with a port', 'for="[2001:db8::7]:4711";proto=http', '2001:db8::7'],
  ['IPv4 in IPv6', `for="[::ffff:${CLIENT}]"`, CLIENT],
  ['what the client claims before it', `for=198.51.100.1, for=${CLIENT}`, CLIENT],
  ['a chain of trusted proxies', `for=198.51.100.1, for=${CLIENT}, for=10.0.0.3,for="10.0.0.1:1"`, CLIENT],
  ['a quote that the client leaves open', `for=198.51.100.1;x=", for="${CLIENT}"`, CLIENT],
  ['an open quote behind a backslash', `for="198.51.100.1\\", for="${CLIENT}";x="\\""`, CLIENT],
  ['another element within quotes', `for=${CLIENT};host="a, for=198.51.100.1;x=y"`, CLIENT],
  ['another parameter within quotes', `host="a;for=198.51.100.1;x=y";for=${CLIENT}`, CLIENT],
  ['two addresses in one element', `for=198.51.100.1;for=${CLIENT}`, PROXY],
  ['nothing but trusted hops', 'for=10.0.0.3', PROXY],
  ['a hidden client', 'for=198.51.100.1, for=_hidden', PROXY],
  ['an unknown client', 'for=198.51.100.1, for=unknown', PROXY],
  ['an element without an address', 'for=198.51.100.1, proto=https', PROXY],
  ['an empty element', 'for=198.51.100.1,', PROXY],
  ['garbage', 'for=198.51.100.1, for 192.0.2.7', PROXY],
  ['an empty header', '', PROXY],
] as const)
  test(`client address: Forwarded with ${what} gives ${expected}`, () => {
    const of = (headers: IncomingHttpHeaders, remoteAddress = PROXY) =>
      createClientAddress(['10.0.0.0/8'])(request({ headers, remoteAddress }))
    assert.is(of({ forwarded }), expected)
    assert.is(of({ forwarded }, '192.0.2.99'), '192.0.2.99', 'from an untrusted peer')
    assert.is(of({ forwarded, 'x-forwarded-for': '203.0.113.1' }), '203.0.113.1')
  })

test('client address: proxies are trusted by address and by range, IPv4 and IPv6', () => {
  assert.is(addressOf(['192.168.0.0/16'], '192.168.7.7', CLIENT), CLIENT)
  assert.is(addressOf(['192.168.0.0/16'], '192.169.0.1', CLIENT), '192.169.0.1')
  assert.is(addressOf(['2001:db8::/32'], '2001:db8:1::1', CLIENT), CLIENT)
  assert.is(addressOf(['::1'], '::1', CLIENT), CLIENT)
  assert.is(addressOf([PROXY], `::ffff:${PROXY}`, CLIENT), CLIENT, 'a dual-stack socket')
})

test.run()
