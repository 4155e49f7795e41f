import * as assert from 'uvu/assert'
import { createConnectionLimit } from '../../../../src/pipeline/inbound/connections.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/connections')

function setUp(terms: { perNetworkMax?: number; newPerMinute?: number }) {
  const clock = createManualClock()
  const limit = createConnectionLimit({ perNetworkMax: 1_000, newPerMinute: 0, ...terms }, clock)
  const open = (address: string) => ({
    told: limit.enter(address) ?? 'taken',
    close: () => limit.leave(address),
  })
  return { clock, open }
}

test('connection limit: open connections are limited per address', () => {
  const { open } = setUp({ perNetworkMax: 2 })
  const [first] = [open('192.0.2.1'), open('192.0.2.1')]
  assert.match(open('192.0.2.1').told, /Too many connections/)
  assert.is(open('192.0.2.2').told, 'taken')
  first.close()
  assert.is(open('192.0.2.1').told, 'taken')
})

test('connection limit: at most 50,000 networks are counted, and the first are forgotten first', () => {
  const { open } = setUp({ newPerMinute: 1 })
  const network = (i: number) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`
  for (const count of [49_999, 60_000]) {
    open('192.0.2.1').close()
    assert.match(open('192.0.2.1').told, /Too many new/)
    for (let i = 0; i < count; i++) open(network(i)).close()
    const { told } = open('192.0.2.1')
    assert.is(told === 'taken', count > 50_000)
  }
})

test('connection limit: a refused connection is not counted', () => {
  const { open } = setUp({ perNetworkMax: 1 })
  const first = open('192.0.2.1')
  assert.match(open('192.0.2.1').told, /Too many connections/)
  first.close()
  assert.is(open('192.0.2.1').told, 'taken')
})

test('connection limit: the addresses of one IPv6 site count together', () => {
  const { open } = setUp({ perNetworkMax: 1 })
  open('2001:db8:0:1::1')
  assert.match(open('2001:db8:0:2::7').told, /Too many connections/)
  assert.is(open('2001:db8:1:1::1').told, 'taken')
})

test('connection limit: new connections per minute count even when they are closed', () => {
  const { clock, open } = setUp({ newPerMinute: 3 })
  for (let i = 0; i < 3; i++) {
    const { told, close } = open('192.0.2.1')
    assert.is(told, 'taken')
    close()
  }
  assert.match(open('192.0.2.1').told, /Too many new connections/)
  assert.is(open('192.0.2.2').told, 'taken')
  clock.advance(60_000)
  assert.is(open('192.0.2.1').told, 'taken')
})

test('connection limit: loopback is exempt from the rate, not from the number of open connections', () => {
  for (const place of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
    const { open } = setUp({ newPerMinute: 1, perNetworkMax: 2 })
    for (let i = 0; i < 10; i++) {
      const { told, close } = open(place)
      assert.is(told, 'taken')
      close()
    }
    open(place)
    open(place)
    assert.match(open(place).told, /Too many connections/)
  }
})

test.run()
