import * as assert from 'uvu/assert'
import { createSourceIps, inOrderOf } from '../../../../src/pipeline/delivery/shaping/source-ips.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('source addresses')
const HOUR_MS = 3_600_000

const IDS = Array.from({ length: 3_000 }, (_, i) => newId(i + 1))
const NUMBERS = IDS.map((_, i) => i)

function open(...addresses: string[]) {
  const clock = createManualClock()
  const sourceIps = createSourceIps(
    addresses.map(address => ({ address, name: null })),
    clock,
  )
  const candidates = sourceIps.sources.map(source => ({ source }))
  /** The source that an email takes where nothing keeps it from there. */
  const of = (number: number, domain = 'there.test') => {
    const preferred = inOrderOf(IDS[number]!, candidates)
    return (preferred.find(({ source }) => sourceIps.isUsable(source, domain)) ?? preferred[0]!).source.name
  }
  return { clock, sourceIps, of }
}

test('an email keeps its address, and emails are spread evenly', () => {
  const { of } = open('192.0.2.1', '192.0.2.2', '192.0.2.3')
  const counts = new Map<string, number>()
  for (const number of NUMBERS) {
    const address = of(number)
    assert.is(of(number, 'elsewhere.test'), address)
    counts.set(address, (counts.get(address) ?? 0) + 1)
  }
  assert.equal([...counts.keys()].sort(), ['192.0.2.1', '192.0.2.2', '192.0.2.3'])
  for (const [address, count] of counts) assert.ok(count > 800 && count < 1_200, `${address} has ${count}`)
})

const sourcesOf = (...addresses: string[]) => open(...addresses).sourceIps.sources.map(({ name }) => name)

test('a source has one address of each family; none when the operating system chooses', () => {
  assert.equal(sourcesOf(), [''])
  assert.equal(sourcesOf('2001:db8::1'), ['2001:db8::1'])
  assert.equal(sourcesOf('192.0.2.1', '2001:db8::1'), ['192.0.2.1 2001:db8::1'])
})

test('there are as many sources as the larger family has addresses', () => {
  assert.equal(sourcesOf('192.0.2.1', '2001:db8::1', '192.0.2.2', '192.0.2.3', '2001:db8::2'), [
    '192.0.2.1 2001:db8::1',
    '192.0.2.2 2001:db8::2',
    '192.0.2.3 2001:db8::1',
  ])
})

test('a source is unusable if one of its addresses is', () => {
  const { sourceIps } = open('192.0.2.1', '2001:db8::1', '192.0.2.2', '2001:db8::2')
  assert.is(sourceIps.coolOff('2001:db8::2', 'there.test'), true)
  assert.equal(
    sourceIps.sources.map(source => sourceIps.isUsable(source, 'there.test')),
    [true, false],
  )
})

test('an unusable address is excluded for that domain for an hour; other emails keep theirs', () => {
  const { of, sourceIps, clock } = open('192.0.2.1', '192.0.2.2', '192.0.2.3')
  const before = NUMBERS.map(number => of(number))
  assert.is(sourceIps.coolOff('192.0.2.1', 'there.test'), true)
  const during = NUMBERS.map(number => of(number))
  for (const [i, address] of before.entries())
    if (address === '192.0.2.1') assert.is.not(during[i], address)
    else assert.is(during[i], address)
  assert.equal(
    NUMBERS.map(number => of(number, 'elsewhere.test')),
    before,
  )
  clock.advance(HOUR_MS)
  assert.equal(
    NUMBERS.map(number => of(number)),
    before,
  )
})

test('when all addresses of a family are excluded, emails keep their preferred ones', () => {
  const { of, sourceIps } = open('192.0.2.1', '192.0.2.2', '2001:db8::1')
  const before = NUMBERS.map(number => of(number))
  assert.is(sourceIps.coolOff('192.0.2.1', 'there.test'), true)
  assert.is(sourceIps.coolOff('192.0.2.2', 'there.test'), false)
  assert.is(sourceIps.coolOff('2001:db8::1', 'there.test'), false)
  assert.is(sourceIps.coolOff('192.0.2.9', 'there.test'), false)
  assert.equal(
    NUMBERS.map(number => of(number)),
    before,
  )
})

test.run()
