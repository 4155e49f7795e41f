import * as assert from 'uvu/assert'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { TARGET_LENGTH_MAX } from '../../../../src/pipeline/tracking/find-links.ts'
import {
  createClickToken,
  createOpenToken,
  createViewToken,
  readClickToken,
  readOpenToken,
  readViewToken,
  tokenOf,
} from '../../../../src/pipeline/tracking/tokens.ts'
import {
  createMailToken,
  createUnsubscribeToken,
  readMailToken,
  readUnsubscribeToken,
} from '../../../../src/pipeline/tracking/unsubscribe-token.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('tracking/tokens')
const keys = createSecretKeys(Buffer.alloc(32, 7))
const others = createSecretKeys(Buffer.alloc(32, 8))
const id = (byte: number) => new Uint8Array(16).fill(byte)
const recipient = { accountId: id(1), emailId: id(2), ordinal: 49 }
const link = { number: 3, target: 'https://shop.example/?q=1#top' }
const subscription = { accountId: id(1), address: 'ann@there.test', topicId: id(4), broadcastId: id(5) }

const anyId = fc.uint8Array({ minLength: 16, maxLength: 16 })
const PLAIN = { noNullPrototype: true }
const anyRecipient = fc.record({ accountId: anyId, emailId: anyId, ordinal: fc.nat(255) }, PLAIN)
const anyTarget = fc
  .string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map(code => String.fromCharCode(code)),
    maxLength: 300,
  })
  .map(path => `https://x.example/${path}`)

test('tokens: a token decodes to the values it was made of', () => {
  fc.assert(
    fc.property(anyRecipient, fc.option(fc.nat(65_534)), anyTarget, (who, number, target) => {
      assert.equal(readOpenToken(keys, createOpenToken(keys, who)), who)
      const token = createClickToken(keys, who, { number, target })
      assert.match(token, /^[\w-]+$/)
      assert.equal(readClickToken(keys, token), { recipient: who, number, target })
      const { emailId, ordinal } = who
      assert.equal(readMailToken(keys, createMailToken(keys, who)), { emailId, ordinal })
    }),
  )
  const maybeId = fc.option(anyId)
  const address = fc.emailAddress()
  const senderDomain = fc.domain()
  fc.assert(
    fc.property(
      fc.record(
        { accountId: anyId, address, topicId: maybeId, broadcastId: maybeId, senderDomain },
        { ...PLAIN, requiredKeys: ['accountId', 'address', 'topicId', 'broadcastId'] },
      ),
      leaving => {
        const token = createUnsubscribeToken(keys, leaving)
        assert.match(token, /^[\w-]+$/)
        assert.equal(readUnsubscribeToken(keys, token), leaving)
        assert.is(createUnsubscribeToken(keys, leaving), token)
      },
    ),
  )
})

test('tokens: what follows a token in a copied link is cut off', () => {
  const token = createUnsubscribeToken(keys, subscription)
  for (const rest of [
    '',
    '.',
    '>',
    ')',
    ' ',
    '%20',
    '\u00a0',
    ']',
    '"',
    "'",
    ',',
    ';',
    '*',
    '&gt;',
    '/',
    '\n',
    '.)>',
  ])
    assert.is(tokenOf(token + rest), token)
  assert.is(tokenOf(`<${token}`), '')
  assert.is(tokenOf(''), '')
  for (const rest of ['\0', '.\0', '\0.']) assert.is(tokenOf(token + rest), token + rest)
})

test('tokens: the longest link has a token', () => {
  const target = `https://x.example/${'y'.repeat(TARGET_LENGTH_MAX - 18)}`
  assert.is(target.length, TARGET_LENGTH_MAX)
  const token = createClickToken(keys, recipient, { number: 0, target })
  assert.is(readClickToken(keys, token)?.target, target)
})

test('tokens: the address cannot be read from an unsubscribe link', () => {
  const token = createUnsubscribeToken(keys, subscription)
  assert.not.match(Buffer.from(token, 'base64url').toString('latin1'), /ann|there/)
})

test('tokens: the mailto address fits into 64 octets and ignores case', () => {
  const token = createMailToken(keys, recipient)
  assert.match(token, /^[a-z2-7]{55}$/)
  assert.ok(`u+${token}`.length <= 64)
  assert.ok(readMailToken(keys, token.toUpperCase()))
})

const kinds = [
  { kind: 'open', token: createOpenToken(keys, recipient), read: readOpenToken },
  { kind: 'click', token: createClickToken(keys, recipient, link), read: readClickToken },
  { kind: 'view', token: createViewToken(keys, recipient), read: readViewToken },
  { kind: 'unsubscribe', token: createUnsubscribeToken(keys, subscription), read: readUnsubscribeToken },
  { kind: 'mail', token: createMailToken(keys, recipient), read: readMailToken },
]

for (const { kind, token, read } of kinds) {
  test(`tokens: ${kind}: an altered, truncated, extended or foreign token is refused`, () => {
    assert.ok(read(keys, token))
    assert.is(read(others, token), undefined)
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'a' ? 'b' : 'a'
      assert.is(read(keys, token.slice(0, at) + other + token.slice(at + 1)), undefined, `at ${at}`)
      assert.is(read(keys, token.slice(0, at)), undefined, `cut at ${at}`)
    }
    for (const text of [
      `${token}a`,
      `${token}=`,
      `a${token}`,
      ` ${token}`,
      'é'.repeat(55),
      'a'.repeat(100_000),
    ])
      assert.is(read(keys, text), undefined)
  })

  test(`tokens: ${kind}: random text is refused`, () => {
    fc.assert(fc.property(fc.string(), text => assert.is(read(keys, text), undefined)))
  })

  test(`tokens: ${kind}: a token is refused for any other purpose`, () => {
    for (const other of kinds) if (other.kind !== kind) assert.is(other.read(keys, token), undefined)
  })
}

test('tokens: wrapped: an altered text or another purpose is refused', () => {
  const box = keys.wrap('unsubscribe', Buffer.from('ann@there.test'))
  assert.equal(keys.unwrap('unsubscribe', box)?.toString(), 'ann@there.test')
  assert.is(keys.unwrap('tracking', box), undefined)
  for (let at = 0; at < box.length; at++) {
    const altered = Buffer.from(box)
    altered[at]! ^= 1
    assert.is(keys.unwrap('unsubscribe', altered), undefined)
  }
  assert.is(keys.unwrap('unsubscribe', box.subarray(0, 16)), undefined)
})

test.run()
