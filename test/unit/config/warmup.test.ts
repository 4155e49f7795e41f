import * as assert from 'uvu/assert'
import { warmupCaps, warmupStarts } from '../../../src/config/warmup.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/warmup')
const { read: readStarts } = warmupStarts('Starts.')
const { read: readCaps, fallback } = warmupCaps('Caps.')

test('warm-up: addresses have the date of their first day', () => {
  assert.equal(readStarts('192.0.2.2=2026-11-20, 2001:DB8::1=2026-12-01,'), [
    { address: '192.0.2.2', start: Date.UTC(2026, 10, 20) },
    { address: '2001:db8::1', start: Date.UTC(2026, 11, 1) },
  ])
  assert.equal(readStarts([]), [])
})

test('warm-up: caps are a list of numbers', () => {
  assert.equal(readCaps('20,40,100'), [20, 40, 100])
  assert.equal(readCaps([5]), [5])
})

test('warm-up: the default caps start at 50, at most double, and end after four weeks', () => {
  assert.is(fallback.length, 28)
  assert.is(fallback[0], 50)
  for (const [i, cap] of fallback.entries())
    if (i > 0) assert.ok(cap > fallback[i - 1]! && cap <= 2 * fallback[i - 1]!, `day ${i + 1}: ${cap}`)
})

for (const [raw, fault] of [
  ['mail1.example.com=2026-11-20', 'not address=date'],
  ['192.0.2.2', 'whose date is not valid'],
  ['192.0.2.2=', 'whose date is not valid'],
  ['192.0.2.2=2026-02-30', 'whose date is not valid'],
  ['192.0.2.2=20.11.2026', 'whose date is not valid'],
  ['192.0.2.2=2026-11-20=50', 'not address=date'],
  ['192.0.2.2=2026-11-20,192.0.2.2=2026-11-21', 'contains 192.0.2.2 twice'],
] as const)
  test(`refuses the start ${raw}: ${fault}`, () => {
    assert.throws(() => readStarts(raw), new RegExp(fault))
  })

for (const [raw, fault] of [
  ['', 'at least one number'],
  ['50,many', 'must be an integer'],
  ['50,0', 'between 1 and'],
] as const)
  test(`refuses the numbers "${raw}": ${fault}`, () => {
    assert.throws(() => readCaps(raw), new RegExp(fault))
  })

test.run()
