import * as assert from 'uvu/assert'
import { type ExpectedRefusal, refusesToSend } from '../../../../kit/refusals.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('a request to send refuses')
const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const MISSING = { status: 422, name: 'missing_required_field' }
const INVALID = { status: 422, name: 'validation_error' }
const BAD_FROM = { status: 422, name: 'invalid_from_address' }

/** One test: the good email with some fields replaced; `undefined` takes a field away, as in JSON. */
function refused(what: string, fields: object, expected: ExpectedRefusal) {
  test(what, () => {
    refusesToSend(JSON.parse(JSON.stringify({ ...GOOD, ...fields })), expected)
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
for (const [what, texts] of Object.entries({
  'an empty html alone': { html: '', text: undefined },
  'an empty text alone': { text: '' },
  'an empty html beside null': { html: '', text: null },
  'two empty body texts': { html: '', text: '' },
}))
  refused(what, texts, { ...MISSING, path: 'html', says: /what was given is empty/ })
refused('null as both body texts', { html: null, text: null }, { ...MISSING, path: 'html' })
refused('a missing field before an invalid one', { to: undefined, subject: 5 }, { ...MISSING, path: 'to' })
test('two invalid fields and names both', () => {
  const { errors } = refusesToSend({ ...GOOD, html: 5, subject: 5 }, { ...INVALID, path: 'subject' })
  assert.equal(errors!.map(({ path }) => path).sort(), ['html', 'subject'])
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
    refused(
      `a ${kind} as ${field}`,
      { [field]: value },
      { ...INVALID, path: Array.isArray(value) ? `${field}[0]` : field },
    )
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

refused('an empty to', { to: '' }, { ...MISSING, path: 'to' })

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

for (const [kind, value] of Object.entries({ text: 'x', number: 5 }))
  refused(`a ${kind} as tags`, { tags: value }, { ...INVALID, path: 'tags' })
for (const [kind, value] of Object.entries({ text: 'x', number: 5, null: null, list: [] }))
  refused(`a ${kind} as a tag`, { tags: [{ name: 'a', value: 'b' }, value] }, { ...INVALID, path: 'tags[1]' })
for (const [kind, value] of Object.entries({ null: null, list: ['a'], object: { b: 1 } }))
  refused(
    `a ${kind} as a value of tags by name`,
    { tags: { a: 'b', c: value } },
    { ...INVALID, path: 'tags.c' },
  )
refused(
  '51 tags by name',
  { tags: Object.fromEntries(Array.from({ length: 51 }, (_, i) => [`t${i}`, 'v'])) },
  { ...INVALID, path: 'tags' },
)
refused('51 tags', { tags: Array(51).fill({ name: 'a', value: 'b' }) }, { ...INVALID, path: 'tags' })
refused('tags of more than 4 KB', { tags: [{ name: 'é'.repeat(2_100) }] }, { ...INVALID, path: 'tags' })

for (const field of ['topic_id', 'topicId']) {
  refused(`an empty ${field}`, { [field]: '' }, { ...INVALID, path: 'topic_id' })
  for (const id of ['tpl_01990000-0000-7000-8000-000000000000', 'x'])
    refused(
      `${field} "${id}", which is no topic of the account`,
      { [field]: id },
      { status: 404, name: 'not_found', path: 'topic_id', says: /Topic not found/ },
    )
  refused(`a number as ${field}`, { [field]: 5 }, { ...INVALID, path: 'topic_id' })
}

test.run()
