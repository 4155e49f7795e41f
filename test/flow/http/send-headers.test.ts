import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('headers of POST /emails')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }
const INVALID = { status: 422, name: 'validation_error' }

/** All tables are in test/unit/interfaces/api/emails/send-headers.test.ts. */
for (const [name, value] of [
  ['DKIM-signature', 'x'],
  ['X\nBcc: evil@evil.example\nY', 'x'],
  ['X-A', 'a\r\nBcc: evil@evil.example'],
  ['References', `<${'q'.repeat(1_000)}@b.example>`],
] as const)
  test(`refuse ${JSON.stringify({ [name]: value })}`, async () => {
    const body = { ...GOOD, headers: { [name]: value } }
    const refusal = { ...INVALID, path: `headers.${name}` }
    await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], refusal)
  })

test('take Reply-To beside a reply_to with the same addresses', async () => {
  const both = {
    reply_to: 'Ann <ann@b.example>',
    headers: { 'Reply-To': 'Ann <Ann@b.example>, bob@d.example' },
  }
  const email = await mailhorn.email(await mailhorn.send({ ...GOOD, ...both }))
  assert.equal(email.reply_to, ['Ann <Ann@b.example>', 'bob@d.example'])
})

test('leave out a References and an In-Reply-To that are empty', async () => {
  const headers = { 'In-Reply-To': '', References: ' ', 'X-A': 'b' }
  const id = await mailhorn.send({ ...GOOD, headers })
  assert.equal((await mailhorn.emailWhen(id, 'delivered')).headers, { 'X-A': 'b' })
  const { body } = await mailhorn.call('GET', `/emails/${id}/raw`, { key: mailhorn.apiKey })
  assert.not.match(body, /^(?:In-Reply-To|References):/im)
})

test('take 100 fields of other names and show them unchanged', async () => {
  const headers = {
    ...Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`X-${i}`, `value ${i}`])),
    'In-Reply-To': '<a@b.example>',
    References: '<a@b.example> <c@d.example>',
    'List-Unsubscribe': '<https://here.example/u>, <mailto:u@here.example>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    'X-Entity-Ref-ID': 'ref',
    Priority: 'urgent',
    "X!#$%&'*+.^_`|~-Odd": 'grüße 😀',
    __proto__x: 'not special',
    constructor: 'not special either',
    toString: 'nor this',
  }
  const id = await mailhorn.send({ ...GOOD, headers })
  const email = await mailhorn.email(id)
  assert.equal(email.headers, headers)
})

test('take a field named __proto__', async () => {
  const raw = `{"from":"a@b.example","to":"delivered@simulator.test","subject":"s","text":"t",
    "headers":{"__proto__":"x"}}`
  const { status, body } = await mailhorn.call('POST', '/emails', { key: mailhorn.apiKey, raw })
  assert.is(status, 200)
  const { headers } = await mailhorn.email(body.id)
  assert.equal(Object.entries(headers), [['__proto__', 'x']])
})

test('honour Message-ID', async () => {
  const id = await mailhorn.send({ ...GOOD, headers: { 'Message-ID': ' <own@here.example> ' } })
  assert.is((await mailhorn.email(id)).message_id, '<own@here.example>')
})

test('honour Reply-To with several mailboxes', async () => {
  const headers = { 'reply-to': 'Ann <ann@here.example>, "Doe, Jane" <jane@here.example>' }
  const email = await mailhorn.email(await mailhorn.send({ ...GOOD, headers }))
  assert.equal(email.reply_to, ['Ann <ann@here.example>', '"Doe, Jane" <jane@here.example>'])
})

test.run()
