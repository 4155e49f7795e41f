import * as assert from 'uvu/assert'
import { createIdSource } from '../../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { createRefToken, readRefToken, returnPath } from '../../../../src/protocols/smtp/verp.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('smtp/verp')
const keys = createSecretKeys(Buffer.alloc(32, 7))
const now = Date.UTC(2026, 10, 21, 13, 0)
const ref = { emailId: createIdSource()(now), ordinal: 49 }
const token = createRefToken(keys, 'verp', ref, now)

test('VERP: a token identifies its delivery and day', () => {
  assert.equal(readRefToken(keys, 'verp', token), { ...ref, madeAt: Date.UTC(2026, 10, 21) })
})

test('VERP: the local part has at most 64 octets and ignores case', () => {
  const path = returnPath(token, 'there.test')
  assert.match(path, /^b\+[a-z2-7]{45}@send\.there\.test$/)
  assert.ok(path.indexOf('@') <= 64)
  assert.ok(readRefToken(keys, 'verp', token.toUpperCase()))
})

test('VERP: an altered, cut or foreign token is refused', () => {
  for (let i = 0; i < token.length; i++) {
    const other = token[i] === 'a' ? 'b' : 'a'
    assert.is(readRefToken(keys, 'verp', token.slice(0, i) + other + token.slice(i + 1)), undefined)
  }
  for (const text of ['', 'x', token.slice(1), `${token}a`, token.replace(/./, '1'), 'é'.repeat(45)])
    assert.is(readRefToken(keys, 'verp', text), undefined)
  assert.is(readRefToken(createSecretKeys(Buffer.alloc(32, 8)), 'verp', token), undefined)
})

test('VERP: a token is valid for one purpose only', () => {
  assert.is(readRefToken(keys, 'correlation', token), undefined)
})

test.run()
