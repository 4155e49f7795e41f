import { spawnSync } from 'node:child_process'
import * as assert from 'uvu/assert'
import { signedHeaders } from '../../../src/pipeline/webhooks/signature.ts'
import { suite } from '../../kit/suite.ts'
import { snippet } from '../../kit/webhook-docs.ts'

const test = suite('webhooks: signatures, as others check them')
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2o3ZQ2yT1xA='
const FORMER = 'whsec_Zm9ybWVyZm9ybWVyZm9ybWVyZm9ybWVyZm9ybWVyZm8='

/** The lines of docs/webhooks.md, asked about one request. */
function python(secret: string, headers: Record<string, string>, body: string): boolean {
  const ask =
    'import json, sys\nasked = json.load(sys.stdin)\nprint(is_good(asked[0], asked[1], asked[2].encode()))'
  const { stdout, stderr } = spawnSync('python3', ['-c', `${snippet('python')}\n${ask}`], {
    input: JSON.stringify([secret, headers, body]),
    encoding: 'utf8',
  })
  if (!/^(?:True|False)\n$/.test(stdout)) throw new Error(`python3 could not say: ${stderr}`)
  return stdout === 'True\n'
}

test('a few lines of Python take what we sign, and nothing else', () => {
  const now = Date.now()
  const body = '{"id":"evt_1","text":"grüße 😀"}'
  const event = { id: 'evt_1', body, at: now }
  const headers = signedHeaders(event, { secrets: [SECRET, FORMER], isStandard: false })
  for (const secret of [SECRET, FORMER]) assert.ok(python(secret, headers, body))
  assert.not(python('whsec_other', headers, body))
  assert.not(python(SECRET, headers, `${body} `))
  const late = signedHeaders({ ...event, at: now - 400_000 }, { secrets: [SECRET], isStandard: false })
  assert.not(python(SECRET, late, body))
})

test.run()
