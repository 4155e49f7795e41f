import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createToken, hashToken } from '../../../../src/resources/accounts/tokens.ts'
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
  // 61 degrees of freedom: a fair source passes 140 once in some twenty million runs, bytes taken modulo 62 reach 2,000
  assert.ok(chiSquare < 140, `chi-square ${chiSquare}`)
  for (const place of [0, 19, 39]) assert.is(new Set(tokens.map(token => token[place])).size, 62)
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
