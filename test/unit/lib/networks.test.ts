import * as assert from 'uvu/assert'
import { isNetwork, networks } from '../../../src/lib/networks.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/networks')

for (const good of ['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:db8::/32'])
  test(`${good} is a network`, () => assert.ok(isNetwork(good)))

for (const bad of [
  '',
  'localhost',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0/8',
  '::/129',
  '::1/-1',
  'fe80::1%eth0',
])
  test(`"${bad}" is none`, () => assert.not(isNetwork(bad)))

const some = networks(['10.1.0.0/16', '192.0.2.7', '2001:db8::/32'])

for (const inside of ['10.1.2.3', '192.0.2.7', '::ffff:10.1.255.255', '2001:db8:1::1'])
  test(`${inside} is inside`, () => assert.ok(some.contains(inside)))

for (const outside of ['10.2.0.0', '192.0.2.8', '::ffff:10.2.0.1', '2001:db9::', '', 'unknown'])
  test(`"${outside}" is outside`, () => assert.not(some.contains(outside)))

test.run()
