import * as assert from 'uvu/assert'
import { parseIsoTime } from '../../../src/lib/iso-time.ts'
import { fc } from '../../kit/property.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/iso-time')

for (const [text, same] of [
  ['2026-08-05T11:52:01.000Z', '2026-08-05T11:52:01.000Z'],
  ['2026-08-05T11:52:01Z', '2026-08-05T11:52:01.000Z'],
  ['2026-08-05T11:52Z', '2026-08-05T11:52:00.000Z'],
  ['2026-08-05T11:52:01.5Z', '2026-08-05T11:52:01.500Z'],
  ['2026-08-05T11:52:01,5Z', '2026-08-05T11:52:01.500Z'],
  ['2026-08-05T11:52:01.123456+00:00', '2026-08-05T11:52:01.123Z'],
  ['2026-08-05T11:52:01.999999999Z', '2026-08-05T11:52:01.999Z'],
  ['2026-08-05T11:52:01+02:00', '2026-08-05T09:52:01.000Z'],
  ['2026-08-05T11:52:01-0330', '2026-08-05T15:22:01.000Z'],
  ['2026-01-01T00:30:00+01', '2025-12-31T23:30:00.000Z'],
  ['2028-02-29T00:00:00-00:00', '2028-02-29T00:00:00.000Z'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
] as const)
  test(`${text} is ${same}`, () => {
    assert.is(new Date(parseIsoTime(text)!).toISOString(), same)
  })

for (const text of [
  '',
  'tomorrow at 9am',
  'in 1 hour',
  '2026-08-05',
  '2026-08-05T11:52:01',
  '2026-08-05T11:52:01.000',
  '2026-08-05 11:52:01Z',
  '20260805T115201Z',
  '2026-8-5T11:52:01Z',
  '2026-02-29T00:00:00Z',
  '2026-04-31T00:00:00Z',
  '2026-00-10T00:00:00Z',
  '2026-13-10T00:00:00Z',
  '2026-08-00T00:00:00Z',
  '2026-08-05T24:00:00Z',
  '2026-08-05T11:60:00Z',
  '2026-08-05T11:52:60Z',
  '2026-08-05T11Z',
  '2026-08-05T11:52:01+24:00',
  '2026-08-05T11:52:01+02:60',
  '2026-08-05T11:52:01 UTC',
  '2026-08-05T11:52:01ZZ',
  ' 2026-08-05T11:52:01Z',
  '2026-08-05T11:52:01Z\n',
  '+002026-08-05T11:52:01Z',
  '1785930721000',
  'Wed, 05 Aug 2026 11:52:01 GMT',
])
  test(`${JSON.stringify(text)} is no time`, () => {
    assert.is(parseIsoTime(text), undefined)
  })

test('what Date writes is read as what it was', () => {
  const years = { min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z') }
  fc.assert(
    fc.property(fc.date({ ...years, noInvalidDate: true }), date => {
      assert.is(parseIsoTime(date.toISOString()), date.getTime())
    }),
  )
})

test.run()
