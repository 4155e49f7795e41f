import { scryptSync } from 'node:crypto'
import * as assert from 'uvu/assert'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { createPasswords } from '../../../../src/resources/accounts/password.ts'
import { quickPasswords } from '../../../kit/quick-passwords.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/password')

test('password: only the right password verifies', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('correct horse')
  assert.is(await passwords.verify('correct horse', stored), true)
  for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors', stored])
    assert.is(await passwords.verify(wrong, stored), false)
})

test('password: the stored hash has its parameters and a salt', async () => {
  const passwords = createPasswords()
  const [one, other] = [await passwords.hash('same'), await passwords.hash('same')]
  assert.match(one, /^scrypt\$32768\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/)
  assert.is.not(one, other)
})

test('password: a hash with former parameters verifies', async () => {
  const salt = Buffer.alloc(16, 7)
  const hash = scryptSync('old password', salt, 32, { N: 1024, r: 8, p: 1 })
  const stored = `scrypt$1024$8$1$${salt.toString('base64')}$${hash.toString('base64')}`
  assert.is(await createPasswords().verify('old password', stored), true)
  assert.is(await createPasswords().verify('other password', stored), false)
})

test('password: a hash with higher cost verifies', async () => {
  const stored = await createPasswords().hash('old password')
  const quick = createPasswords({ N: 1024, r: 8, p: 2 })
  assert.match(await quick.hash('new password'), /^scrypt\$1024\$8\$2\$/)
  assert.is(await quick.verify('new password', await quick.hash('new password')), true)
  assert.is(await quick.verify('old password', stored), true)
})

test('password: Unicode is normalized', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('Gr\u00fc\u00dfe')
  assert.is(await passwords.verify('Gru\u0308\u00dfe', stored), true)
})

test('password: without a user the same work is done', async () => {
  assert.is(await createPasswords().verify('anything', undefined), false)
  assert.is(await createPasswords().verify('', undefined), false)
})

test('password: a damaged hash is an error', async () => {
  for (const stored of ['', 'plain text', 'bcrypt$1$2$3$4$5', 'scrypt$32768$8$1$c2FsdA=='])
    await createPasswords()
      .verify('x', stored)
      .then(
        () => assert.unreachable(stored),
        error => assert.match(error.message, /damaged/),
      )
})

test('password: two hashes run, 32 wait, more are refused', async () => {
  const passwords = quickPasswords()
  const verifying = Array.from({ length: 40 }, () => passwords.verify('x', undefined))
  const results = await Promise.allSettled(verifying)
  assert.is(results.filter(({ status }) => status === 'fulfilled').length, 34)
  for (const result of results.slice(34)) {
    assert.is(result.status, 'rejected')
    if (result.status === 'rejected') assert.instance(result.reason, TooManyWaiting)
  }
  assert.is(await passwords.verify('x', undefined), false)
})

test.run()
