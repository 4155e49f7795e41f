import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('attachments of POST /emails')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const BAD = { status: 422, name: 'invalid_attachment' }
const INVALID = { status: 422, name: 'validation_error' }
const CONTENT = Buffer.from('hello').toString('base64')
const MIB = 1024 * 1024

function refused(
  what: string,
  attachments: unknown,
  expected: { name: string; status: number; path: string; says?: RegExp },
) {
  test(`refuse ${what}`, async () => {
    const body = { ...GOOD, attachments }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], expected)
  })
}

for (const [kind, value] of Object.entries({
  text: 'x',
  number: 5,
  object: { filename: 'a', content: CONTENT },
}))
  refused(`a ${kind} in place of the list`, value, { ...INVALID, path: 'attachments' })
for (const [kind, value] of Object.entries({ text: 'x', number: 5, null: null, list: [] }))
  refused(`a ${kind} as an attachment`, [{ content: CONTENT }, value], { ...INVALID, path: 'attachments[1]' })

refused('one without content', [{ filename: 'a.txt' }], { ...BAD, path: 'attachments[0]' })
refused('one with null as content', [{ filename: 'a.txt', content: null }], {
  ...BAD,
  path: 'attachments[0]',
})
refused('the second of two without content', [{ content: CONTENT }, {}], { ...BAD, path: 'attachments[1]' })
refused('one with a path, which is still to come', [{ path: 'https://files.example/a.pdf' }], {
  ...BAD,
  path: 'attachments[0].path',
})
for (const path of ['/etc/passwd', 'file:///etc/passwd', 'data:text/plain,x', 'http://127.0.0.1/'])
  refused(`the path ${path}`, [{ filename: 'a', path }], { ...BAD, path: 'attachments[0].path' })
refused('a path beside content', [{ content: CONTENT, path: '/etc/passwd' }], {
  ...BAD,
  path: 'attachments[0].path',
})

for (const [what, content] of Object.entries({
  'a single character': 'A',
  'a length that no bytes have': 'AAAAA',
  'text that is not base64': 'this is not base64!',
  'bytes that are not base64': 'a*b=',
  'padding in the middle': 'YQ==YQ==',
  'more padding than there is': 'YQ===',
  'padding alone': '==',
  'a padding sign alone': '=',
  NUL: 'aGVs\0bG8=',
  'other letters': 'aGVsbG8é',
  'wide letters': 'ａＧＶｓｂＧ８＝',
}))
  refused(`content of ${what}`, [{ content }], { ...BAD, path: 'attachments[0].content' })

for (const [what, content] of Object.entries({
  '256': [0, 256],
  '-1': [-1],
  'a fraction': [1.5],
  'a text of digits': ['1'],
  null: [null],
  'a list': [[1]],
  'an object': [{}],
  'a number beyond all bytes': [1e300],
  'a wrong last number of many': [...Array(100_000).fill(7), 256],
  'a text after many numbers': [...Array(100_000).fill(7), '7'],
}))
  for (const [form, value] of [
    ['list', content],
    ['Buffer', { type: 'Buffer', data: content }],
  ] as const)
    refused(`a ${form} with ${what} in it`, [{ content: value }], { ...BAD, path: 'attachments[0].content' })

for (const [what, content] of Object.entries({
  'an object that is no Buffer': { data: [1] },
  'a Buffer of another type': { type: 'buffer', data: [1] },
  'a Buffer with text in it': { type: 'Buffer', data: 'YQ==' },
  'a data URL with no base64 in it': 'data:text/plain;base64,hello world!',
  'a data URL in another encoding': 'data:text/plain,hello',
}))
  refused(`${what} as content`, [{ content }], { ...BAD, path: 'attachments[0].content' })

for (const content_type of ['application/json', 'image/svg+xml', 'xtext/plain', 'application/text/plain'])
  refused(`plain text as ${content_type}`, [{ content: '{"a": 1}', content_type }], {
    ...BAD,
    path: `attachments[0].content${content_type === 'application/text/plain' ? '_type' : ''}`,
  })
refused('plain text whose name is that of an image', [{ content: 'hello!', filename: 'a.png' }], {
  ...BAD,
  path: 'attachments[0].content',
})
refused(
  'a data URL that is broken, though a text could be anything',
  [{ content: 'data:text/plain;base64,a!', content_type: 'text/plain' }],
  { ...BAD, path: 'attachments[0].content' },
)
for (const [key, text, max] of [
  ['filename', `${'x'.repeat(252)}.txt`, 255],
  ['filename', '😀'.repeat(256), 255],
  ['filename', 'x'.repeat(1_000_000), 255],
  ['content_type', `text/plain; x=${'y'.repeat(1_000)}`, 1_000],
  ['content_id', `<${'x'.repeat(201)}>`, 200],
  ['inline_content_id', 'x'.repeat(300), 200],
] as const)
  refused(`a ${key} of ${text.length} code units`, [{ content: CONTENT, [key]: text }], {
    ...BAD,
    path: `attachments[0].${key}`,
    says: new RegExp(`\`${key}\` must contain at most ${max} characters`),
  })
refused('a path of 2,049 characters', [{ path: `https://here.example/${'x'.repeat(2_028)}` }], {
  ...BAD,
  path: 'attachments[0].path',
  says: /at most 2048 characters/,
})

test('the same in the second email of a batch', async () => {
  const body = [GOOD, { ...GOOD, attachments: [{ content: CONTENT, filename: 'x'.repeat(256) }] }]
  await refuses(mailhorn, ['POST', '/emails/batch', { key: mailhorn.apiKey, body }], {
    ...BAD,
    path: '[1].attachments[0].filename',
    says: /^\[1\]: .*at most 255/,
  })
})

refused('101 of them', Array(101).fill({ content: CONTENT }), { ...BAD, path: 'attachments', says: /100/ })

for (const [what, first, second] of [
  ['the same content id twice', { content_id: 'a' }, { content_id: 'a' }],
  ['the same content id in two spellings', { content_id: '<a>' }, { contentId: ' a ' }],
  ['the same content id by an old name', { content_id: 'a' }, { inline_content_id: 'a' }],
] as const)
  refused(
    what,
    [
      { content: CONTENT, ...first },
      { content: CONTENT, ...second },
    ],
    { ...BAD, path: 'attachments[1].content_id', says: /content_id/ },
  )

for (const [kind, value] of Object.entries({ number: 5, boolean: true, object: { type: 'Buffer' } })) {
  refused(`a ${kind} as content`, [{ content: value }], { ...BAD, path: 'attachments[0].content' })
  refused(`a ${kind} as filename`, [{ content: CONTENT, filename: value }], {
    ...BAD,
    path: 'attachments[0].filename',
  })
  refused(`a ${kind} as content_type`, [{ content: CONTENT, content_type: value }], {
    ...BAD,
    path: 'attachments[0].content_type',
  })
  refused(`a ${kind} as contentId`, [{ content: CONTENT, contentId: value }], {
    ...BAD,
    path: 'attachments[0].content_id',
  })
}

for (const key of ['filename', 'content_type', 'content_id'])
  for (const value of ['a\r\nX: y', 'a\nb', 'a\rb', 'a\0b'])
    refused(`${JSON.stringify(value)} as ${key}`, [{ content: CONTENT, [key]: value }], {
      ...BAD,
      path: `attachments[0].${key}`,
    })

for (const type of [
  'text',
  'text/',
  '/plain',
  'text/plain/x',
  ';',
  'text/plain;;',
  'text/plain; charset',
  'text/plain; charset="utf',
  'téxt/plain',
  'text /plain',
  'text/plain, text/html',
])
  refused(`the content_type ${JSON.stringify(type)}`, [{ content: CONTENT, content_type: type }], {
    ...BAD,
    path: 'attachments[0].content_type',
  })

for (const id of ['a b', 'a>b', '<a', '<<a>>', 'é', '', '<>', 'x'.repeat(201)])
  refused(`the content_id ${JSON.stringify(id.slice(0, 8))}`, [{ content: CONTENT, content_id: id }], {
    ...BAD,
    path: 'attachments[0].content_id',
  })

test('refuse more than 40 MB once encoded', async () => {
  const content = Buffer.alloc(30 * MIB).toString('base64')
  const body = { ...GOOD, attachments: [{ filename: 'big.bin', content }] }
  const call = ['POST', '/emails', { key: mailhorn.apiKey, body }] as const
  await refuses(mailhorn, [...call], { ...BAD, path: 'attachments', says: /40 MB/ })
})

test('refuse two that are too large together', async () => {
  const content = Buffer.alloc(15 * MIB).toString('base64')
  const body = { ...GOOD, attachments: [{ content }, { content }] }
  const call = ['POST', '/emails', { key: mailhorn.apiKey, body }] as const
  await refuses(mailhorn, [...call], { ...BAD, path: 'attachments', says: /40 MB/ })
})

async function sent(attachments: object[]) {
  const id = await mailhorn.send({ ...GOOD, attachments })
  return (await mailhorn.emailWhen(id, 'delivered')).attachments
}

test('take 25 MB, and show its size', async () => {
  const [attachment] = await sent([{ content: Buffer.alloc(25 * MIB, 'x').toString('base64') }])
  assert.is(attachment.size, 25 * MIB)
})

for (const [form, contentOf] of Object.entries({
  'list of integers': (bytes: Buffer) => [...bytes],
  'Buffer in JSON': (bytes: Buffer) => bytes.toJSON(),
}))
  test(`take 4 MiB as a ${form}, and show its size`, async () => {
    const [attachment] = await sent([{ content: contentOf(Buffer.alloc(4 * MIB, 'x')) }])
    assert.is(attachment.size, 4 * MIB)
  })

for (const [what, part] of Object.entries({ objects: '{}', lists: '[]', 'numbers that are no bytes': '-1' }))
  test(`refuse 20 MB of ${what} at once and stay responsive`, async () => {
    const list = `[${`${part},`.repeat((20 * MIB) / (part.length + 1))}${part}]`
    const raw = `{"from":"a@here.example","attachments":[{"content":${list}}]}`
    const call = ['POST', '/emails', { key: mailhorn.apiKey, raw }] as const
    await refuses(mailhorn, [...call], { status: 413, name: 'validation_error', says: /values/ })
    await sent([{ content: CONTENT }])
  })

for (const [what, content, size] of [
  ['standard base64', 'aGVsbG8/Pz8+', 9],
  ['its URL alphabet', 'aGVsbG8_Pz8-', 9],
  ['no padding', 'aGVsbG8', 5],
  ['line breaks', 'aGVs\r\nbG8=\r\n', 5],
  ['blanks', ' aGVs bG8= ', 5],
  ['nothing at all', '', 0],
  ['an empty Buffer', { type: 'Buffer', data: [] }, 0],
] as const)
  test(`take ${what}`, async () => {
    const [attachment] = await sent([{ filename: 'a.bin', content }])
    assert.is(attachment.size, size)
  })

for (const [args, filename, type] of [
  [{}, 'attachment-1', 'application/octet-stream'],
  [{ filename: null }, 'attachment-1', 'application/octet-stream'],
  [{ filename: '' }, 'attachment-1', 'application/octet-stream'],
  [{ filename: false }, 'attachment-1', 'application/octet-stream'],
  [{ content_type: 'image/png' }, 'attachment-1.png', 'image/png'],
  [{ content_type: 'text/calendar; method=REQUEST' }, 'attachment-1.ics', 'text/calendar; method=REQUEST'],
  [{ content_type: '', filename: 'a.png' }, 'a.png', 'image/png'],
  [{ content_type: '' }, 'attachment-1', 'application/octet-stream'],
  [{ content_type: ' text/plain ; ' }, 'attachment-1.txt', 'text/plain'],
  [{ content_type: 'text/x-own; charset=utf-8;' }, 'attachment-1', 'text/x-own; charset=utf-8'],
  [{ content_type: 'x-no/such' }, 'attachment-1', 'x-no/such'],
  [{ content: `data:image/gif;base64,${CONTENT}` }, 'attachment-1.gif', 'image/gif'],
  [{ content: `data:image/gif;base64,${CONTENT}`, filename: 'a.png' }, 'a.png', 'image/png'],
  [{ content: `data:;base64,${CONTENT}` }, 'attachment-1', 'application/octet-stream'],
  [{ content: `data:no type;base64,${CONTENT}` }, 'attachment-1', 'application/octet-stream'],
  [{ filename: 'a.pdf' }, 'a.pdf', 'application/pdf'],
  [{ filename: '../../etc/passwd' }, '../../etc/passwd', 'application/octet-stream'],
  [{ filename: '\u202egnp.exe' }, '\u202egnp.exe', 'application/x-msdos-program'],
  [{ filename: 'Grüße 😀.txt' }, 'Grüße 😀.txt', 'text/plain'],
  [{ filename: 'a.txt', content_type: 'text/x-own; charset=utf-8' }, 'a.txt', 'text/x-own; charset=utf-8'],
  [{ filename: 'a.txt', contentType: 'image/png' }, 'a.txt', 'image/png'],
] as const)
  test(`name and type of ${JSON.stringify(args)}`, async () => {
    const [attachment] = await sent([{ content: CONTENT, ...args }])
    assert.is(attachment.filename, filename)
    assert.is(attachment.content_type, type)
    assert.match(attachment.id, /^att_[0-9a-f-]{36}$/)
    assert.is(attachment.size, 5)
  })

for (const [args, shown] of [
  ['logo', 'logo'],
  ['<logo@here.example>', 'logo@here.example'],
  [' logo ', 'logo'],
] as const)
  test(`the content id ${args} is shown as ${shown}`, async () => {
    const [attachment] = await sent([{ content: CONTENT, content_id: args }])
    assert.is(attachment.content_id, shown)
  })

test('POST /email is POST /emails, for strapi-provider-email-resend; other paths are not', async () => {
  const post = async (path: string) => {
    const headers = { authorization: `Bearer ${mailhorn.apiKey}`, 'content-type': 'application/json' }
    const answer = await fetch(mailhorn.baseUrl + path, {
      method: 'POST',
      headers,
      body: JSON.stringify(GOOD),
    })
    return { status: answer.status, body: (await answer.json()) as { id?: string } }
  }
  for (const path of ['/email', '//email/']) assert.match((await post(path)).body.id ?? '', /^eml_/)
  for (const path of ['/email/x', '/emailx', '/x/email']) assert.is((await post(path)).status, 404)
})

test('plain text that happens to be base64 is named in warnings of sends and batches', async () => {
  const doubtful = { filename: 'note.txt', content: 'hello123' }
  const sure = { filename: 'note.txt', content: 'Hello, Zoë!' }
  const send = (path: string, body: object) => mailhorn.call('POST', path, { key: mailhorn.apiKey, body })
  const { body } = await send('/emails', { ...GOOD, attachments: [sure, doubtful] })
  assert.equal(
    body.warnings.map(({ path }: { path: string }) => path),
    ['attachments[1].content'],
  )
  assert.match(body.warnings[0].message, /decoded from base64 to octets that are not UTF-8 text/)
  const batch = await send('/emails/batch', [GOOD, { ...GOOD, attachments: [doubtful] }])
  assert.is(batch.status, 200, JSON.stringify(batch.body))
  assert.equal(
    batch.body.warnings.map(({ path }: { path: string }) => path),
    ['[1].attachments[0].content'],
  )
  assert.not('warnings' in (await send('/emails', { ...GOOD, attachments: [sure] })).body)
})

test.run()
