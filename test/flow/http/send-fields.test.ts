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

/** All tables are in test/unit/interfaces/api/emails/send-fields.test.ts. */
refused('no recipient', { to: undefined }, { ...MISSING, path: 'to' })
refused('a blank subject', { subject: ' \u00a0' }, { ...MISSING, path: 'subject' })
refused('a list as html', { html: ['a'] }, { ...INVALID, path: 'html' })
refused(
  'CR LF in the name of from',
  { from: 'a\r\nBcc: evil@evil.example <a@here.example>' },
  { ...BAD_FROM, path: 'from' },
)
test('two invalid fields and names both', async () => {
  const body = { ...GOOD, html: 5, subject: 5 }
  const call = ['POST', '/emails', { key: mailhorn.apiKey, body }] as const
  const refusal = await refuses(mailhorn, [...call], { ...INVALID, path: 'subject' })
  assert.equal(refusal.body.errors.map(({ path }: { path: string }) => path).sort(), ['html', 'subject'])
})

refused(
  '100,000 recipients',
  { to: Array(100_000).fill('delivered@simulator.test') },
  { ...INVALID, path: 'to', says: /at most 50 recipients/ },
)

for (const [field, value] of [
  ['scheduled_at', '2099-01-01T00:00:00Z'],
  ['scheduledAt', '2099-01-01T00:00:00Z'],
] as const) {
  const path = field.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
  refused(`${field}, which is still to come`, { [field]: value }, { ...INVALID, path })
}

for (const field of ['topic_id', 'topicId'])
  refused(
    `${field} of no topic of the account`,
    { [field]: 'top_01990000-0000-7000-8000-000000000000' },
    { status: 404, name: 'not_found', path: 'topic_id', says: /Topic not found/ },
  )

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
