import * as assert from 'uvu/assert'
import { clientNetworkOf, netblockOf, siteNetworkOf } from '../../../../src/protocols/dns/netblock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/netblock')

const SAME: [string, string][] = [
  ['192.0.2.1', '192.0.2.254'],
  ['2001:db8:1:200::1', '2001:db8:1:2ff:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:db8:0:00ff::'],
  ['2001:DB8::1', '2001:db8::2'],
  ['::1', '::ffff:0:1'],
  ['fe80::1%eth0', 'fe80::2%eth1'],
  ['::ffff:192.0.2.1', '192.0.2.9'],
  ['1:2:3:4:5:6:7:8', '1:2:3:4::'],
  ['1:2:3::8', '1:2:3:0:5:6:7:8'],
  ['64:ff9b::192.0.2.1', '64:ff9b::203.0.113.1'],
]
const APART: [string, string][] = [
  ['192.0.2.1', '192.0.3.1'],
  ['2001:db8:1:200::1', '2001:db8:1:300::1'],
  ['2001:db8:1::', '2001:db8:2::'],
  ['1:23:4::', '12:3:4::'],
  ['::1', '192.0.2.1'],
  ['1.2.3.4', '12.3.4.5'],
]

for (const [one, other] of SAME)
  test(`netblock: ${one} and ${other} are in one network`, () =>
    assert.is(netblockOf(one), netblockOf(other)))

for (const [one, other] of APART)
  test(`netblock: ${one} and ${other} are in different networks`, () =>
    assert.is.not(netblockOf(one), netblockOf(other)))

const ONE_CLIENT: [string, string][] = [
  ['192.0.2.1', '::ffff:192.0.2.1'],
  ['2001:db8:1:200::1', '2001:db8:1:2ff:5:6:7:8'],
]
const TWO_CLIENTS: [string, string][] = [
  ['192.0.2.1', '192.0.2.2'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
  ['2001:db8:1:200::1', '2001:db8:1:300::1'],
]

for (const [one, other] of ONE_CLIENT)
  test(`client limits count ${one} and ${other} together`, () =>
    assert.is(clientNetworkOf(one), clientNetworkOf(other)))

for (const [one, other] of TWO_CLIENTS)
  test(`client limits count ${one} and ${other} apart`, () =>
    assert.is.not(clientNetworkOf(one), clientNetworkOf(other)))

test('netblock: an IPv6 site is a /48 with a text unlike any client network', () => {
  const site = siteNetworkOf('2001:db8:1:200::1')
  assert.is(siteNetworkOf('2001:0DB8:1:ff00:5::'), site)
  assert.is.not(siteNetworkOf('2001:db8:2:200::1'), site)
  assert.is.not(clientNetworkOf('2001:db8:1::1'), site)
})

test('netblock: an IPv4 address has no IPv6 site, mapped or not', () => {
  assert.is(siteNetworkOf('192.0.2.1'), undefined)
  assert.is(siteNetworkOf('::ffff:192.0.2.1'), undefined)
})

test.run()
