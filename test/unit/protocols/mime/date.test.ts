import * as assert from 'uvu/assert'
import { formatDate, parseDate, withoutComments } from '../../../../src/protocols/mime/date.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/date')

const VALID: [text: string, iso: string][] = [
  ['Wed, 25 Nov 2026 10:00:00 +0100', '2026-11-25T09:00:00Z'],
  ['25 Nov 2026 10:00 -0330', '2026-11-25T13:30:00Z'],
  ['Wed, 1 Jan 2025 00:00:00 -0000', '2025-01-01T00:00:00Z'],
  ['WED, 25 NOV 2026 10:00:00 +0000', '2026-11-25T10:00:00Z'],
  ['Wed, 25 Nov 2026 10:00:00 +0100 (CET)', '2026-11-25T09:00:00Z'],
  ['Wed (a), 25 (b (c) \\)) Nov 2026\t10 : 00 : 00 (d) +0100', '2026-11-25T09:00:00Z'],
  ['Thu, 29 Feb 2024 23:59:60 +0000', '2024-03-01T00:00:00Z'],
  ['25 Nov 26 10:00:00 GMT', '2026-11-25T10:00:00Z'],
  ['Fri, 21 Nov 97 09:55:06 -0600', '1997-11-21T15:55:06Z'],
  ['25 Nov 126 10:00:00 EDT', '2026-11-25T14:00:00Z'],
  ['Wed, 25 Nov 2026 10:00:00 pst', '2026-11-25T18:00:00Z'],
  ['Wed, 25 Nov 2026 10:00:00 Z', '2026-11-25T10:00:00Z'],
]
for (const [text, iso] of VALID)
  test(`date: ${text} is ${iso}`, () => assert.is(parseDate(text), Date.parse(iso)))

for (const text of [
  '',
  'yesterday',
  'now',
  'Mi, 25 Nov 2026 10:00:00 +0100',
  'mer., 25 nov. 2026 10:00:00 +0100',
  'Wed, 25 M\xe4r 2026 10:00:00 +0100',
  '2026-11-25T10:00:00Z',
  '2026-11-25 10:00:00',
  '1795600800',
  '25/11/2026 10:00:00 +0000',
  'Wed Nov 25 10:00:00 2026',
  'Nov 25, 2026 10:00 AM',
  'Wed, 25 Nov 2026 10:00:00',
  'Wed, 25 Nov 2026 10:00:00 CEST',
  'Wed, 25 Nov 2026 10:00:00 J',
  'Wed, 25 Nov 2026 10:00:00 +01:00',
  'Wed, 25 Nov 2026 10:00:00 +0160',
  'Wed, 25 Nov 2026 10:00:00+0100',
  'Wed, 25 Nov 2026 10:00:00 GMT+0100 (CET)',
  'Wed, 25 Nov 2026 9:00:00 +0100',
  'Wed, 25 Nov 2026 24:00:00 +0100',
  'Wed, 25 Nov 2026 10:60:00 +0100',
  'Wed, 25 Nov 2026 10:00:61 +0100',
  'Tue, 25 Nov 2026 10:00:00 +0100',
  'Wednesday, 25 Nov 2026 10:00:00 +0100',
  'Wed 25 Nov 2026 10:00:00 +0100',
  '30 Feb 2026 10:00:00 +0100',
  '0 Nov 2026 10:00:00 +0100',
  '25 Nov 0026 10:00:00 +0100',
  '25 Nov 2026 10:00:00 +0100 (CET',
  '25 Nov 2026 10:00:00 +0100 CET)',
  `25 Nov 2026 10:00:00 +0100 (${'x'.repeat(300)})`,
])
  test(`date: ${text.slice(0, 50)} is none`, () => assert.is(parseDate(text), undefined))

test('date: a formatted date is read again', () => {
  for (const at of [0, 951_782_400_000, 1_795_600_800_000]) assert.is(parseDate(formatDate(at)), at)
})

test('comments: hostile nesting takes linear time', () => {
  for (const piece of ['(', '\\(', '()'])
    assertLinear(piece, count => withoutComments(piece.repeat(count)), 125_000)
})

test.run()
