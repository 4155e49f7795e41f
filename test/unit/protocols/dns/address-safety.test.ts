import * as assert from 'uvu/assert'
import { isGlobalUnicast } from '../../../../src/protocols/dns/address-safety.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/address-safety')

const GLOBAL = `
  1.1.1.1            a public resolver
  8.8.8.8            another
  9.255.255.255      just below 10/8
  11.0.0.0           just above it
  100.63.255.255     just below carrier-grade NAT
  100.128.0.0        just above it
  126.255.255.255    just below loopback
  128.0.0.1          just above it
  169.253.255.255    just below link-local
  169.255.0.0        just above it
  172.15.255.255     just below 172.16/12
  172.32.0.0         just above it
  192.167.255.255    just below 192.168/16
  192.169.0.0        just above it
  198.17.255.255     just below benchmarking
  198.20.0.0         just above it
  223.255.255.255    the last before multicast
  2001:4860:4860::8888   a public resolver
  2606:4700:4700::1111   another
  2a00:1450:4001::1a     a mail provider
  2003::1                just above 6to4
  2001:200::1            just above the protocol assignments
  3ffe:ffff::1           the last but one of 2000::/3's quarters
  ::ffff:8.8.8.8         mapped, public inside
  ::ffff:808:808         the same in hexadecimal
  64:ff9b::8.8.8.8       NAT64, public inside
  2a00:1450::5efe:8.8.8.8      ISATAP, public inside
  2a00:1450::200:5efe:808:808  ISATAP with the universal bit
`

const NOT_GLOBAL = `
  0.0.0.0            unspecified
  0.1.2.3            this network
  10.0.0.1           private
  10.255.255.255     private
  100.64.0.1         carrier-grade NAT
  100.127.255.255    carrier-grade NAT
  127.0.0.1          loopback
  127.255.255.254    loopback
  169.254.169.254    link-local: a cloud's metadata
  172.16.0.1         private
  172.31.255.255     private
  192.0.0.1          protocol assignments
  192.0.0.170        NAT64 discovery
  192.0.2.1          documentation
  192.31.196.1       AS112
  192.52.193.1       AMT
  192.88.99.1        6to4 relays
  192.168.1.1        private
  192.175.48.1       AS112
  198.18.0.1         benchmarking
  198.19.255.255     benchmarking
  198.51.100.7       documentation
  203.0.113.9        documentation
  224.0.0.1          multicast
  239.255.255.250    multicast
  240.0.0.1          reserved
  255.255.255.255    broadcast
  ::                 unspecified
  ::1                loopback
  ::2                IPv4-compatible
  ::127.0.0.1        IPv4-compatible
  ::8.8.8.8          IPv4-compatible, public inside
  ::ffff:127.0.0.1   mapped loopback
  ::ffff:7f00:1      the same in hexadecimal
  ::ffff:10.0.0.1    mapped private
  ::ffff:169.254.169.254  mapped metadata
  0:0:0:0:0:ffff:c0a8:0101  mapped private, written out
  ::ffff:0:127.0.0.1 translated (SIIT)
  64:ff9b::127.0.0.1 NAT64 loopback
  64:ff9b::10.1.2.3  NAT64 private
  64:ff9b::a9fe:a9fe NAT64 metadata
  64:ff9b:1::8.8.8.8 NAT64 local use
  64:ff9b:1:a00:1::  NAT64 local use, private inside
  100::1             discard
  1fff:ffff::1       just below 2000::/3
  2001::1            Teredo
  2001:0:4136:e378:8000:63bf:3fff:fdd2  Teredo
  2001:2::1          benchmarking
  2001:3::1          AMT
  2001:4:112::1      AS112
  2001:10::1         ORCHID
  2001:20::1         ORCHIDv2
  2001:db8::1        documentation
  2002:7f00:1::1     6to4 loopback
  2002:a00:1::1      6to4 private
  2002:808:808::1    6to4, public inside
  2620:4f:8000::1    AS112
  2a00:1450::5efe:10.0.0.1      ISATAP private
  2a00:1450::200:5efe:7f00:1    ISATAP loopback
  3fff::1            documentation
  3fff:fff:ffff::1   documentation
  4000::1            not given out
  5f00::1            segment routing
  fc00::1            unique local
  fd12:3456:789a::1  unique local
  fe80::1            link-local
  febf::1            link-local
  fec0::1            site-local
  ff02::1            multicast
  ff0e::1            multicast of global scope
  fe80::1%eth0       with a zone
  2a00:1450::1%eth0  with a zone
`

const NO_ADDRESSES = [
  '',
  'localhost',
  '127.1',
  '2130706433',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '8.8.8.8:25',
  '[::1]',
  ' 8.8.8.8',
  '8.8.8.8/32',
  '8.8.8',
  '::ffff:8.8.8',
]

function rows(table: string): [string, string][] {
  return table
    .trim()
    .split('\n')
    .map(row => /^\s*(\S+)\s+(.+)$/.exec(row)!)
    .map(([, address, what]) => [address!, what!])
}

for (const [address, what] of rows(GLOBAL))
  test(`${address} is global: ${what}`, () => assert.is(isGlobalUnicast(address), true))

for (const [address, what] of rows(NOT_GLOBAL))
  test(`${address} is not global: ${what}`, () => assert.is(isGlobalUnicast(address), false))

for (const text of NO_ADDRESSES)
  test(`address safety: "${text}" is not an address`, () => assert.is(isGlobalUnicast(text), false))

test.run()
