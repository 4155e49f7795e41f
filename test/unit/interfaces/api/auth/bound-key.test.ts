import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import {
  boundDomain,
  mayTouch,
  requireWholeAccount,
} from '../../../../../src/interfaces/api/auth/bound-key.ts'
import type { Credential } from '../../../../../src/interfaces/api/route/route.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('http: keys bound to a domain')
const id = new Uint8Array(16)
const key = (domain: string | null): Credential => ({ kind: 'key', accountId: id, apiKeyId: id, domain })
const session = { kind: 'session', accountId: id } as Credential
const token = { kind: 'token', accountId: id, tokenId: id } as Credential
const from = (address: string) => ({ sender: JSON.stringify([{ name: 'Ann', address }]) })

test('bound key: sessions, tokens and other keys are not restricted', () => {
  for (const credential of [session, token, key(null)]) {
    assert.is(boundDomain(credential), null)
    assert.ok(mayTouch(credential, from('ann@any.example')))
    requireWholeAccount(credential)
  }
})

test('bound key: it accesses mail of its domain only', () => {
  const credential = key('shop.example')
  assert.is(boundDomain(credential), 'shop.example')
  assert.ok(mayTouch(credential, from('ann@shop.example')))
  for (const address of ['ann@sub.shop.example', 'ann@blog.example', 'shop.example@blog.example'])
    assert.not(mayTouch(credential, from(address)))
})

test('bound key: it cannot change data of the whole account', () => {
  try {
    requireWholeAccount(key('shop.example'))
    assert.unreachable()
  } catch (error) {
    assert.ok(error instanceof ApiError)
    assert.equal([error.status, error.errorName], [403, 'invalid_access'])
    assert.match(error.message, /shop\.example/)
  }
})

test.run()
