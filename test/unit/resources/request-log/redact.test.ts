import * as assert from 'uvu/assert'
import {
  closedJson,
  loggedBody,
  REDACTED,
  withoutEncodedSecrets,
  withoutSecrets,
} from '../../../../src/resources/request-log/redact.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('request log: bodies')
const LONG = 'x'.repeat(40)
const UUID = '0199b0a0-1111-7222-8333-444455556666'

/** Bodies with the form in which they are stored. */
const BODIES: [what: string, body: unknown, stored: unknown][] = [
  ['passwords', { current_password: 'a', newPassword: 'b' }, { current_password: 1, newPassword: 1 }],
  ['tokens', { token: 't', dns_api_token: 5, apiToken: ['a'] }, { token: 1, dns_api_token: 1, apiToken: 1 }],
  ['signing secrets', { data: [{ signing_secret: 's' }] }, { data: [{ signing_secret: 1 }] }],
  ['headers with credentials', { headers: { 'X-Api-Key': 'k' } }, { headers: { 'X-Api-Key': 1 } }],
  [
    'descriptions of a credential',
    { credential: { kind: 'key', id: 'k' } },
    { credential: { kind: 'key', id: 'k' } },
  ],
  [
    'credentials as texts',
    { credential: 's', x: { credential: ['s'] } },
    { credential: 1, x: { credential: 1 } },
  ],
  [
    'short words for secrets',
    { 'X-Auth': 'a', webhookSig: 'b', otp: '1' },
    { 'X-Auth': 1, webhookSig: 1, otp: 1 },
  ],
  [
    'values of pairs',
    { tags: [{ name: 'password', value: 'p' }], headers: [{ key: 'x-signature', value: 's' }] },
    { tags: [{ name: 'password', value: 1 }], headers: [{ key: 'x-signature', value: 1 }] },
  ],
  ['values of a template', { template_data: { reset_token: 'k' } }, { template_data: { reset_token: 1 } }],
]

for (const [what, body, stored] of BODIES)
  test(`${what} are removed`, () => {
    const expected = JSON.parse(JSON.stringify(stored), (_, value) => (value === 1 ? REDACTED : value))
    assert.equal(plain(loggedBody(JSON.stringify(body), false)), expected)
  })

/** Texts with the form in which they are stored. */
const TEXTS: [string, string][] = [
  [`re_${LONG}`, `re_${REDACTED}`],
  [`before whsec_${LONG}/+== after`, `before whsec_${REDACTED} after`],
  [`Authorization: Bearer ${LONG}`, `Authorization: Bearer ${REDACTED}`],
  ['https://user:word@hooks.example/a', `https://${REDACTED}@hooks.example/a`],
  [`https://mail.example/s/${LONG}`, `https://mail.example/s/${REDACTED}`],
  [`<a href="https://mail.example/u/${LONG}">`, `<a href="https://mail.example/u/${REDACTED}">`],
  [`https://mail.example/downloads?token=${LONG}`, `https://mail.example/downloads?token=${REDACTED}`],
  ['https://hooks.example/a?sig=abc&b=1#c', `https://hooks.example/a?sig=${REDACTED}&b=1#c`],
  [
    '<a href="https://a.example/?id=5&amp;otp=123456">',
    `<a href="https://a.example/?id=5&amp;otp=${REDACTED}">`,
  ],
]

for (const [text, stored] of TEXTS)
  test(`secrets inside of texts are removed: ${stored}`, () => {
    assert.equal(plain(loggedBody(JSON.stringify({ text }), false)), { text: stored })
  })

for (const body of [
  { id: `key_${UUID}`, api_key_id: `key_${UUID}`, token_start: 're_abcde' },
  {
    secret: null,
    password: '',
    hide_token: true,
    from: 'ann@here.example',
    text: 'see https://a.example/@b',
  },
  { content: 'kept', items: [1, 'two', null, false] },
  {
    author: 'ann',
    key: 'city',
    value: 'Oslo',
    signed: 'a',
    text: 'https://a.example/?author=ann&key_id=5&x=y',
  },
])
  test(`a body without secrets is stored as it is: ${JSON.stringify(body)}`, () => {
    assert.equal(plain(loggedBody(JSON.stringify(body), false)), body)
  })

/** Paths and queries with the form in which they are stored. */
const ENCODED: [string, string][] = [
  ['limit=1&status=sent', 'limit=1&status=sent'],
  ['to=a%40b.example&subject=100%25', 'to=a%40b.example&subject=100%25'],
  [`api_key_id=key_${UUID}`, `api_key_id=key_${UUID}`],
  [`api_key=re_${LONG}`, `api_key=${REDACTED}`],
  ['limit=1&token=short', `limit=1&token=${REDACTED}`],
  ['key=AIzaSyExample&limit=1', `key=${REDACTED}&limit=1`],
  ['access%5Ftoken=abc%20d', `access_token=${REDACTED}`],
  [`q=re%5F${LONG}`, `q=re_${REDACTED}`],
  ['next=https%3A%2F%2Fa.example%2F%3Fpassword%3Dx', `next=https://a.example/?password=${REDACTED}`],
  [`next=%252Fs%252F${LONG}`, `next=/s/${REDACTED}`],
  [`/nope/re_${LONG}`, `/nope/re_${REDACTED}`],
  [`/emails/mh_${LONG}?a`, `/emails/mh_${REDACTED}?a`],
  ['access_token=a%26b%20c;d&limit=1', `access_token=${REDACTED}&limit=1`],
  ['filter=a?b&sig=1', `filter=a?b&sig=${REDACTED}`],
  [`//s//${LONG}`, `//s//${REDACTED}`],
  [`/contacts/ann%40here.example`, `/contacts/ann%40here.example`],
  ['/%', '/%'],
  ['%E0%A4%A', '%E0%A4%A'],
]

for (const [text, stored] of ENCODED)
  test(`secrets in paths and queries are removed: ${stored}`, () => {
    assert.is(withoutEncodedSecrets(text), stored)
  })

test('a key in the name of a user agent is removed', () => {
  assert.is(withoutSecrets(`x re_${LONG}`), `x re_${REDACTED}`)
})

/** Contents of attachments with the form in which they are stored. */
const CONTENTS: [unknown, string][] = [
  ['aGVsbG8=', '[5 bytes]'],
  ['data:text/plain;base64,aGVsbG8=', '[5 bytes]'],
  [[104, 101], '[2 bytes]'],
  [{ type: 'Buffer', data: [1, 2, 3] }, '[3 bytes]'],
]

for (const [content, stored] of CONTENTS)
  test(`the content of an attachment is replaced by its size: ${JSON.stringify(content)}`, () => {
    const body = [{ attachments: [{ filename: 'a.txt', content }], content }]
    assert.equal(plain(loggedBody(JSON.stringify(body), false)), [
      { attachments: [{ filename: 'a.txt', content: stored }], content },
    ])
  })

test('the content of an attachment that was cut is replaced, too', () => {
  const text = JSON.stringify({ to: 'a', attachments: [{ filename: 'a', content: LONG }] }).slice(0, -20)
  assert.equal(plain(loggedBody(text, true)), {
    to: 'a',
    attachments: [{ filename: 'a', content: '[more than 18 bytes]' }],
  })
})

/** Texts that were cut, with their completion. */
const CUT: [string, string][] = [
  ['', ''],
  ['{', '{}'],
  ['[', '[]'],
  ['{"a', '{}'],
  ['{"a"', '{}'],
  ['{"a":', '{}'],
  ['{"a":"b', '{"a":"b…"}'],
  ['{"a":"b\\', '{"a":"b…"}'],
  ['{"a":"b\\\\', '{"a":"b\\\\…"}'],
  ['{"a":"b\\u00', '{"a":"b…"}'],
  ['{"a":"b\\u00e9', '{"a":"b\\u00e9…"}'],
  ['{"a":"b"', '{"a":"b"}'],
  ['{"a":"b",', '{"a":"b"}'],
  ['{"a":12', '{}'],
  ['{"a":12,', '{"a":12}'],
  ['{"a":tru', '{}'],
  ['{"a":[1,2', '{"a":[1]}'],
  ['{"a":[1,{"b":"c"},"d', '{"a":[1,{"b":"c"},"d…"]}'],
  ['[{"a":{}', '[{"a":{}}]'],
  ['{"a":"b", "c": "d', '{"a":"b", "c": "d…"}'],
]

for (const [text, closed] of CUT)
  test(`JSON that was cut is completed: ${text}`, () => {
    assert.is(closedJson(text), closed)
  })

test('JSON that was cut anywhere can be read', () => {
  const whole = JSON.stringify([{ a: 'b\\"c\n\u00e9', d: [1.5, -2, true, null, { e: '' }] }, 'f', {}])
  for (let end = 1; end < whole.length; end++) JSON.parse(closedJson(whole.slice(0, end)))
  assert.is(closedJson(whole), whole)
})

for (const text of ['', 'no', '{"a":}', '{"password":"secret"'])
  test(`a body that is not JSON is not stored: ${text}`, () => {
    assert.is(loggedBody(text, false), undefined)
  })

test('a deeply nested body is stored to a limit', () => {
  const text = `${'['.repeat(5_000)}"password"${']'.repeat(5_000)}`
  assert.not(JSON.stringify(loggedBody(text, false)).includes('password'))
})

/** Copies objects without a prototype. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

test.run()
