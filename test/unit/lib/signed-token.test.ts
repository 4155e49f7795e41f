/** Tokens are in links and addresses of mail that was sent, so they are the same in every version. */
import * as assert from 'uvu/assert'
import { createDownloadToken, readDownloadToken } from '../../../src/interfaces/api/downloads/token.ts'
import { createSecretKeys } from '../../../src/lib/secret-keys.ts'
import {
  createClickToken,
  createOpenToken,
  readClickToken,
  readOpenToken,
} from '../../../src/pipeline/tracking/tokens.ts'
import {
  createMailToken,
  createUnsubscribeToken,
  readMailToken,
  readUnsubscribeToken,
} from '../../../src/pipeline/tracking/unsubscribe-token.ts'
import { createRefToken, readRefToken } from '../../../src/protocols/smtp/verp.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/signed-token')
const keys = createSecretKeys(Buffer.alloc(32, 7))
const id = (first: number) => Uint8Array.from({ length: 16 }, (_, i) => first + i)
const recipient = { accountId: id(1), emailId: id(40), ordinal: 200 }
const ref = { emailId: id(40), ordinal: 200 }
const link = { number: 258, target: 'https://shop.example/?q=1#top' }
const subscription = { accountId: id(1), address: 'ann@there.test', topicId: id(80), broadcastId: null }
const file = { kind: 'inbound-attachment' as const, accountId: id(1), ownerId: id(40), fileId: id(120) }
const now = Date.UTC(2026, 10, 21, 13, 0)

const TOKENS = [
  {
    name: 'open',
    token: 'AQEBAgMEBQYHCAkKCwwNDg8QKCkqKywtLi8wMTIzNDU2N8jpa6wY80mEv7n78hsZin_3',
    made: createOpenToken(keys, recipient),
    read: (token: string) => readOpenToken(keys, token),
    value: recipient,
  },
  {
    name: 'click',
    token:
      'AQIBAgMEBQYHCAkKCwwNDg8QKCkqKywtLi8wMTIzNDU2N8gBAmh0dHBzOi8vc2hvcC5leGFtcGxlLz9xPTEjdG9wnhFILVF5qqUe3iPvqRFH1Q',
    made: createClickToken(keys, recipient, link),
    read: (token: string) => readClickToken(keys, token),
    value: { recipient, ...link },
  },
  {
    name: 'click by target',
    token:
      'AQIBAgMEBQYHCAkKCwwNDg8QKCkqKywtLi8wMTIzNDU2N8j__2h0dHBzOi8vc2hvcC5leGFtcGxlLz9xPTEjdG9wPoyl4TI1OIMjY41XZP5s9A',
    made: createClickToken(keys, recipient, { ...link, number: null }),
    read: (token: string) => readClickToken(keys, token),
    value: { recipient, ...link, number: null },
  },
  {
    name: 'unsubscribe',
    token: 'Mh7aPs6e1x6BLOGKxR_zf_DJnlYvBEf517SbbxaC75uyNRDNGxpAYInfF7_qThy3Sw-S2Jeu-dqJ6g6Q1_itCg',
    made: createUnsubscribeToken(keys, subscription),
    read: (token: string) => readUnsubscribeToken(keys, token),
    value: subscription,
  },
  {
    name: 'unsubscribe by mail',
    token: 'aiucskrlfqws4lzqgezdgnbvgy34qcqukzke4lmahditb4vk47lln2q',
    made: createMailToken(keys, ref),
    read: (token: string) => readMailToken(keys, token),
    value: ref,
  },
  {
    name: 'return path',
    token: 'aeucskrlfqws4lzqgezdgnbvgy34qujkg5w5vazdp4hmm',
    made: createRefToken(keys, 'verp', ref, now),
    read: (token: string) => readRefToken(keys, 'verp', token),
    value: { ...ref, madeAt: Date.UTC(2026, 10, 21) },
  },
  {
    name: 'correlation',
    token: 'aeucskrlfqws4lzqgezdgnbvgy34qujkhf5v7fpfa4yau',
    made: createRefToken(keys, 'correlation', ref, now),
    read: (token: string) => readRefToken(keys, 'correlation', token),
    value: { ...ref, madeAt: Date.UTC(2026, 10, 21) },
  },
  {
    name: 'download',
    token:
      'AQIBAgMEBQYHCAkKCwwNDg8QKCkqKywtLi8wMTIzNDU2N3h5ent8fX5_gIGCg4SFhocBof4xNIBh-SFPNUFF6hpipSLXheyOQrxjjCK8dsmGK124rCaKZg',
    made: createDownloadToken(keys, file, now),
    read: (token: string) => readDownloadToken(keys, token),
    value: { ...file, expiresAt: now },
  },
]

for (const { name, token, made, read, value } of TOKENS)
  test(`signed tokens: ${name}: tokens of earlier versions are valid, and new ones are the same`, () => {
    assert.is(made, token)
    assert.equal(read(token), value)
  })

for (const { name, token, read } of TOKENS)
  test(`signed tokens: ${name}: any other text is refused`, () => {
    for (let at = 0; at < token.length; at++) {
      assert.is(read(token.slice(0, at)), undefined)
      assert.is(read(token.slice(0, at) + (token[at] === 'a' ? 'b' : 'a') + token.slice(at + 1)), undefined)
    }
    for (const other of [`${token}a`, `${token}=`, ` ${token}`]) assert.is(read(other), undefined)
    for (const other of TOKENS)
      if (other.name !== name && !name.startsWith('click')) assert.is(read(other.token), undefined)
  })

test.run()
