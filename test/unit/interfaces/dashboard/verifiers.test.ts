import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { Resend } from 'resend'
import * as assert from 'uvu/assert'
import { verifierOf } from '../../../../src/interfaces/dashboard/web/labels/verifiers.ts'
import { signedHeaders } from '../../../../src/pipeline/webhooks/signature.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('code that verifies webhooks')
const secret = `whsec_${Buffer.from('0'.repeat(32)).toString('base64')}`
const body = `{"subject":"it's \\"quoted\\" 100% \\\\n é"}`
const at = Date.now()
const headers = signedHeaders(
  { id: 'evt_1', body, at },
  { secrets: ['whsec_AAAA', secret], isStandard: true },
)
const signed = { timestamp: headers['svc-timestamp']!, body }

const missing = (program: string) =>
  spawnSync(program, ['--help']).error ? `${program} is not installed` : undefined

test(
  'openssl computes the signature',
  () => {
    const env = { ...process.env, WEBHOOK_SECRET: secret }
    const { stdout } = spawnSync('bash', ['-c', verifierOf('openssl', signed)], { env, encoding: 'utf8' })
    const expected = createHmac('sha256', secret).update(`${signed.timestamp}.${body}`).digest('hex')
    assert.match(stdout, new RegExp(`${expected}\\s*$`))
  },
  { skip: missing('openssl') },
)

test('Node accepts a right signature among several, and nothing else', async () => {
  const code = `data:text/javascript,${encodeURIComponent(verifierOf('node', signed))}`
  const { isGood } = await import(code)
  assert.is(isGood(secret, headers, body), true)
  assert.is(isGood(secret, headers, `${body} `), false)
  assert.is(isGood(secret, { ...headers, 'svc-timestamp': '1' }, body), false)
})

test(
  'Python accepts a right signature among several, and nothing else',
  () => {
    const code = `${verifierOf('python', signed)}
import json, sys
secret, headers, body = json.load(sys.stdin)
print(is_good(secret, headers, body.encode()), is_good(secret, headers, body.encode() + b" "))`
    const input = JSON.stringify([secret, headers, body])
    const { stdout } = spawnSync('python3', ['-c', code], { input, encoding: 'utf8' })
    assert.is(stdout.trim(), 'True False')
  },
  { skip: missing('python3') },
)

test('the SDK verifies the headers that its sample passes', () => {
  const names = [...verifierOf('sdk', signed).matchAll(/(\w+): headers\['([\w-]+)'\]/g)]
  const passed = Object.fromEntries(names.map(([, field, name]) => [field, headers[name!]])) as never
  const verify = () =>
    new Resend('re_1').webhooks.verify({ payload: body, headers: passed, webhookSecret: secret })
  assert.equal(verify(), JSON.parse(body))
})

test.run()
