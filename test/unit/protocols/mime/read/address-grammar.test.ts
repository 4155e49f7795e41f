import * as assert from 'uvu/assert'
import { isAddressList } from '../../../../../src/protocols/mime/read/address-grammar.ts'
import { addressesOf } from '../../../../../src/protocols/mime/read/addresses.ts'
import { readHead } from '../../../../../src/protocols/mime/read/head.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/read/address-grammar')

const LISTS = [
  'ann@x.example',
  'Ann <ann@x.example>',
  'J. R. Doe <ann@x.example>',
  '"Doe, Ann" <ann@x.example>',
  'ann@x.example (Cron Daemon)',
  '(Cron (the \\) Daemon)) ann@x.example',
  'ann . doe @ x . example',
  '"a b"@x.example',
  '"a@b".c@x.example',
  'ann@[192.0.2.1]',
  '<@r.example,@s.example:ann@x.example>',
  ', Ann <ann@x.example>,, bob@x.example,',
  'Team: ann@x.example, Bob <bob@x.example>;, eve@x.example',
  '=?utf-8?q?Ann?= =?utf-8?q?_Doe?= <ann@x.example>',
  'J\xc3\xbcrgen <j\xc3\xbcrgen@d\xc3\xb6rfer.example>',
  'ann@x.example <ann@x.example>',
]
for (const value of LISTS) test(`an address list: ${value}`, () => assert.ok(isAddressList(value)))

const OTHERS = [
  '',
  ' ',
  ',',
  'ann',
  'Doe, Ann <ann@x.example>',
  'bob@y.example <ann@x.example>',
  'ann@x.example bob@y.example',
  '<ann@x.example> <bob@y.example>',
  '<ann@x.example',
  'ann@x.example>',
  'Ann <<ann@x.example>>',
  '"Ann <ann@x.example>',
  'Ann (<ann@x.example>',
  'Ann [of X] <ann@x.example>',
  'ann@x.example@y.example',
  'ann.@x.example',
  'a..b@x.example',
  'ann@x..example',
  'ann@x.example.',
  'mailto:ann@x.example',
  'Team: ann@x.example',
  'Team: Sub: ann@x.example;;',
  'undisclosed-recipients:;',
  'ann\\@x.example',
  'ann@x.example\0',
  '=?utf-8?q?bob?=@y.example <ann@x.example>',
]
for (const value of OTHERS) test(`not an address list: ${value}`, () => assert.not(isAddressList(value)))

test('a list of 16 KB in any form is read in one pass', () => {
  for (const piece of [',', ';', '(', '((a)', '"', '"a"', '.', 'a.', 'a:', '<', '@a,', 'a@b,', '<@a,'])
    isAddressList(piece.repeat(16_384 / piece.length))
})

test('the reader of received mail finds an address in every list that names any', () => {
  const token = fc.constantFrom(
    ...[
      'ann',
      'x.example',
      'y.example',
      'ann@x.example',
      '"ann"@y.example',
      '"bob@y.example"',
      '(c)',
      '(b@y.example)',
    ],
    ...['<', '>', '<ann@x.example>', ',', ';', ':', '@', '.', ' ', 'Team:', '[192.0.2.1]'],
  )
  let lists = 0
  fc.assert(
    fc.property(
      fc.array(token, { minLength: 1, maxLength: 6 }).map(list => list.join('')),
      value => {
        if (!isAddressList(value)) return
        lists += 1
        const { head } = readHead(Buffer.from(`From: ${value}\r\n\r\n`, 'latin1'))
        const addresses = addressesOf(head, 'from')
        assert.ok(addresses.length > 0 && addresses.every(({ address }) => address.includes('@')), value)
      },
    ),
    { numRuns: 20_000 },
  )
  assert.ok(lists > 500, `${lists} lists`)
})

test('a display name has no spaces around it, also if they are encoded', () => {
  const { head } = readHead(Buffer.from('From: =?utf-8?q?_Ann__Doe_?= <ann@x.example>\r\n\r\n'))
  assert.equal(addressesOf(head, 'from'), [{ name: 'Ann Doe', address: 'ann@x.example' }])
})

test.run()
