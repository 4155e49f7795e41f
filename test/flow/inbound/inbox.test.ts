import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn, zoneText } from '../../kit/mailhorn.ts'
import { dialSmtp, type SmtpClient, sendMail } from '../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('received mail')
const NOT_HERE = /^550 5\.7\.1 /

let mailhorn: Mailhorn
let domainId: string

test.before(async () => {
  mailhorn = await startMailhorn()
  domainId = (await mailhorn.verifiedDomain('here.example')).id
  const { session } = addAccount(mailhorn, 'second')
  const { body: theirs } = await mailhorn.call('POST', '/domains', {
    session,
    body: { name: 'theirs.example' },
  })
  mailhorn.zone.add(zoneText(theirs.records))
  await mailhorn.call('POST', `/domains/${theirs.id}/verify`, { session })
  await mailhorn.call('POST', '/domains', { session, body: { name: 'pending.example' } })
})
test.after(() => mailhorn.close())

async function greeted(t: TestContext): Promise<SmtpClient> {
  const client = await t.using(dialSmtp(mailhorn.app.inboundAddress!))
  await client.reply()
  await client.say('EHLO client.example')
  await client.say('MAIL FROM:<ann@there.example>')
  return client
}

interface Stored {
  account: string
  recipients: string
  sender: string
  client_ip: string
  helo: string
  size_bytes: number
  body: Uint8Array | null
  hash: Uint8Array
}

/** Newest first. */
function stored(limit: number): Stored[] {
  return mailhorn.rows<Stored>(
    `select accounts.name as account, recipients, sender, client_ip, helo, inbound_messages.size_bytes, body, hash
     from inbound_messages join blobs on hash = raw_hash join accounts on accounts.id = account_id
     order by inbound_messages.id desc limit ${limit}`,
  )
}

function storedCount(): number {
  return mailhorn.rows('select 1 from inbound_messages').length
}

function draftCount(): number {
  return readdirSync(join(mailhorn.dataDir, 'blobs', 'drafts'), { recursive: true }).length
}

test('any address at a domain that receives mail is good, and no other', async t => {
  const client = await greeted(t)
  for (const address of ['bob@here.example', 'Any.Thing+at-all@HERE.example', 'a%there.example@here.example'])
    assert.match(await client.say(`RCPT TO:<${address}>`), /^250 /, address)
  for (const address of [
    'bob@pending.example',
    'bob@there.example',
    'bob@sub.here.example',
    'bob@here.example.there.example',
    'b+forged@send.here.example',
    'nobody@mailhorn.test',
  ])
    assert.match(await client.say(`RCPT TO:<${address}>`), NOT_HERE, address)
})

test('a domain receives as long as its owner wants it to', async t => {
  const session = await mailhorn.signIn()
  const change = (receiving: boolean) =>
    mailhorn.call('PATCH', `/domains/${domainId}`, { session, body: { receiving } })
  const client = await greeted(t)
  assert.match(await client.say('RCPT TO:<a@here.example>'), /^250 /)
  await change(false)
  assert.match(await client.say('RCPT TO:<b@here.example>'), NOT_HERE)
  await change(true)
  assert.match(await client.say('RCPT TO:<c@here.example>'), /^250 /)
})

test('a message is on the disk as it came before it is acknowledged', async () => {
  const before = storedCount()
  const data = 'Subject: hello\n\n.a line with a dot\n'
  const mail = { from: 'ann@there.example', to: 'Bob@Here.Example', data }
  assert.match(await sendMail(mailhorn.app.inboundAddress!, mail), /^250 /)
  assert.is(storedCount(), before + 1)
  const [row] = stored(1)
  assert.equal(
    [row!.account, row!.sender, row!.client_ip, row!.helo],
    ['Main', 'ann@there.example', '127.0.0.1', 'client.example'],
  )
  assert.equal(JSON.parse(row!.recipients), ['Bob@here.example'])
  assert.is(Buffer.from(row!.body!).toString(), 'Subject: hello\r\n\r\n.a line with a dot\r\n\r\n')
})

test('what a message says is read and listed afterwards, with an event that tells of it', async () => {
  const data = `From: "Ann A." <ann@there.example>
To: bob@here.example
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Message-ID: <one@there.example>
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

hello
--b
Content-Type: application/pdf; name=a.pdf
Content-Transfer-Encoding: base64

aGVsbG8=
--b--
`
  await sendMail(mailhorn.app.inboundAddress!, { from: 'ann@there.example', to: 'bob@here.example', data })
  const [event] = await until(async () => {
    const rows = mailhorn.rows<{ data: string }>(
      "select data from events where type = 'email.received' order by id desc limit 1",
    )
    return rows.some(row => row.data.includes('one@there.example')) ? rows : undefined
  })
  const row = JSON.parse(event!.data)
  assert.equal(
    [row.from, row.to, row.subject, row.message_id, row.spam_verdict, row.parse_error],
    ['Ann A. <ann@there.example>', ['bob@here.example'], 'Grüße', '<one@there.example>', 'PASS', null],
  )
  assert.match(row.id, /^inb_/)
  assert.equal(
    row.attachments.map(({ id: _, ...facts }: { id: string }) => facts),
    [
      {
        filename: 'a.pdf',
        content_type: 'application/pdf',
        content_type_params: {},
        content_disposition: 'attachment',
        content_id: null,
        size: 5,
      },
    ],
  )
})

test('several addresses of one account make one message, those of another account another', async () => {
  const before = storedCount()
  const to = ['bob@here.example', 'carol@theirs.example', 'dora@here.example', 'BOB@here.example']
  const reply = await sendMail(mailhorn.app.inboundAddress!, { to, data: 'Subject: all\n\nhi\n' })
  assert.match(reply, /^250 /)
  assert.is(storedCount(), before + 2)
  const rows = stored(2).sort((a, b) => a.account.localeCompare(b.account))
  assert.equal(
    rows.map(({ account, recipients }) => [account, JSON.parse(recipients)]),
    [
      ['Main', ['BOB@here.example', 'dora@here.example']],
      ['second', ['carol@theirs.example']],
    ],
  )
})

test('a message for the postmaster and for a customer is kept for both, whole', async () => {
  const reports = mailhorn.rows('select 1 from reports').length
  const data = `Subject: both\n\n${`${'x'.repeat(998)}\n`.repeat(1_500)}`
  const to = ['postmaster@mailhorn.test', 'bob@here.example']
  const from = 'ann@there.example'
  assert.match(await sendMail(mailhorn.app.inboundAddress!, { to, data, from }), /^250 /)
  assert.is(mailhorn.rows('select 1 from reports').length, reports + 1)
  const [row] = stored(1)
  assert.is(Number(row!.size_bytes), Buffer.byteLength(`Subject: both\r\n\r\n\r\n`) + 1_500 * 1_000)
  const [remaining] = mailhorn.rows<{ size: number }>(
    'select size_bytes as size from blobs where hash = ?',
    row!.hash,
  )
  assert.is(Number(remaining!.size), Number(row!.size_bytes))
  assert.is(draftCount(), 0)
})

test('a message that has come through too many servers is in a loop', async () => {
  const before = storedCount()
  const hop = 'Received: from a.example by b.example; Sat, 21 Nov 2026 13:00:00 +0000\n'
  const post = (hops: number) =>
    sendMail(mailhorn.app.inboundAddress!, {
      to: 'bob@here.example',
      data: `${hop.repeat(hops)}Subject: round\n\n${hop.repeat(60)}`,
    })
  assert.match(await post(101), /^554 5\.4\.6 /)
  assert.is(storedCount(), before)
  assert.match(await post(100), /^250 /)
})

test('of a message that is cut off, or refused at its end, nothing is left', async t => {
  const before = storedCount()
  const cut = await greeted(t)
  await cut.say('RCPT TO:<bob@here.example>')
  await cut.say('DATA')
  cut.write(`${'x'.repeat(998)}\r\n`.repeat(200))
  cut.end()
  assert.is(await cut.reply(), '')
  const refused = await greeted(t)
  await refused.say('RCPT TO:<bob@here.example>')
  await refused.say('DATA')
  refused.write(`${'x'.repeat(998)}\r\n`.repeat(200))
  refused.write('bare\nline')
  assert.match(await refused.say('\r\n.'), /^550 5\.6\.11 /)
  assert.is(storedCount(), before)
  await until(() => draftCount() === 0)
})

test.run()
