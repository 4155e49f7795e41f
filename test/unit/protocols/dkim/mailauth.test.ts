import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import * as assert from 'uvu/assert'
import { suite } from '../../../kit/suite.ts'
import { corpus } from './corpus.ts'
import { createTestKey, signed } from './signed.ts'
import { faultOf, strayFaults, verifiersThatAccept } from './verifier-faults.ts'

const test = suite('dkim/mailauth')
const keys = await Promise.all([createTestKey('rsa-sha256'), createTestKey('ed25519-sha256')])

test('the corpus is as large as it was meant to be, and some verifier accepts each message', () => {
  const names = corpus.map(({ name }) => name)
  assert.ok(names.length >= 60)
  assert.is(new Set(names).size, names.length)
  assert.equal(strayFaults(names), [])
  for (const name of names) assert.ok(verifiersThatAccept(name).length > 0, name)
})

for (const message of corpus) {
  const fault = faultOf('mailauth', message.name)
  const verdict = fault ? `mailauth wrongly refuses (it ${fault.reason})` : 'mailauth accepts both signatures'
  test(`${message.name}: ${verdict}`, async () => {
    const result = fault ? 'neutral' : 'pass'
    assert.equal(await verdicts(await signed(message, keys)), [
      `rsa-sha256 ${result}`,
      `ed25519-sha256 ${result}`,
    ])
  })
}

/** `algorithm result` for each signature, from the top. */
async function verdicts(message: Buffer): Promise<string[]> {
  const { results } = await dkimVerify(message, { resolver })
  return results.map(({ algo, status }) => `${algo} ${status.result}`)
}

async function resolver(name: string, type: string): Promise<string[][]> {
  assert.is(type, 'TXT')
  return keys.filter(key => key.recordName === name).map(key => [key.record])
}

test.run()
