import * as assert from 'uvu/assert'
import { inTurns } from '../../../../src/pipeline/inbound/in-turns.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/in-turns')

/** `a1` is the first message of network a. */
const ADDRESSES: Record<string, string | null> = {
  a: '192.0.2.',
  b: '198.51.100.',
  c: '2001:db8:1:100::',
  d: null,
}
const messages = (names: string) =>
  names
    .split(' ')
    .filter(name => name !== '')
    .map(name => {
      const network = ADDRESSES[name[0]!]!
      return { name, clientIp: network === null ? null : network + name.slice(1) }
    })
const turns = (waiting: string, inProgress = '') =>
  inTurns(messages(waiting), messages(inProgress))
    .map(({ name }) => name)
    .join(' ')

for (const [what, waiting, inProgress, expected] of [
  ['one network keeps its order', 'a1 a2 a3', '', 'a1 a2 a3'],
  ['networks take turns', 'a1 a2 a3 b1 b2 c1', '', 'a1 b1 c1 a2 b2 a3'],
  ['mail of this host is one network', 'd1 d2 a1 d3', '', 'd1 a1 d2 d3'],
  ['addresses of an IPv6 /56 are one network', 'c1 c2 a1', '', 'c1 a1 c2'],
  ['those in progress have had their turn', 'a3 a4 b1 b2 c2', 'a1 a2 c1', 'b1 b2 c2 a3 a4'],
  ['nothing waits', '', 'a1', ''],
] as const)
  test(`turns: ${what}`, () => assert.is(turns(waiting, inProgress), expected))

test.run()
