import * as assert from 'uvu/assert'
import { codeOf, LANGUAGES } from '../../../../src/interfaces/dashboard/web/reference/snippets.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('API reference: code of a call')
const body = { to: "o'neil@there.example", tags: [], tls: true, reply_to: null }
const call = {
  ...{ method: 'POST', path: '/emails/{id}/share', security: [{ apiKey: [] }] },
  requestBody: { required: true, content: { 'application/json': { example: body } } },
}
const URL = 'https://mail.example'

test('curl quotes the body, and has no braces in the URL', () => {
  const code = codeOf('curl', call, URL)
  assert.match(code, "curl -X POST 'https://mail.example/emails/ID/share'")
  assert.match(code, "o'\\''neil")
  assert.match(code, 'Authorization: Bearer $MAILHORN_KEY')
})

test('Node sends the body as JSON', () => {
  const code = codeOf('node', call, URL)
  assert.match(code, "method: 'POST'")
  assert.match(code, '"reply_to": null')
})

test('Python has its own literals', () => {
  const code = codeOf('python', call, URL)
  assert.match(code, '"tls": True')
  assert.match(code, '"reply_to": None')
  assert.match(code, '"tags": []')
})

test('a call without a body and a credential has neither', () => {
  const open = { method: 'GET', path: '/healthz', security: [], requestBody: undefined }
  for (const language of ['curl', 'node', 'python'] as const)
    assert.not.match(codeOf(language, open as never, URL), /authorization|json=|-d /i)
})

test('curl, Node and Python are offered', () => {
  assert.equal(
    LANGUAGES.map(([, name]) => name),
    ['curl', 'Node', 'Python'],
  )
})

test.run()
