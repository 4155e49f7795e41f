import * as assert from 'uvu/assert'
import { ApiError } from '../../../../src/interfaces/dashboard/web/api/client.ts'
import { faultWords, plainWords } from '../../../../src/interfaces/dashboard/web/labels/faults.ts'
import { pastedDomain } from '../../../../src/interfaces/dashboard/web/labels/pasted-domain.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: messages at fields')

for (const [message, label, words] of [
  ['`scheduled_at` must be in the future.', 'Send at', 'Send at must be in the future.'],
  ['Missing `html` or `text` field: what was given is empty.', 'Message', 'Fill in “Message”.'],
  ['Missing `url` (or `endpoint`) field.', 'Endpoint URL', 'Fill in “Endpoint URL”.'],
  ['"nobody" (`emails[2]`) has no "@".', 'Addresses', '"nobody" has no "@".'],
  ['Invalid `url`: the URL must begin with https://.', 'Endpoint URL', 'The URL must begin with https://.'],
  ['Invalid `to[1]` field: the address has no "@".', 'To', 'The address has no "@".'],
  ['The address in `owner_email` has no "@".', 'Owner', 'The address has no "@".'],
  ['`name` must be a domain; got "x".', 'Domain', 'Domain must be a domain; got "x".'],
] as const)
  test(`${message} at ${label}`, () => {
    assert.is(faultWords(message, label), words)
  })

test('a message at the head of a page names labels in place of parameters', () => {
  assert.is(
    plainWords('Missing `html` or `text` field: the broadcast has no content.'),
    'Missing HTML or text: the broadcast has no content.',
  )
})

test('a fault at a part of a field is shown at the field, and others are known not to be shown', () => {
  const error = new ApiError(422, 'validation_error', 'wrong', [
    { path: 'to[1]', message: 'no "@"' },
    { path: 'from', message: 'missing' },
  ])
  assert.is(error.of('to'), 'no "@"')
  assert.is(error.of('subject'), undefined)
  assert.is(error.isShown, false)
  assert.is(error.of('from'), 'missing')
  assert.is(error.isShown, true)
})

for (const text of [
  ...['acme.example', 'https://acme.example/', 'http://acme.example:8080/a?b#c', 'user@acme.example'],
  ...['acme.example.', 'ACME.example ', 'mailto:ann@acme.example', '<ann@acme.example>', 'acme.example/path'],
])
  test(`${text} is understood as a domain`, () => {
    assert.is(pastedDomain(text), 'acme.example')
  })

test.run()
