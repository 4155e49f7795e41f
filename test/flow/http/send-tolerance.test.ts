import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('POST /emails takes what its clients send')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }

async function sent(email: object) {
  return mailhorn.email(await mailhorn.send(email))
}

async function sentRaw(raw: string) {
  const { status, body } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw })
  assert.is(status, 200, JSON.stringify(body))
  return mailhorn.email(body.id)
}

test('blanks around a subject', async () => {
  assert.is((await sent({ ...GOOD, subject: ' \u00a0Hello you\r\n' })).subject, 'Hello you')
})

const OPTIONAL = [
  'cc',
  'bcc',
  'reply_to',
  'html',
  'headers',
  'attachments',
  'tags',
  'template',
  'template_id',
  'template_data',
  'scheduled_at',
  'topic_id',
]

/** Lists, and maps, of which PHP makes `[]` when they are empty. */
const LISTS = ['cc', 'bcc', 'reply_to', 'headers', 'attachments', 'tags', 'template_data']

for (const [what, value, keys] of [
  ['null', null, OPTIONAL],
  ['an empty list', [], LISTS],
] as const) {
  for (const key of keys)
    test(`${what} as ${key} means absent`, async () => {
      const email = await sent({ ...GOOD, [key]: value })
      assert.is(email.status !== 'scheduled' && email.html, null)
      assert.equal([email.cc, email.bcc, email.reply_to, email.tags, email.attachments], [[], [], [], [], []])
      assert.equal(email.headers, {})
    })
  test(`${what} in all of these fields means absent`, async () => {
    const email = await sent({ ...GOOD, ...Object.fromEntries(keys.map(key => [key, value])) })
    assert.is(email.text, 'hello')
  })
}

for (const key of OPTIONAL.filter(key => !LISTS.includes(key)))
  test(`an empty list as ${key} is refused`, async () => {
    const body = { ...GOOD, [key]: [] }
    const answer = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, body })
    assert.equal([answer.status, answer.body.errors[0].path], [422, key])
  })

test('text only or html only is accepted', async () => {
  const { text: _, ...bare } = GOOD
  const email = await sent({ ...bare, html: '<p>hello</p>', text: null })
  assert.equal([email.html, email.text], ['<p>hello</p>', null])
})

test('unknown keys are ignored on every level', async () => {
  const email = await sent({
    ...GOOD,
    id: 'eml_x',
    email_id: 5,
    created_at: {},
    attachments: [{ content: 'aGk=', filename: 'a.txt', inline_content_id: 'x', size: 'big' }],
  })
  assert.is(email.attachments.length, 1)
})

for (const [snake, camel, input, shown] of [
  ['reply_to', 'replyTo', 'a@here.example', ['a@here.example']],
  ['reply_to', 'replyTo', ['a@here.example', 'b@here.example'], ['a@here.example', 'b@here.example']],
] as const) {
  test(`${camel} is accepted for ${snake}`, async () => {
    assert.equal((await sent({ ...GOOD, [camel]: input }))[snake], shown)
  })
  for (const absent of [null, []])
    test(`${camel} is used if ${snake} is ${JSON.stringify(absent)}`, async () => {
      assert.equal((await sent({ ...GOOD, [snake]: absent, [camel]: input }))[snake], shown)
    })
  test(`${snake} takes precedence over ${camel}`, async () => {
    const email = await sent({ ...GOOD, [snake]: 'own@here.example', [camel]: input })
    assert.equal(email[snake], ['own@here.example'])
  })
}

test('contentType and contentId of attachments are accepted with lower precedence', async () => {
  const { attachments } = await sent({
    ...GOOD,
    attachments: [
      { content: 'aGk=', contentType: 'image/png', contentId: 'one' },
      {
        content: 'aGk=',
        contentType: 'image/png',
        content_type: 'image/gif',
        contentId: 'x',
        content_id: 'two',
      },
    ],
  })
  assert.equal(
    attachments.map((a: { content_type: string; content_id: string }) => [a.content_type, a.content_id]),
    [
      ['image/png', 'one'],
      ['image/gif', 'two'],
    ],
  )
})

for (const [field, path, status, name] of [
  ['scheduledAt', 'scheduled_at', 422, 'validation_error'],
  ['topicId', 'topic_id', 404, 'not_found'],
] as const)
  test(`${field} is not ignored`, async () => {
    const body = { ...GOOD, [field]: 'x' }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], { status, name, path })
  })

test('a single recipient may be a string or a list', async () => {
  const text = await sent({ ...GOOD, cc: 'delivered+1@simulator.test' })
  const list = await sent({ ...GOOD, cc: ['delivered+1@simulator.test'] })
  assert.equal(text.cc, list.cc)
})

test('tags may be any objects and are stored unchanged', async () => {
  const tags: object[] = [
    { name: 'category', value: 'welcome' },
    { any: { thing: [1, null, 'ü'] }, 'odd key ': true },
    { constructor: 'x', toString: 1 },
    {},
  ]
  assert.equal((await sent({ ...GOOD, tags })).tags, tags)
})

test('__proto__ in a body is an ordinary key', async () => {
  const before = Object.getOwnPropertyNames(Object.prototype).sort()
  const email = await sentRaw(`{
    "from": "ann@here.example", "to": "delivered@simulator.test", "subject": "hi", "text": "hello",
    "__proto__": {"polluted": true, "cc": "delivered+evil@simulator.test"},
    "constructor": {"prototype": {"polluted": true}},
    "tags": [{"__proto__": {"polluted": true}, "name": "a"}],
    "attachments": [{"__proto__": {"filename": "evil.exe"}, "content": "aGk="}]
  }`)
  assert.equal(Object.getOwnPropertyNames(Object.prototype).sort(), before)
  assert.is(({} as Record<string, unknown>).polluted, undefined)
  assert.equal(email.cc, [])
  assert.is(email.attachments[0].filename, 'attachment-1')
})

test('the last of duplicate keys is used', async () => {
  const email = await sentRaw(
    '{"from":"ann@here.example","to":"delivered@simulator.test","subject":"one","text":"t","subject":"two"}',
  )
  assert.is(email.subject, 'two')
})

test('subject, text and html are returned unchanged', async () => {
  const odd = 'ünï 😀 \u2028\u2029\u0085\u000b\u000c\u202e \ufeff \t end'
  const body = `${odd}\r\n\0\n.\n..\r`
  const email = await sent({ ...GOOD, subject: odd, text: body, html: body })
  assert.equal([email.subject, email.text, email.html], [odd, body, body])
})

test('a subject of maximum length is accepted', async () => {
  const subject = 'é'.repeat(2_000)
  assert.is((await sent({ ...GOOD, subject })).subject, subject)
})

for (const type of [
  'application/json',
  'APPLICATION/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/vnd.api+json',
])
  test(`${type} is accepted as JSON`, async () => {
    const call = { key: mailhorn.apiKey, body: GOOD, headers: { 'content-type': type } }
    assert.is((await mailhorn.call('POST', '/emails', call)).status, 200)
  })

test('a byte order mark before the body is ignored', async () => {
  assert.is((await sentRaw(`\ufeff${JSON.stringify(GOOD)}`)).subject, 'hi')
})

test('a body may be nested 64 levels deep', async () => {
  const nested = `${'['.repeat(63)}${']'.repeat(63)}`
  assert.is((await sentRaw(`${JSON.stringify(GOOD).slice(0, -1)},"x":${nested}}`)).subject, 'hi')
})

test('a chunked body without a length is accepted', async () => {
  const bytes = Buffer.from(JSON.stringify(GOOD))
  const response = await fetch(`${mailhorn.baseUrl}/emails`, {
    method: 'POST',
    headers: { authorization: `Bearer ${mailhorn.apiKey}`, 'content-type': 'application/json' },
    body: ReadableStream.from([...bytes].map(byte => Uint8Array.of(byte))),
    duplex: 'half',
  } as RequestInit)
  assert.is(response.status, 200)
  await response.body?.cancel()
})

test.run()
