import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { type ExpectedRefusal, refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('POST /emails refuses')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const MISSING = { status: 422, name: 'missing_required_field' }
const INVALID = { status: 422, name: 'validation_error' }
const BAD_FROM = { status: 422, name: 'invalid_from_address' }

/** One test: the good email with some fields replaced; `undefined` takes a field away. */
function refused(what: string, fields: object, expected: ExpectedRefusal) {
  test(what, async () => {
    const body = { ...GOOD, ...fields }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], expected)
  })
}

const BREAKS = { CR: 'a\rb', LF: 'a\nb', 'CR LF': 'a\r\nBcc: evil@evil.example', NUL: 'a\0b' }
const NO_TEXTS = { number: 5, boolean: true, object: { a: 1 }, 'nested list': [['a']] }

for (const field of ['from', 'to', 'subject'] as const) {
  refused(`no ${field}`, { [field]: undefined }, { ...MISSING, path: field })
  refused(`null as ${field}`, { [field]: null }, { ...MISSING, path: field })
  refused(`an empty list as ${field}`, { [field]: [] }, { ...MISSING, path: field })
}
for (const field of ['from', 'subject'] as const)
  refused(`an empty ${field}`, { [field]: '' }, { ...MISSING, path: field })
for (const field of ['from', 'subject', 'html', 'text'] as const)
  for (const [kind, value] of Object.entries({ ...NO_TEXTS, list: ['a'] }))
    refused(`a ${kind} as ${field}`, { [field]: value }, { ...INVALID, path: field })

refused('no body text at all', { text: undefined }, { ...MISSING, path: 'html', says: /`html` or `text`/ })
refused('null as both body texts', { html: null, text: null }, { ...MISSING, path: 'html' })
refused('a missing field before an invalid one', { to: undefined, subject: 5 }, { ...MISSING, path: 'to' })
test('two invalid fields and names both', async () => {
  const body = { ...GOOD, html: 5, subject: 5 }
  const call = ['POST', '/emails', { key: mailhorn.apiKey, body }] as const
  const refusal = await refuses(mailhorn, [...call], { ...INVALID, path: 'subject' })
  assert.equal(refusal.body.errors.map(({ path }: { path: string }) => path).sort(), ['html', 'subject'])
})

for (const [kind, text] of Object.entries(BREAKS)) {
  refused(`${kind} in the subject`, { subject: text }, { ...INVALID, path: 'subject' })
  refused(`${kind} in the name of from`, { from: `${text} <a@here.example>` }, { ...BAD_FROM, path: 'from' })
  refused(`${kind} in the address of from`, { from: `${text}@here.example` }, { ...BAD_FROM, path: 'from' })
}
refused('a subject of 2001 characters', { subject: 'x'.repeat(2_001) }, { ...INVALID, path: 'subject' })
refused('a from without a domain', { from: 'ann' }, { ...BAD_FROM, path: 'from' })
refused('a from of blanks', { from: '   ' }, { ...BAD_FROM, path: 'from' })
refused(
  'a from whose name has 513 characters',
  { from: `${'n'.repeat(513)} <ann@here.example>` },
  { ...BAD_FROM, path: 'from' },
)
refused(
  'a from whose local part has 65 octets',
  { from: `${'é'.repeat(32)}a@here.example` },
  { ...BAD_FROM, path: 'from' },
)
refused('two addresses in from', { from: 'a@here.example, b@here.example' }, { ...BAD_FROM, path: 'from' })

for (const field of ['to', 'cc', 'bcc', 'reply_to'] as const) {
  for (const [kind, value] of Object.entries({ ...NO_TEXTS, 'list with null': [null], 'list with 5': [5] }))
    refused(`a ${kind} as ${field}`, { [field]: value }, { ...INVALID, path: field })
  for (const [kind, text] of Object.entries(BREAKS)) {
    refused(
      `${kind} in a name of ${field}`,
      { [field]: `${text} <a@b.example>` },
      { ...INVALID, path: field },
    )
    refused(
      `${kind} in an address of ${field}`,
      { [field]: `${text}@b.example` },
      { ...INVALID, path: field },
    )
  }
  refused(`an empty address in ${field}`, { [field]: '' }, { ...INVALID, path: field })
  refused(`a list with an empty address in ${field}`, { [field]: [''] }, { ...INVALID, path: field })
  refused(
    `the second of two addresses in ${field}, and says which`,
    { [field]: ['a@b.example', 'no address'] },
    { ...INVALID, path: `${field}[1]` },
  )
  refused(
    `a bad address in ${field} under its old spelling`,
    { [field]: undefined, ...(field === 'reply_to' ? { replyTo: 'nobody' } : { [field]: 'nobody' }) },
    { ...INVALID, path: field },
  )
}

const addresses = (count: number, at: string) =>
  Array.from({ length: count }, (_, i) => `delivered+${i}@${at}`)
const TOO_MANY = { ...INVALID, path: 'to', says: /at most 50 recipients/ }
refused('51 recipients in to', { to: addresses(51, 'simulator.test') }, TOO_MANY)
refused(
  '51 recipients over to, cc and bcc',
  {
    to: addresses(17, 'simulator.test'),
    cc: addresses(17, 'simulator.test'),
    bcc: addresses(17, 'simulator.test'),
  },
  TOO_MANY,
)
refused('one recipient named 51 times', { to: Array(51).fill('delivered@simulator.test') }, TOO_MANY)
refused('100,000 recipients', { to: Array(100_000).fill('delivered@simulator.test') }, TOO_MANY)

for (const [kind, value] of Object.entries({ text: 'x', number: 5, object: { a: 1 } }))
  refused(`a ${kind} as tags`, { tags: value }, { ...INVALID, path: 'tags' })
for (const [kind, value] of Object.entries({ text: 'x', number: 5, null: null, list: [] }))
  refused(`a ${kind} as a tag`, { tags: [{ name: 'a', value: 'b' }, value] }, { ...INVALID, path: 'tags[1]' })
refused('51 tags', { tags: Array(51).fill({ name: 'a', value: 'b' }) }, { ...INVALID, path: 'tags' })
refused('tags of more than 4 KB', { tags: [{ name: 'é'.repeat(2_100) }] }, { ...INVALID, path: 'tags' })

for (const [field, value] of [
  ['scheduled_at', '2099-01-01T00:00:00Z'],
  ['scheduledAt', '2099-01-01T00:00:00Z'],
] as const) {
  const path = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  refused(`${field}, which is still to come`, { [field]: value }, { ...INVALID, path })
}

for (const field of ['topic_id', 'topicId']) {
  for (const id of [
    'top_01990000-0000-7000-8000-000000000000',
    'tpl_01990000-0000-7000-8000-000000000000',
    'x',
    '',
  ])
    refused(
      `${field} "${id}", which is no topic of the account`,
      { [field]: id },
      { status: 404, name: 'not_found', path: 'topic_id', says: /Topic not found/ },
    )
  refused(`a number as ${field}`, { [field]: 5 }, { ...INVALID, path: 'topic_id' })
}

refused(
  'a text of more than 40 MB',
  { text: 'x'.repeat(41 * 1024 * 1024) },
  {
    status: 413,
    name: 'validation_error',
    says: /40 MB/,
  },
)
refused(
  'a body of more than 56 MB',
  { text: 'x'.repeat(56 * 1024 * 1024) },
  {
    status: 413,
    name: 'validation_error',
  },
)

refused(
  'a sender domain that is not registered',
  { to: 'ok@there.example' },
  {
    status: 403,
    name: 'validation_error',
    says: /here\.example/,
  },
)
refused(
  'a mix of real and simulated recipients without a verified domain',
  {
    to: ['delivered@simulator.test', 'ok@there.example'],
  },
  { status: 403, name: 'validation_error', says: /here\.example/ },
)
refused(
  'a sub-domain of the simulator as if it were the simulator',
  { to: 'delivered@x.simulator.test' },
  {
    status: 403,
    name: 'validation_error',
    says: /here\.example/,
  },
)

for (const [kind, raw] of Object.entries({ list: '[]', 'list of emails': JSON.stringify([GOOD]) }))
  test(`a ${kind} as its body`, async () => {
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, raw }], {
      status: 400,
      name: 'validation_error',
      says: /object/,
    })
  })

test('an empty body, naming every missing field', async () => {
  const { body } = await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey }], {
    ...MISSING,
    path: 'from',
  })
  assert.equal(
    body.errors.map(({ path }: { path: string }) => path),
    ['from', 'to', 'subject'],
  )
})

test.run()
