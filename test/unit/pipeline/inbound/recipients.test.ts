import * as assert from 'uvu/assert'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import { localRecipientOf } from '../../../../src/pipeline/inbound/recipients.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/recipients')

const options = { secrets: createSecretKeys(new Uint8Array(32)), mailHost: 'mail.example' }
const found = (recipient: string) => localRecipientOf(recipient, 0, options)

for (const recipient of ['postmaster', 'Postmaster', 'POSTMASTER'])
  test(`role addresses: ${recipient} without a domain belongs to the mail host`, () =>
    assert.equal(found(recipient), {
      addressKind: 'postmaster',
      emailId: null,
      ordinal: null,
      recipient: `${recipient}@mail.example`,
    }))

for (const recipient of [
  'abuse',
  'fbl',
  'postmaster2',
  'postmaster@',
  '@mail.example',
  'postmaster@x.example',
])
  test(`role addresses: ${recipient} belongs to nobody`, () => assert.is(found(recipient), undefined))

test.run()
