import { createDecipheriv, createHmac, hkdfSync } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createSecretKeys, equalBytes } from '../../../src/lib/secret-keys.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/secret-keys')
const keys = createSecretKeys(Buffer.alloc(32, 1))
const plain = Buffer.from('a private key')

test('secret keys: a sealed box opens in the same context only', () => {
  const box = keys.seal(plain, 'dkim:1')
  assert.equal(keys.open(box, 'dkim:1'), plain)
  assert.not(Buffer.from(box).includes(plain))
  assert.throws(() => keys.open(box, 'dkim:2'))
  assert.throws(() => createSecretKeys(Buffer.alloc(32, 2)).open(box, 'dkim:1'))
})

test('secret keys: an altered box does not open', () => {
  const box = keys.seal(plain, 'c')
  for (let i = 0; i < box.length; i++) {
    const altered = Buffer.from(box)
    altered[i]! ^= 1
    assert.throws(() => keys.open(altered, 'c'))
  }
})

test('secret keys: each purpose has a different key', () => {
  assert.not.equal(keys.mac('verp', 'm'), keys.mac('share', 'm'))
  assert.equal(keys.mac('verp', 'm'), createSecretKeys(Buffer.alloc(32, 1)).mac('verp', 'm'))
})

test('secret keys: a short secret is refused', () => {
  assert.throws(() => createSecretKeys(Buffer.alloc(15)), /at least 16 bytes/)
})

test('bytes of different lengths are unequal', () => {
  assert.is(equalBytes(Buffer.from('ab'), Buffer.from('ab')), true)
  assert.is(equalBytes(Buffer.from('ab'), Buffer.from('abc')), false)
})

test("a token's code is the HMAC of its purpose's key", () => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 1), 'mailhorn', 'mac/1/verp', 32))
  for (const message of ['', 'm', 'x'.repeat(1000)])
    assert.equal(keys.mac('verp', message), createHmac('sha256', key).update(message).digest())
})

test('secret keys: wrap is AES-256-CTR with the MAC as counter, over any number of blocks', () => {
  const key = Buffer.from(hkdfSync('sha256', Buffer.alloc(32, 1), 'mailhorn', 'wrap/1/unsubscribe', 32))
  for (const length of [0, 1, 15, 16, 17, 66, 16 * 300]) {
    const text = Buffer.alloc(length, 'a text ')
    const box = keys.wrap('unsubscribe', text)
    const opened = createDecipheriv('aes-256-ctr', key, box.subarray(0, 16)).update(box.subarray(16))
    assert.equal(opened, text)
    assert.equal(keys.wrap('unsubscribe', text), box)
    if (length > 0) assert.equal(keys.unwrap('unsubscribe', box), text)
  }
})

test('secret keys: wrapping a second text does not change the first result', () => {
  const texts = ['one', 'another one, which is longer']
  const boxes = texts.map(text => keys.wrap('unsubscribe', Buffer.from(text)))
  assert.equal(
    boxes.map(box => String(keys.unwrap('unsubscribe', box))),
    texts,
  )
})

test.run()
