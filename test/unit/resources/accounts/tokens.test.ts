import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import {
  createCheckedToken,
  createToken,
  hashToken,
  isCheckedToken,
} from '../../../../src/resources/accounts/tokens.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/tokens')

test('token: prefix and 40 base62 characters', () => {
  for (const prefix of ['re_', 'phs_', ''])
    for (let i = 0; i < 50; i++) assert.match(createToken(prefix), new RegExp(`^${prefix}[0-9A-Za-z]{40}$`))
})

test('token: tokens are unique', () => {
  const tokens = Array.from({ length: 10_000 }, () => createToken(''))
  assert.is(new Set(tokens).size, tokens.length)
})

test('token: characters are uniformly distributed', () => {
  const tokens = Array.from({ length: 6_200 }, () => createToken(''))
  const counts = new Map<string, number>()
  for (const character of tokens.join('')) counts.set(character, (counts.get(character) ?? 0) + 1)
  assert.is(counts.size, 62)
  const expected = (tokens.length * 40) / 62
  const chiSquare = [...counts.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
  // 61 degrees of freedom: a fair source passes 140 once in some twenty million runs, bytes taken modulo 62
  // reach 2,000
  assert.ok(chiSquare < 140, `chi-square ${chiSquare}`)
  for (const place of [0, 19, 39]) assert.is(new Set(tokens.map(token => token[place])).size, 62)
})

test('checked token: prefix, 40 characters and six of the checksum', () => {
  for (let i = 0; i < 200; i++) {
    const token = createCheckedToken('mh_')
    assert.match(token, /^mh_[0-9A-Za-z]{46}$/)
    assert.ok(isCheckedToken(token))
  }
})

test('checked token: the checksum is the CRC-32 of the random part, in base62 with leading zeros', () => {
  for (const [random, checksum] of [
    ['0'.repeat(40), '2kaqcA'],
    ['ThisIsAnExampleTokenForTheDocumentation1', '1OMhdW'],
    // a CRC-32 of fewer digits
    [`${'0'.repeat(37)}752`, '002XC6'],
  ] as const)
    assert.ok(isCheckedToken(`mh_${random}${checksum}`), random)
})

test('checked token: a changed, missing or added character is noticed', () => {
  const token = createCheckedToken('mh_')
  const changed = (at: number) => {
    const other = token[at] === 'a' ? 'b' : 'a'
    return token.slice(0, at) + other + token.slice(at + 1)
  }
  for (let at = 3; at < token.length; at++) assert.not(isCheckedToken(changed(at)), `character ${at}`)
  for (const text of [
    ...['', 'mh_', token.slice(0, -1), `${token}0`, ` ${token}`, `${token}\n`, token.toLowerCase()],
    ...[
      token.slice(3),
      createToken('re_'),
      createToken('re_x'),
      `mh_${'x'.repeat(46)}`,
      `mh_${'é'.repeat(46)}`,
    ],
  ])
    assert.not(isCheckedToken(text), text)
})

test('token: the stored hash is SHA-256 of the whole token', () => {
  const token = createToken('re_')
  assert.equal(Buffer.from(hashToken(token)), createHash('sha256').update(token).digest())
  assert.is.not(
    Buffer.from(hashToken('re_a')).toString('hex'),
    Buffer.from(hashToken('re_b')).toString('hex'),
  )
})

test.run()
