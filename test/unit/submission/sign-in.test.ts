import * as assert from 'uvu/assert'
import { wireId } from '../../../src/lib/ids.ts'
import { createSignIn } from '../../../src/submission/sign-in.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('submission/sign-in')

const id = new Uint8Array(16).fill(7)
const other = new Uint8Array(16).fill(8)
const accountId = new Uint8Array(16).fill(9)
const HERE = '192.0.2.1'

function open() {
  const clock = createManualClock()
  const asked: string[] = []
  const find = async (token: string) => {
    asked.push(token)
    return token === 're_good' ? { id, accountId, domain: 'here.example' } : undefined
  }
  return { signIn: createSignIn({ find } as Parameters<typeof createSignIn>[0], clock), clock, asked }
}

const sender = { accountId, apiKeyId: id, domain: 'here.example' }

for (const name of ['resend', 'posthorn', 'RESEND', wireId('key', id)])
  test(`an API key is the password of ${name}`, async () => {
    assert.equal(await open().signIn(HERE, name, 're_good'), { sender })
  })

for (const [what, name, password] of [
  ['another password', 'resend', 're_bad'],
  ['another name', 'ann', 're_good'],
  ['the id of another key', wireId('key', other), 're_good'],
  ['no name', '', 're_good'],
] as const)
  test(`${what} is wrong`, async () => {
    assert.is(await open().signIn(HERE, name, password), 'wrong')
  })

test('after five wrong ones an address is not heard for a minute, others are', async () => {
  const { signIn, clock, asked } = open()
  for (let i = 0; i < 5; i++) assert.is(await signIn(HERE, 'resend', `re_${i}`), 'wrong')
  assert.is(await signIn(HERE, 'resend', 're_good'), 'too-many')
  assert.is(asked.length, 5)
  assert.equal(await signIn('192.0.2.2', 'resend', 're_good'), { sender })
  await clock.advance(60_000)
  assert.equal(await signIn(HERE, 'resend', 're_good'), { sender })
})

test('a program with an old key does not stop those beside it whose key has been right', async () => {
  const { signIn } = open()
  await signIn(HERE, 'resend', 're_good')
  for (let i = 0; i < 8; i++) await signIn(HERE, 'resend', 're_old')
  assert.is(await signIn(HERE, 'resend', 're_old'), 'too-many')
  assert.equal(await signIn(HERE, 'resend', 're_good'), { sender })
})

test('a key that is named is not heard after five wrong ones, from wherever they come', async () => {
  const { signIn, clock, asked } = open()
  const name = wireId('key', id)
  await signIn('192.0.2.9', name, 're_good')
  for (let i = 0; i < 5; i++) assert.is(await signIn(`198.51.100.${i}`, name, 're_bad'), 'wrong')
  const askedBefore = asked.length
  assert.is(await signIn('198.51.100.77', name, 're_bad'), 'too-many')
  assert.is(asked.length, askedBefore)
  assert.equal(await signIn('192.0.2.9', name, 're_good'), { sender })
  assert.equal(await signIn('198.51.100.77', 'resend', 're_good'), { sender })
  await clock.advance(60_000)
  assert.equal(await signIn('198.51.100.78', name, 're_good'), { sender })
})

test.run()
