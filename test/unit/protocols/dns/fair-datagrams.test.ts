import * as assert from 'uvu/assert'
import { FairDatagrams } from '../../../../src/protocols/dns/listener-udp.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/fair-datagrams')
const ROOM = 200

/** Adds until there is no room. @returns the number of datagrams taken */
function flood(datagrams: FairDatagrams<string>, network: string, max = 10 * ROOM): number {
  let count = 0
  while (count < max && datagrams.add(network, `${network} ${count}`)) count++
  return count
}

for (const networks of [1, 2, 80])
  test(`${networks} networks that send ten times the room have a bounded number waiting, and others none dropped`, () => {
    const datagrams = new FairDatagrams<string>(ROOM)
    for (let i = 0; i < networks; i++) flood(datagrams, `192.0.2.${i}`)
    assert.ok(datagrams.size <= ROOM * (1 + Math.log(networks)) + networks, `${datagrams.size} wait`)
    assert.ok(datagrams.add('198.51.100.1', 'honest'))
  })

test('forged addresses without number fill the room, and no more', () => {
  const datagrams = new FairDatagrams<string>(ROOM)
  for (let i = 0; i < 20 * ROOM; i++) datagrams.add(`forged ${i}`, 'x')
  assert.is(datagrams.size, 10 * ROOM)
})

test('networks take turns, and one network is served in order', () => {
  const datagrams = new FairDatagrams<string>(ROOM)
  for (const [network, count] of [
    ['a', 3],
    ['b', 1],
    ['c', 2],
  ] as const)
    for (let i = 0; i < count; i++) datagrams.add(network, `${network}${i}`)
  const order = Array.from({ length: 7 }, () => datagrams.next())
  assert.equal(order, ['a0', 'b0', 'c0', 'a1', 'c1', 'a2', undefined])
})

test('the datagram of another network waits for one datagram of each flooding network', () => {
  const datagrams = new FairDatagrams<string>(ROOM)
  for (let i = 0; i < 80; i++) flood(datagrams, `192.0.2.${i}`)
  datagrams.add('198.51.100.1', 'honest')
  const order = Array.from({ length: 82 }, () => datagrams.next())
  assert.is(order.indexOf('honest'), 80)
})

test('a network whose datagrams never run out is served for ever within the room', () => {
  const datagrams = new FairDatagrams<number>(10)
  datagrams.add('a', 0)
  for (let i = 1; i < 10_000; i++) {
    datagrams.add('a', i)
    assert.is(datagrams.next(), i - 1)
  }
})

test.run()
