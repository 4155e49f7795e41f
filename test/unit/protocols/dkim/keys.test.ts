import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import * as assert from 'uvu/assert'
import {
  dkimRecord,
  generateDkimKey,
  loadPublicKey,
  loadSigningKey,
  revokedDkimRecord,
} from '../../../../src/protocols/dkim/keys.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dkim/keys')
const identity = (algorithm: 'rsa-sha256' | 'ed25519-sha256') => ({
  domain: 'here.test',
  selector: 's1',
  algorithm,
})

test('DKIM key: an RSA key has 2048 bits and is published as SubjectPublicKeyInfo', async () => {
  const { privateKey, publicKey } = await generateDkimKey('rsa-sha256')
  const key = loadSigningKey(identity('rsa-sha256'), privateKey)
  assert.is(key.privateKey.asymmetricKeyDetails?.modulusLength, 2048)
  assert.is(publicKey, spki(key.privateKey).toString('base64'))
})

test('DKIM key: an Ed25519 key is published as 32 bare octets (RFC 8463 §4)', async () => {
  const { privateKey, publicKey } = await generateDkimKey('ed25519-sha256')
  const key = loadSigningKey(identity('ed25519-sha256'), privateKey)
  assert.is(Buffer.from(publicKey, 'base64').length, 32)
  assert.is(publicKey, spki(key.privateKey).subarray(-32).toString('base64'))
})

test('DKIM key: each generated key is different', async () => {
  const one = await generateDkimKey('ed25519-sha256')
  const two = await generateDkimKey('ed25519-sha256')
  assert.is.not(one.publicKey, two.publicKey)
})

test('DKIM record: it names the key type; an empty p= revokes the key', () => {
  assert.is(dkimRecord('rsa-sha256', 'AbC='), 'v=DKIM1; k=rsa; p=AbC=')
  assert.is(dkimRecord('ed25519-sha256', 'AbC='), 'v=DKIM1; k=ed25519; p=AbC=')
  assert.is(revokedDkimRecord('rsa-sha256'), 'v=DKIM1; k=rsa; p=')
})

test('DKIM key: a loaded key has domain and selector', async () => {
  const { privateKey } = await generateDkimKey('ed25519-sha256')
  const { privateKey: _, publicKey: __, ...facts } = loadSigningKey(identity('ed25519-sha256'), privateKey)
  assert.equal(facts, identity('ed25519-sha256'))
})

test('DKIM key: a loaded key has its public key', async () => {
  for (const algorithm of ['rsa-sha256', 'ed25519-sha256'] as const) {
    const pair = await generateDkimKey(algorithm)
    const { publicKey } = loadSigningKey(identity(algorithm), pair.privateKey)
    assert.ok(publicKey.equals(loadPublicKey({ algorithm, publicKey: pair.publicKey })))
  }
})

test('DKIM key: a key of another type is refused by name', async () => {
  const { privateKey } = await generateDkimKey('ed25519-sha256')
  assert.throws(
    () => loadSigningKey(identity('rsa-sha256'), privateKey),
    /s1\._domainkey\.here\.test is ed25519/,
  )
})

test('DKIM key: an RSA key below 1024 bits is refused (RFC 8301 §3.2)', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 768 })
  const der = privateKey.export({ type: 'pkcs8', format: 'der' })
  assert.throws(() => loadSigningKey(identity('rsa-sha256'), der), /has 768 bits/)
})

test('DKIM key: octets that are not a key are refused', () => {
  assert.throws(() => loadSigningKey(identity('rsa-sha256'), Buffer.from('not a key')))
})

function spki(privateKey: KeyObject): Buffer {
  return createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
}

test.run()
