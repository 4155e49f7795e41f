import * as assert from 'uvu/assert'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('sending')

const THERE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

const GOOD = { from: 'ann@here.example', subject: 'hi', text: 'hi' }

test('a message goes from POST /emails, signed, to the MX of its recipient', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good' }))
  const mailhorn = await t.using(startMailhorn({ zone: THERE, mxPort: mx.port }))
  await mailhorn.verifiedDomain('here.example')
  const id = await mailhorn.send({
    from: 'Ann <ann@here.example>',
    to: 'ok@there.example',
    subject: 'Grüße',
    html: '<p>Hello</p>',
    text: 'Hello',
  })
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(
    email.events.map((event: { type: string }) => event.type),
    ['email.sent', 'email.delivered'],
  )
  const [message] = mx.messages
  assert.match(message!.mailFrom, /^b\+[a-z2-7]{45}@send\.here\.example$/)
  assert.equal(message!.rcptTo, ['ok@there.example'])
  assert.match(message!.headers, /^DKIM-Signature: /m)
  assert.ok(message!.tls)
  assert.equal(mx.violations, [])
})

test('names and local parts that need quotes are sent with them', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'good' }))
  const mailhorn = await t.using(startMailhorn({ zone: THERE, mxPort: mx.port }))
  await mailhorn.verifiedDomain('here.example')
  const id = await mailhorn.send({
    from: 'Acme, Inc. <ann@here.example>',
    to: 'Doe, John (Sales) <"john..doe"@there.example>\n',
    reply_to: '"a b"@here.example',
    subject: 'hi',
    text: 'hi',
  })
  const email = await mailhorn.emailWhen(id, 'delivered')
  assert.equal(email.to, ['"Doe, John (Sales)" <"john..doe"@there.example>'])
  const [message] = mx.messages
  assert.equal(message!.rcptTo, ['"john..doe"@there.example'])
  assert.match(message!.headers, '\r\nFrom: "Acme, Inc." <ann@here.example>\r\n')
  assert.match(message!.headers, '\r\nTo: "Doe, John (Sales)" <"john..doe"@there.example>\r\n')
  assert.match(message!.headers, '\r\nReply-To: "a b"@here.example\r\n')
  assert.equal(mx.violations, [])
  const suppressed = { body: { email: '"JOHN..doe"@there.example' }, key: mailhorn.apiKey }
  await mailhorn.call('POST', '/suppressions', suppressed)
  const again = await mailhorn.send({ ...GOOD, to: '"john\\..doe"@there.example' })
  assert.is((await mailhorn.emailWhen(again, 'suppressed')).status, 'suppressed')
})

test.run()
