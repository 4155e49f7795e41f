import * as assert from 'uvu/assert'
import { wireId } from '../../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { createKeyRing } from '../../../../src/pipeline/delivery/message/key-ring.ts'
import { suite } from '../../../kit/suite.ts'
import { openSigned } from './signed-domain.ts'

const test = suite('key ring')

test('signing keys of a domain are returned by slot', async t => {
  const { verifiedDomain, keyRing } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const { keys, tls } = (await keyRing.keysOf(domain.id, 'here.test'))!
  assert.is(tls, 'opportunistic')
  assert.equal(
    keys.map(({ domain: name, selector, algorithm, keyId }) => [name, selector, algorithm, keyId]),
    [domain.keys[0]!, domain.keys[2]!].map(({ id, token, algorithm }) => [
      'here.test',
      token,
      algorithm,
      wireId('key', id),
    ]),
  )
  assert.equal(
    keys.map(({ privateKey }) => privateKey.asymmetricKeyType),
    ['rsa', 'ed25519'],
  )
})

test('a deleted or never verified domain has no signing keys', async t => {
  const { domains, accountId, keyRing } = await openSigned(t)
  const pending = await domains.create(accountId, 'here.test', 'us-west-2')
  if (typeof pending === 'string') throw new Error(pending)
  assert.is(await keyRing.keysOf(pending.id, 'here.test'), undefined)
  assert.is(await keyRing.keysOf(new Uint8Array(16), 'gone.test'), undefined)
})

test('keys are cached for a minute', async t => {
  const { verifiedDomain, keyRing, domains, accountId, clock } = await openSigned(t)
  const domain = await verifiedDomain('here.test')
  const first = await keyRing.keysOf(domain.id, 'here.test')
  await domains.delete(accountId, domain.id)
  clock.advance(59_999)
  assert.is(await keyRing.keysOf(domain.id, 'here.test'), first)
  clock.advance(1)
  assert.is(await keyRing.keysOf(domain.id, 'here.test'), undefined)
})

test('the TLS setting of the domain is read with its keys', async t => {
  const { verifiedDomain, keyRing, domains, accountId, clock } = await openSigned(t)
  const { id } = await verifiedDomain('here.test')
  assert.is((await keyRing.keysOf(id, 'here.test'))?.tls, 'opportunistic')
  await domains.change(accountId, id, { tls: 'enforced' })
  clock.advance(60_000)
  assert.is((await keyRing.keysOf(id, 'here.test'))?.tls, 'enforced')
})

test('changed keys are read again at once, those of other domains are not', async t => {
  const { verifiedDomain, keyRing } = await openSigned(t)
  const [here, there] = [await verifiedDomain('here.test'), await verifiedDomain('there.test')]
  const first = await keyRing.keysOf(here.id, 'here.test')
  const other = await keyRing.keysOf(there.id, 'there.test')
  keyRing.forget(here.id)
  assert.is.not(await keyRing.keysOf(here.id, 'here.test'), first)
  assert.is(await keyRing.keysOf(there.id, 'there.test'), other)
  keyRing.forget()
  assert.is.not(await keyRing.keysOf(there.id, 'there.test'), other)
})

test('concurrent deliveries decrypt the keys once', async t => {
  const { verifiedDomain, keyRing } = await openSigned(t)
  const { id } = await verifiedDomain('here.test')
  const rings = await Promise.all(Array.from({ length: 20 }, () => keyRing.keysOf(id, 'here.test')))
  assert.is(new Set(rings).size, 1)
})

test('a retired key does not sign', async t => {
  const { verifiedDomain, keyRing, change } = await openSigned(t)
  const { id } = await verifiedDomain('here.test')
  change('update dkim_keys set retired_at = 1 where slot = 1')
  const { keys } = (await keyRing.keysOf(id, 'here.test'))!
  assert.equal(
    keys.map(({ algorithm }) => algorithm),
    ['ed25519-sha256'],
  )
})

test('a key that cannot be decrypted is an error each time and is not cached', async t => {
  const { verifiedDomain, db, clock } = await openSigned(t)
  const { id } = await verifiedDomain('here.test')
  const foreign = createKeyRing({ db, secrets: createSecretKeys(Buffer.alloc(32, 2)), clock })
  for (let i = 0; i < 2; i++)
    await foreign.keysOf(id, 'here.test').then(
      () => assert.unreachable(),
      error => assert.instance(error, Error),
    )
})

test.run()
