import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

/** Machines nearby that cannot sign in hand over their mail by their address alone. */
const test = suite('relay for trusted networks')

let mailhorn: Mailhorn

test.before(async () => {
  mailhorn = await startMailhorn({
    env: { MAILHORN_SMTP_RELAY_LISTEN: '127.0.0.1:0', MAILHORN_SMTP_RELAY_NETWORKS: '127.0.0.8/30,::1' },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(() => mailhorn.close())

async function dial(t: TestContext, from: string): Promise<SmtpClient> {
  return t.using(dialSmtp({ port: mailhorn.app.submission.relay!.port, from }))
}

async function submit(client: SmtpClient, sender: string, recipient: string) {
  await client.say('MAIL FROM:<cron@printer.local>')
  await client.say(`RCPT TO:<${recipient}>`)
  await client.say('DATA')
  client.write(`From: ${sender}\r\nSubject: paper\r\n\r\nThere is none.\r\n`)
  return client.say('.')
}

test('from there mail is taken without a login, for the domains of one account', async t => {
  const client = await dial(t, '127.0.0.9')
  assert.match(await client.reply(), /^220/)
  assert.not.match(await client.say('EHLO printer.local'), /AUTH|REQUIRETLS/)
  const reply = await submit(client, 'printer@here.example', 'delivered@simulator.test')
  assert.match(reply, /^250 2\.0\.0 Ok: queued as eml_/)
  const email = await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered')
  assert.equal([email.subject, email.text], ['paper', 'There is none.\n'])
  assert.match(await submit(client, 'printer@foreign.example', 'bob@there.example'), /^550 5\.7\.1/)
})

test('commands and addresses of devices are taken as they are', async t => {
  const client = await dial(t, '127.0.0.9')
  await client.reply()
  assert.match(await client.say('EHLO my_scanner 2nd floor'), /^250/)
  assert.match(await client.say('HELO Büro Drucker'), /^250/)
  assert.match(await client.say('MAIL FROM:scanner@printer.local SIZE=100'), /^250/)
  assert.match(await client.say('RCPT TO:delivered@simulator.test'), /^250/)
  assert.match(await client.say('DATA'), /^354/)
  client.write(
    'From: Scanner, 2nd floor <ilo.@here.example>\r\nTo: delivered@simulator.test\r\nSubject: scan\r\n\r\nHi.\r\n',
  )
  const reply = await client.say('.')
  const email = await mailhorn.emailWhen(reply.slice(reply.indexOf('eml_')), 'delivered')
  assert.equal(
    [email.from, email.to],
    ['"Scanner, 2nd floor" <"ilo."@here.example>', ['delivered@simulator.test']],
  )
})

test('nobody else is heard', async t => {
  const client = await dial(t, '127.0.0.12')
  assert.match(await client.reply(), /^554 5\.7\.1/)
  assert.is(await client.reply(), '')
})

test.run()
