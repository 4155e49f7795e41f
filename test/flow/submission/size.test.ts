import * as assert from 'uvu/assert'
import { MESSAGE_BYTES_MAX } from '../../../src/pipeline/accept/message-limits.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('size of submitted messages')
let mailhorn: Mailhorn

test.before(async () => {
  mailhorn = await startMailhorn({ env: { MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0' } })
  await mailhorn.verifiedDomain('here.example')
})
test.after(() => mailhorn.close())

test('a message over the limit is refused with 552, announced or not, and the session goes on', async t => {
  const client = await t.using(dialSmtp({ port: mailhorn.app.submission.submissionTls!.port }))
  await client.startTls()
  await client.reply()
  await client.say('EHLO program.example')
  const login = Buffer.from(`\0resend\0${mailhorn.apiKey}`).toString('base64')
  assert.match(await client.say(`AUTH PLAIN ${login}`), /^235/)

  assert.match(await client.say(`MAIL FROM:<ann@here.example> SIZE=${MESSAGE_BYTES_MAX + 1}`), /^552/)

  await client.say('MAIL FROM:<ann@here.example>')
  await client.say('RCPT TO:<delivered@simulator.test>')
  assert.match(await client.say('DATA'), /^354/)
  client.write('From: ann@here.example\r\nSubject: large\r\n\r\n')
  const lines = Buffer.from(`${'x'.repeat(98)}\r\n`.repeat(10_000))
  for (let sent = 0; sent <= MESSAGE_BYTES_MAX; sent += lines.length) client.write(lines)
  assert.match(await client.say('.'), /^552 5\.3\.4/)
  assert.equal(mailhorn.rows('select id from emails'), [])

  await client.say('MAIL FROM:<ann@here.example>')
  await client.say('RCPT TO:<delivered@simulator.test>')
  await client.say('DATA')
  client.write('From: ann@here.example\r\nSubject: small\r\n\r\nhi\r\n')
  assert.match(await client.say('.'), /^250/)
})

test.run()
