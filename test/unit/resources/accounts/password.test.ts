import { scryptSync } from 'node:crypto'
import * as assert from 'uvu/assert'
import { TooManyWaiting } from '../../../../src/lib/semaphore.ts'
import { createPasswords } from '../../../../src/resources/accounts/password.ts'
import { quickPasswords } from '../../../kit/quick-passwords.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accounts/password')

test('a password verifies against its own hash, and no other does', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('correct horse')
  assert.is(await passwords.verify('correct horse', stored), true)
  for (const wrong of ['correct horse ', 'Correct horse', '', 'correct hors', stored])
    assert.is(await passwords.verify(wrong, stored), false)
})

test('the stored text names its parameters and has a salt of its own', async () => {
  const passwords = createPasswords()
  const [one, other] = [await passwords.hash('same'), await passwords.hash('same')]
  assert.match(one, /^scrypt\$32768\$8\$1\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/)
  assert.is.not(one, other)
})

test('a hash made with former parameters still verifies', async () => {
  const salt = Buffer.alloc(16, 7)
  const hash = scryptSync('old password', salt, 32, { N: 1024, r: 8, p: 1 })
  const stored = `scrypt$1024$8$1$${salt.toString('base64')}$${hash.toString('base64')}`
  assert.is(await createPasswords().verify('old password', stored), true)
  assert.is(await createPasswords().verify('other password', stored), false)
})

test('where new ones cost less, those that cost more still verify', async () => {
  const stored = await createPasswords().hash('old password')
  const quick = createPasswords({ N: 1024, r: 8, p: 2 })
  assert.match(await quick.hash('new password'), /^scrypt\$1024\$8\$2\$/)
  assert.is(await quick.verify('new password', await quick.hash('new password')), true)
  assert.is(await quick.verify('old password', stored), true)
})

test('the same characters typed in another composition are the same password', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('Gr\u00fc\u00dfe')
  assert.is(await passwords.verify('Gru\u0308\u00dfe', stored), true)
})

test('where there is no user the answer is no, after the same work', async () => {
  assert.is(await createPasswords().verify('anything', undefined), false)
  assert.is(await createPasswords().verify('', undefined), false)
})

test('a damaged hash is an error, not a wrong password', async () => {
  for (const stored of ['', 'plain text', 'bcrypt$1$2$3$4$5', 'scrypt$32768$8$1$c2FsdA=='])
    await createPasswords()
      .verify('x', stored)
      .then(
        () => assert.unreachable(stored),
        error => assert.match(error.message, /damaged/),
      )
})

test('two are worked on at a time and 32 may wait; more are turned away at once', async () => {
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
