import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { suite, type TestContext } from '../../kit/suite.ts'
import {
  envelope,
  GOOD_ZONE,
  keyLine,
  letter,
  mailOf,
  startScene,
  textOf,
} from '../../unit/pipeline/inbound/verdicts/scene.ts'
import { createTestKey } from '../../unit/protocols/dkim/signed.ts'
import { runPython, temporaryFolder } from '../mail-format/tools.ts'

const test = suite('peers/filters/dkimpy')
const script = fileURLToPath(new URL('sign_by_dkimpy.py', import.meta.url))
const key = await createTestKey('rsa-sha256', 'list.test')
const ZONE = `${GOOD_ZONE}\n${keyLine(key)}`

async function signedBy(t: TestContext, domain: string, ...steps: string[]): Promise<string> {
  const folder = await temporaryFolder(t)
  const files = [join(folder, 'message'), join(folder, 'key')] as const
  await writeFile(files[0], textOf(letter()))
  await writeFile(files[1], key.privateKey.export({ type: 'pkcs8', format: 'pem' }))
  return (await runPython(script, [...files, domain, ...steps], 'python3-dkim python3-authres')) as string
}

test('a signature of dkimpy holds, and does not where the message was changed', async t => {
  const { judge } = await startScene(t, ZONE)
  const text = await signedBy(t, 'list.test', 'dkim')
  assert.is((await judge(mailOf(text), envelope())).dkim, 'PASS')
  assert.is((await judge(mailOf(text.replace('Hello Bob', 'Hello Eve')), envelope())).dkim, 'FAIL')
  assert.is((await judge(mailOf(text.replace('Subject: Hello', 'Subject: Pay')), envelope())).dkim, 'FAIL')
})

test('a chain that dkimpy sealed once and twice is unbroken, one that was changed behind its seals is not', async t => {
  const { judge } = await startScene(t, ZONE)
  const arcOf = async (text: string) => {
    const { detail } = await judge(mailOf(text), envelope())
    return [detail.arc.result, detail.arc.instances]
  }
  const once = await signedBy(t, 'list.test', 'dkim', 'arc')
  assert.equal(await arcOf(once), ['pass', 1])
  const twice = await signedBy(t, 'list.test', 'dkim', 'arc', 'arc')
  assert.equal(await arcOf(twice), ['pass', 2])
  const listed = await signedBy(t, 'list.test', 'dkim', 'arc', 'list:News', 'arc')
  assert.equal(await arcOf(listed), ['pass', 2])
  assert.equal(await arcOf(once.replace('Hello Bob', 'Hello Eve')), ['fail', 1])
  assert.equal(await arcOf(twice.replace('spf=pass', 'spf=fail')), ['fail', 2])
})

test.run()
