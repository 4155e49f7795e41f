import * as assert from 'uvu/assert'
import { suite } from '../../kit/suite.ts'
import { corpus } from '../../unit/protocols/dkim/corpus.ts'
import { createTestKey, signed } from '../../unit/protocols/dkim/signed.ts'
import { faultOf } from '../../unit/protocols/dkim/verifier-faults.ts'
import { runPython, temporaryFolder, writeMessages } from './tools.ts'

const test = suite('peers/mail-format: dkimpy')
const PACKAGES = 'python3-dkim, python3-nacl and python3-dnspython'

test('verifies both signatures of every message, but for its known faults', async t => {
  const keys = await Promise.all([createTestKey('rsa-sha256'), createTestKey('ed25519-sha256')])
  const requests = corpus.filter(({ name }) => faultOf('dkimpy', name)?.verdict !== 'hangs')
  assert.ok(requests.length >= 60)
  const folder = await temporaryFolder(t)
  await writeMessages(folder, messagesOf())
  const records = JSON.stringify(
    Object.fromEntries(keys.map(({ recordName, record }) => [recordName, record])),
  )
  const verdicts = (await runPython('verify_dkim.py', [folder, records], PACKAGES)) as Record<
    string,
    string[]
  >
  for (const [at, { name }] of requests.entries()) {
    const expected = faultOf('dkimpy', name)?.verdict ?? 'pass'
    const [rsa, ed25519, ...others] = verdicts[`${at}.eml`]!
    assert.ok(rsa?.startsWith(expected), `${name}: rsa-sha256 ${rsa}`)
    assert.ok(ed25519?.startsWith(expected), `${name}: ed25519-sha256 ${ed25519}`)
    assert.equal(others, [])
  }

  async function* messagesOf() {
    for (const message of requests) yield await signed(message, keys)
  }
})

test('refuses what was altered, so that its consent means something', async t => {
  const key = await createTestKey('rsa-sha256')
  const message = (await signed(corpus.find(({ name }) => name === 'plain text')!, [key])).toString('latin1')
  const folder = await temporaryFolder(t)
  const altered = [message.replace('Bob,', 'Eve,'), message.replace('From:', 'From: eve@evil.test\r\nFrom:')]
  await writeMessages(
    folder,
    altered.map(text => Buffer.from(text, 'latin1')),
  )
  const records = JSON.stringify({ [key.recordName]: key.record })
  const verdicts = (await runPython('verify_dkim.py', [folder, records], PACKAGES)) as Record<
    string,
    string[]
  >
  assert.match(verdicts['0.eml']![0]!, /^fail: body hash mismatch/)
  assert.match(verdicts['1.eml']![0]!, /^fail/)
})

test.run()
