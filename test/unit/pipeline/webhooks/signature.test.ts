import { createHmac } from 'node:crypto'
import * as assert from 'uvu/assert'
import { wireId } from '../../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import {
  newSigningSecret,
  sealSecret,
  signedHeaders,
  signingOf,
} from '../../../../src/pipeline/webhooks/signature.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('webhooks/signature')
const keys = createSecretKeys(new Uint8Array(32))
const id = newId(0)
const [current, former, earlier] = [newSigningSecret(), newSigningSecret(), newSigningSecret()]
const NOW = 1_000_000

for (const [formerUntil, earlierUntil, expected] of [
  [NOW + 1, NOW + 1, [current, former, earlier]],
  [NOW, NOW + 1, [current, earlier]],
  [NOW + 1, NOW, [current, former]],
  [NOW - 1, NOW - 1, [current]],
  [null, null, [current]],
] as const)
  test(`secrets that end at ${formerUntil} and ${earlierUntil}: ${expected.length} sign at ${NOW}`, () => {
    const signing = signingOf(
      keys,
      {
        id,
        secret: sealSecret(keys, id, current),
        formerSecret: formerUntil === null ? null : sealSecret(keys, id, former),
        formerUntil,
        earlierSecret: earlierUntil === null ? null : sealSecret(keys, id, earlier),
        earlierUntil,
        standard: 1,
      },
      NOW,
    )
    assert.equal(signing, { secrets: [...expected], isStandard: true })
  })

test('a secret has 32 random bytes', () => {
  assert.match(current, /^whsec_/)
  assert.is(Buffer.from(current.slice(6), 'base64').length, 32)
  assert.is.not(current, former)
})

test('each secret signs the time in seconds and the body; Standard Webhooks also the id', () => {
  const wire = wireId('evt', newId(NOW))
  const event = { id: wire, body: '{"a":1}', at: 1_700_000_000_999 }
  const hex = (secret: string) =>
    createHmac('sha256', secret).update(`1700000000.${event.body}`).digest('hex')
  const own = {
    'svc-id': wire,
    'svc-timestamp': '1700000000',
    'svc-signature': `${hex(current)},${hex(former)}`,
  }
  const secrets = [current, former]
  assert.equal(signedHeaders(event, { secrets, isStandard: false }), own)
  const standard = secrets
    .map(secret => createHmac('sha256', Buffer.from(secret.slice(6), 'base64')))
    .map(hmac => `v1,${hmac.update(`${wire}.1700000000.${event.body}`).digest('base64')}`)
    .join(' ')
  const named = (prefix: string) => ({
    [`${prefix}-id`]: wire,
    [`${prefix}-timestamp`]: '1700000000',
    [`${prefix}-signature`]: standard,
  })
  assert.equal(signedHeaders(event, { secrets, isStandard: true }), {
    ...own,
    ...named('webhook'),
    ...named('svix'),
  })
})

test.run()
