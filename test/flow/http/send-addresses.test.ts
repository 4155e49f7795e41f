import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { refuses } from '../../kit/refusals.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('addresses of POST /emails')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const GOOD = { from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'hi', text: 'hello' }

/** All tables are in test/unit/interfaces/api/emails/send-addresses.test.ts. */
for (const text of ['a@b.example, c@d.example', 'a@b.example, Bob <c@d.example>', 'a@b.example\0@c.example'])
  for (const field of ['to', 'reply_to', 'from'])
    test(`${JSON.stringify(text)} is refused in ${field}`, async () => {
      const body = { ...GOOD, [field]: text }
      const name = field === 'from' ? 'invalid_from_address' : 'validation_error'
      const refusal = { status: 422, name, path: field }
      await refuses(mailhorn, ['POST', '/emails', { key: mailhorn.apiKey, body }], refusal)
    })

/** Given address, the address that the API shows, and the one recipient. */
const ONE_MAILBOX = [
  ['  delivered@SIMULATOR.Test  ', 'delivered@simulator.test', 'delivered@simulator.test'],
  ['jose\u0301@simulator.test', 'jos\u00e9@simulator.test', 'jos\u00e9@simulator.test'],
  [
    '"Doe, Jane 😀" <delivered@simulator.test>',
    '"Doe, Jane 😀" <delivered@simulator.test>',
    'delivered@simulator.test',
  ],
] as const

for (const [input, shown, address] of ONE_MAILBOX)
  test(`${input} is one mailbox`, async () => {
    const id = await mailhorn.send({ ...GOOD, to: input, reply_to: input })
    const email = await mailhorn.emailWhen(id, 'delivered', 'bounced')
    assert.equal(email.to, [shown])
    assert.equal(email.reply_to, [shown])
    assert.equal(
      email.recipients.map((recipient: { address: string }) => recipient.address),
      [address],
    )
    const second = await mailhorn.send({ ...GOOD, to: email.to[0] })
    const again = await mailhorn.emailWhen(second, 'delivered', 'bounced')
    assert.equal(again.to, [shown], 'what the API shows, it takes back as the same mailbox')
  })

test('a look-alike domain in another script is a different domain, shown as A-labels', async () => {
  const call = [
    'POST',
    '/emails',
    { key: mailhorn.apiKey, body: { ...GOOD, to: 'a@simulаtor.test' } },
  ] as const
  await refuses(mailhorn, [...call], { status: 403, name: 'validation_error' })
})

test('a duplicate address is one recipient with its first kind', async () => {
  const id = await mailhorn.send({
    ...GOOD,
    to: ['delivered+a@simulator.test', 'Delivered+A@Simulator.test'],
    cc: ['delivered+b@simulator.test', 'delivered+a@simulator.test'],
    bcc: ['DELIVERED+B@simulator.test', 'delivered+c@simulator.test'],
  })
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(
    email.recipients.map(({ address, kind }: { address: string; kind: string }) => `${kind} ${address}`),
    ['to delivered+a@simulator.test', 'cc delivered+b@simulator.test', 'bcc delivered+c@simulator.test'],
  )
  assert.equal(email.to, ['delivered+a@simulator.test', 'Delivered+A@simulator.test'])
})

test('50 recipients in to, cc and bcc are accepted', async () => {
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `delivered+${from + i}@simulator.test`)
  const id = await mailhorn.send({ ...GOOD, to: many(0, 20), cc: many(20, 20), bcc: many(40, 10) })
  assert.is((await mailhorn.emailWhen(id, 'delivered')).recipients.length, 50)
})

test.run()
