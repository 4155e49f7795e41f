import { sealMessage } from 'mailauth/lib/arc/index.js'
import * as assert from 'uvu/assert'
import { suite } from '../../../../kit/suite.ts'
import { createTestKey } from '../../../protocols/dkim/signed.ts'
import { envelope, GOOD_ZONE, keyLine, letter, mailOf, startScene, textOf } from './scene.ts'

/** Chains made by another hand, dkimpy's, are in `test/peers/filters/dkimpy.test.ts`. */
const test = suite('verdicts/arc')
const key = await createTestKey('rsa-sha256', 'list.test')
const privateKey = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const ZONE = `${GOOD_ZONE}\n${keyLine(key)}`

async function sealed(text: string, i: number, cv: string): Promise<string> {
  const seal = {
    ...{ i, cv, privateKey, signingDomain: 'list.test', selector: 'r1' },
    authResults: 'list.test; spf=pass smtp.mailfrom=here.test',
    signTime: new Date(Date.UTC(2026, 10, 21)),
  }
  return `${(await sealMessage(Buffer.from(text), seal as Parameters<typeof sealMessage>[1])).toString().trimEnd()}\r\n${text}`
}

const once = await sealed(textOf(letter()), 1, 'none')
const twice = await sealed(once, 2, 'pass')

test('an unbroken chain passes, and says of how many sets it is', async t => {
  const { judge } = await startScene(t, ZONE)
  const { arc, detail } = await judge(mailOf(twice), envelope())
  assert.is(arc, 'PASS', detail.arc.reason)
  assert.is(detail.arc.instances, 2)
})

const BROKEN: [what: string, text: string, zone: string, result: string, reason: RegExp][] = [
  ['a changed body', twice.replace('Hello Bob', 'Hello Eve'), ZONE, 'fail', /no valid signature/],
  ['a changed result', twice.replace(/spf=pass/, 'spf=fail'), ZONE, 'fail', /./],
  ['a set that is missing', twice.replace(/^ARC-Seal: i=2[\s\S]*?\r\n(?=\S)/, ''), ZONE, 'fail', /./],
  ['a key that is not there', twice, GOOD_ZONE, 'fail', /./],
  ['a key that is not to be had', twice, `${GOOD_ZONE}\n${key.recordName} SERVFAIL`, 'temperror', /SERVFAIL/],
]
for (const [what, text, zone, result, reason] of BROKEN)
  test(`${what}: ${result}`, async t => {
    assert.ok(text !== twice || zone !== ZONE)
    const { judge } = await startScene(t, zone)
    const { detail } = await judge(mailOf(text), envelope())
    assert.is(detail.arc.result, result, JSON.stringify(detail.arc))
    assert.match(String(detail.arc.reason), reason)
  })

test('a chain does not stand in for DMARC', async t => {
  const { judge } = await startScene(t, ZONE)
  const { arc, dmarc } = await judge(mailOf(once), envelope({ clientIp: '198.51.100.1' }))
  assert.equal([arc, dmarc], ['PASS', 'FAIL'])
})

test('keys of fifty sets are not all looked up', async t => {
  const { judge, zone } = await startScene(t, '*.test TXT "v=DKIM1; p=AAAA"')
  const sets = Array.from({ length: 50 }, (_, i) => {
    const tags = `i=${i + 1}; a=rsa-sha256; d=list.test; s=s${i}; b=AAAA`
    const cv = i === 0 ? 'none' : 'pass'
    return [
      `ARC-Seal: ${tags}; cv=${cv}`,
      `ARC-Message-Signature: ${tags}; c=relaxed/relaxed; h=from; bh=AAAA`,
      `ARC-Authentication-Results: i=${i + 1}; list.test; none`,
    ].join('\r\n')
  })
  const { arc } = await judge(mailOf(`${sets.reverse().join('\r\n')}\r\n${textOf(letter())}`), envelope())
  assert.is.not(arc, 'PASS')
  assert.ok(zone.queries.filter(({ name }) => name.includes('_domainkey')).length <= 31)
})

test.run()
