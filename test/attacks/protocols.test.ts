import { createServer, type Server } from 'node:net'
import * as assert from 'uvu/assert'
import { FALSE_ENDS, localForms, relayForms } from '../kit/attack.ts'
import { dialSmtp } from '../kit/smtp-client.ts'
import { until } from '../kit/until.ts'
import { askServer, exchangeUdp, queryPacket } from '../kit/zone-client.ts'
import { battery } from './battery.ts'
import type { Field } from './field.ts'
import { dialLine, type Line } from './mail-client.ts'
import { pause, scaled } from './scale.ts'

/**
 * Attacks on the mail ports and the name server, and replies of hostile servers: nothing is smuggled, relayed
 * or forged.
 */
const { attack, soak, run } = battery('protocols')

const THERE = 'there.example'
const TO_ANN = ['MAIL FROM:<x@there.example>', 'RCPT TO:<bob@acme.example>']
const DOT = '\r\n.'

async function greeted({ ports }: Field, port = ports.inbound, apiKey?: string): Promise<Line> {
  const line = await dialLine({ port, from: '127.70.0.1', ...(apiKey !== undefined && { apiKey }) })
  assert.match(await line.reply(), /^220/)
  assert.match(await line.say('EHLO attacker.example'), /^250/)
  if (apiKey !== undefined)
    assert.match(
      await line.say(`AUTH PLAIN ${Buffer.from(`\0resend\0${apiKey}`).toString('base64')}`),
      /^235/,
    )
  return line
}

async function inData(field: Field, port?: number, apiKey?: string, envelope = TO_ANN): Promise<Line> {
  const line = await greeted(field, port, apiKey)
  for (const command of envelope) assert.match(await line.say(command), /^250/, command)
  assert.match(await line.say('DATA'), /^354/)
  return line
}

async function mail(field: Field, text: string): Promise<string> {
  const line = await inData(field)
  await line.write(text)
  const reply = await line.say(DOT)
  line.close()
  return reply
}

async function subjects({ call, ann }: Field, q: string): Promise<string[]> {
  const { body } = await call('GET', `/inbound?limit=100&q=${encodeURIComponent(q)}`, { token: ann.apiKey })
  return body.data.map(({ subject }: { subject: string }) => subject)
}

/** Resolves when all that was acknowledged before has been listed. */
async function caughtUp(field: Field, subject: string) {
  assert.match(await mail(field, `Subject: ${subject}\r\n\r\nlast`), /^250/)
  await until(async () => (await subjects(field, subject)).length > 0)
}

attack('SMTP smuggling into port 25', async ({ field, note }) => {
  const replies: string[] = []
  for (const [what, end] of FALSE_ENDS) {
    const line = await inData(field)
    const hidden = [...TO_ANN, 'DATA', 'Subject: stowaway', '', 'hi'].join('\r\n')
    await line.write(`Subject: outer\r\n\r\n${what}${end}${hidden}`)
    replies.push((await line.say(DOT)).slice(0, 3))
    line.close()
  }
  await caughtUp(field, 'after smuggling')
  assert.equal(await subjects(field, 'stowaway'), [])
  note(replies.join(' '))
})

attack('SMTP smuggling out through submission', async ({ field, note }) => {
  const { ports, ann, call, mx } = field
  const ids: string[] = []
  for (const [at, [what, end]] of FALSE_ENDS.entries()) {
    const to = `ok-smuggled-${at}@${THERE}`
    const envelope = ['MAIL FROM:<ann@acme.example>', `RCPT TO:<${to}>`]
    const line = await inData(field, ports.submissionTls, ann.apiKey, envelope)
    const hidden = [
      'MAIL FROM:<ceo@there.example>',
      `RCPT TO:<ok-victim@${THERE}>`,
      'DATA',
      'Subject: x',
      '',
    ].join('\r\n')
    await line.write(`From: ann@acme.example\r\nTo: ${to}\r\nSubject: ${what}\r\n\r\nhi${end}${hidden}`)
    const reply = await line.say(DOT)
    line.close()
    assert.match(reply, /^(?:250|55\d)/)
    const id = /eml_\S+/.exec(reply)?.[0]
    if (id) ids.push(id)
  }
  for (const id of ids)
    await until(
      async () => (await call('GET', `/emails/${id}`, { token: ann.apiKey })).body.status === 'delivered',
    )
  const arrived = mx.messages.filter(({ rcptTo }) => rcptTo.some(one => /smuggled|victim/.test(one)))
  assert.is(arrived.length, ids.length)
  for (const { data, rcptTo } of arrived) {
    assert.not.match(data.toString('latin1'), /\r(?!\n)|(?<!\r)\n/)
    assert.not(rcptTo.some(one => one.includes('victim')))
  }
  note(`${ids.length} taken, ${arrived.length} delivered`)
})

/** All replies until the connection ends. */
async function repliesTo(line: Line, words: string): Promise<string> {
  await line.write(words)
  const replies: string[] = []
  for (let reply = await line.reply(); reply; reply = await line.reply()) replies.push(reply)
  line.close()
  return replies.join('\n')
}

attack('talking too early, and commands behind DATA', async ({ field }) => {
  const early = await dialLine({ port: field.ports.inbound, from: '127.70.0.2' })
  await early.reply()
  assert.match(await repliesTo(early, `EHLO x\r\n${TO_ANN.join('\r\n')}\r\n`), /^421/m)
  for (const words of [
    `${TO_ANN.join('\r\n')}\r\nDATA\r\nSubject: early\r\n\r\nhi\r\n.\r\n`,
    'EHLO x\nMAIL FROM:<>\n',
    'EHLO x\rMAIL FROM:<>\r\r\n',
  ]) {
    const replies = await repliesTo(await greeted(field), words)
    assert.match(replies, /^421/m, words)
  }
  await caughtUp(field, 'after talking')
  assert.equal(await subjects(field, 'early'), [])
})

attack('101 recipients, and lines of dots', async ({ field }) => {
  const line = await greeted(field)
  await line.say(TO_ANN[0]!)
  for (let i = 0; i < 100; i++) assert.match(await line.say(`RCPT TO:<bob${i}@acme.example>`), /^250/)
  assert.match(await line.say('RCPT TO:<one.more@acme.example>'), /^452/)
  line.close()
  assert.match(await mail(field, `Subject: dots\r\n\r\n${'..\r\n'.repeat(scaled(2_500_000))}`), /^250/)
})

attack('logins where there are none, and without TLS', async ({ field }) => {
  const line = await greeted(field)
  assert.match(await line.say('AUTH PLAIN AHJlc2VuZAByZV94'), /^5/)
  line.close()
  const plain = await greeted(field, field.ports.submission)
  assert.match(await plain.say('AUTH PLAIN AHJlc2VuZAByZV94'), /^538|^530/)
  assert.match(await plain.say('MAIL FROM:<ann@acme.example>'), /^530/)
  plain.close()
})

attack('relaying', async ({ field, note }) => {
  let refused = 0
  for (const form of relayForms('acme.example', THERE)) {
    const line = await greeted(field)
    await line.say(`MAIL FROM:<x@${THERE}>`)
    assert.match(await line.say(`RCPT TO:${form}`), /^5/, form)
    refused += 1
    line.close()
  }
  for (const form of localForms('acme.example', THERE)) {
    const line = await greeted(field)
    await line.say('MAIL FROM:<>')
    assert.match(await line.say(`RCPT TO:${form}`), /^[25]/, form)
    line.close()
  }
  assert.equal(
    field.mx.messages.filter(({ rcptTo }) => rcptTo.some(one => one.includes('victim'))),
    [],
  )
  note(`${refused} forms refused`)
})

attack('commands that nobody should say', async ({ field }) => {
  for (const [command, expected] of [
    ['XCLIENT ADDR=127.0.0.1', /^5/],
    ['XFORWARD NAME=x', /^5/],
    ['PROXY TCP4 192.0.2.1 192.0.2.2 1 25', /^(?:5|421)/],
    ['ETRN acme.example', /^5/],
    ['TURN', /^5/],
    ['BDAT 10 LAST', /^5/],
    ['EXPN staff', /^(?:5|252)/],
    ['VRFY bob@acme.example', /^(?:252|5)/],
    ['MAIL FROM:<x@there.example> SIZE=999999999999', /^552/],
    ['MAIL FROM:<x@there.example> SIZE=-1', /^5/],
    ['GET / HTTP/1.1', /^421/],
    [`MAIL FROM:<${'a'.repeat(200_000)}@there.example>`, /^(?:421|5)/],
  ] as const) {
    const line = await greeted(field)
    assert.match(await line.say(command), expected, command.slice(0, 60))
    line.close()
  }
})

attack('commands hidden behind STARTTLS', async ({ field, t }) => {
  for (const port of [field.ports.inbound, field.ports.submission]) {
    const client = await t.using(dialSmtp({ port, from: '127.70.0.3' }))
    await client.reply()
    await client.say('EHLO attacker.example')
    client.write(`STARTTLS\r\n${TO_ANN.join('\r\n')}\r\n`)
    const reply = await client.reply()
    if (reply.startsWith('421')) continue
    assert.match(reply, /^220/)
    await client.startTls()
    await client.say('EHLO attacker.example')
    assert.match(await client.say('DATA'), /^5/)
  }
})

attack('mail that goes round, and forged reports', async ({ field }) => {
  assert.match(
    await mail(
      field,
      `${'Received: from a by b; Sun, 22 Nov 2026 01:02:03 +0000\r\n'.repeat(120)}Subject: loop\r\n\r\nhi`,
    ),
    /^554/,
  )
  const { call, ann, zone } = field
  zone.add(`quiet.example MX 10 mx.${THERE}`)
  const body = { from: 'ann@acme.example', to: 'ok-forged@quiet.example', subject: 'forged about', text: 'x' }
  const { id } = (await call('POST', '/emails', { token: ann.apiKey, body })).body
  const status = async () => (await call('GET', `/emails/${id}`, { token: ann.apiKey })).body.status
  await until(async () => (await status()) === 'delivered')
  const report =
    `From: mailer-daemon@there.example\r\nSubject: Undelivered\r\nMIME-Version: 1.0\r\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\r\n\r\n` +
    `--b\r\n\r\nfailed\r\n--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; there.example\r\n\r\n` +
    `Final-Recipient: rfc822; ok-forged@quiet.example\r\nAction: failed\r\nStatus: 5.1.1\r\n\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <${String(id).slice(4)}@acme.example>\r\n\r\nx\r\n--b--\r\n`
  for (const recipient of [
    'b+aaaaaaaaaaaaaaaaaaaaaaaaaa@send.acme.example',
    'bob@acme.example',
    'postmaster@mailhorn.test',
  ]) {
    const line = await greeted(field)
    await line.say('MAIL FROM:<>')
    const reply = await line.say(`RCPT TO:<${recipient}>`)
    if (reply.startsWith('250')) {
      await line.say('DATA')
      await line.write(report)
      assert.match(await line.say(DOT), /^[25]/)
    }
    line.close()
  }
  await caughtUp(field, 'after forged reports')
  assert.is(await status(), 'delivered')
})

/** Names and heads that were meant for other programs. */
const ODD_MAIL: readonly string[] = [
  'Content-Type: text/plain; name="../../../../etc/passwd"\r\nContent-Disposition: attachment; filename="../../../../etc/passwd"',
  "Content-Type: text/plain\r\nContent-Disposition: attachment; filename*=utf-8''%2e%2e%2f%2e%2e%2fetc%2fpasswd%00.txt",
  'Content-Type: text/plain\r\nContent-Disposition: attachment; filename="a\0b\\..\\c.exe"',
  '__proto__: polluted\r\nconstructor: polluted\r\nContent-Type: text/plain',
  `${'X-Many: x\r\n'.repeat(scaled(50_000))}Content-Type: text/plain`,
  `X-Long: ${'a'.repeat(900)}\r\n${' b'.repeat(scaled(400_000))}\r\nContent-Type: text/plain`,
  `To: ${'<a@b.example>, '.repeat(scaled(50_000)).replace(/.{800}/g, '$&\r\n ')}c@d.example\r\nContent-Type: text/plain`,
  `Content-Type: multipart/mixed; boundary="${'-'.repeat(10_000)}"`,
  'Content-Type: multipart/mixed; boundary=""',
  `Content-Type: text/plain; ${Array.from({ length: 5_000 }, (_, at) => `filename*${at}=x`).join(';\r\n ')}`,
  `Subject: ${'=?utf-8?B?w7w=?= '.repeat(20_000).replace(/.{800}/g, '$&\r\n ')}\r\nContent-Type: text/plain`,
  'Content-Type: application/ms-tnef; name=winmail.dat\r\nContent-Transfer-Encoding: base64',
  'Content-Type: text/html; charset="utf-7; x=</script>"\r\nContent-Transfer-Encoding: ../../x',
]

attack('mail with odd heads and names', async ({ field, note }) => {
  const replies: string[] = []
  for (const head of ODD_MAIL)
    replies.push(
      (await mail(field, `Subject: odd mail\r\nMIME-Version: 1.0\r\n${head}\r\n\r\nbody\r\n`)).slice(0, 3),
    )
  assert.equal(
    replies.filter(code => !/^[25]/.test(code)),
    [],
  )
  const count = replies.filter(code => code === '250').length
  await caughtUp(field, 'after odd ones')
  const { call, ann } = field
  await until(
    async () => (await call('GET', '/inbound?limit=100', { token: ann.apiKey })).body.data.length > 0,
  )
  const { body } = await call('GET', '/inbound?limit=100', { token: ann.apiKey })
  for (const { attachments } of body.data)
    for (const { filename } of attachments) assert.not.match(filename ?? '', /[/\\\0]/)
  assert.is(({} as { polluted?: unknown }).polluted, undefined)
  note(`${count} of ${ODD_MAIL.length} taken`)
})

/** MX hosts that do not keep to the protocol, each at an address of its own. */
const HOSTILE_HOSTS: readonly (readonly [name: string, act: (write: (text: string) => boolean) => void])[] = [
  ['endless-banner', write => void setInterval(() => write(`220-${'x'.repeat(500)}\r\n`), 5).unref()],
  ['long-line', write => write(`220 ${'x'.repeat(1_048_576)}`)],
  ['many-lines', write => write('220-x\r\n'.repeat(10_000))],
  ['garbage', write => write('\0\x01\x02\xff'.repeat(100))],
  ['http', write => write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')],
  ['escapes', write => write('550 \x1b[2J<script>alert(1)</script>\r\n')],
  ['early-replies', write => write('220 x\r\n250 x\r\n250 x\r\n250 x\r\n354 x\r\n250 x\r\n')],
  ['silent', () => {}],
]

attack('MX hosts that break the protocol', async ({ field, t, note }) => {
  const { call, ann, mx, zone } = field
  const servers: Server[] = []
  t.after(() => {
    for (const server of servers) server.close()
  })
  for (const [at, [name, act]] of HOSTILE_HOSTS.entries()) {
    const host = `127.0.0.${at + 20}`
    const server = createServer(socket => {
      socket.on('error', () => {})
      socket.resume()
      t.after(() => socket.destroy())
      act(text => socket.writable && socket.write(text, 'latin1'))
    })
    await new Promise<void>(resolve => server.listen(mx.port, host, resolve))
    servers.push(server)
    zone.add(`${name}.hostile.example MX 10 mx.${name}.hostile.example\nmx.${name}.hostile.example A ${host}`)
  }
  zone.add(
    `loop.hostile.example CNAME loop2.hostile.example\nloop2.hostile.example CNAME loop.hostile.example`,
  )
  zone.add('null.hostile.example MX 0 .')
  zone.add(
    Array.from({ length: 300 }, (_, at) => `many.hostile.example MX ${at} mx${at}.many.hostile.example`).join(
      '\n',
    ),
  )
  const names = [...HOSTILE_HOSTS.map(([name]) => name), 'loop', 'null', 'many']
  const send = async (to: string) => {
    const body = { from: 'ann@acme.example', to, subject: 'to a hostile host', text: 'x' }
    return (await call('POST', '/emails', { token: ann.apiKey, body })).body.id as string
  }
  const ids = await Promise.all(names.map(name => send(`x@${name}.hostile.example`)))
  const good = await send(`ok-beside@${THERE}`)
  const statusOf = async (id: string) =>
    (await call('GET', `/emails/${id}`, { token: ann.apiKey })).body.status as string
  await until(async () => (await statusOf(good)) === 'delivered')
  await pause(scaled(3_000))
  const statuses = await Promise.all(ids.map(statusOf))
  assert.is(statuses[names.indexOf('null')], 'bounced')
  assert.not(statuses.includes('delivered'))
  note(statuses.map((status, at) => `${names[at]} ${status}`).join(', '))
})

/** Pages whose text takes long to derive: the time grows with the amount of markup. */
const COSTLY_PAGES = [
  '<b>'.repeat(170_000),
  `${'<b>'.repeat(60_000)}${'word '.repeat(60_000)}`,
  '&amp;'.repeat(100_000),
]

attack('150 pages of much markup by one account, and one mail of another', async ({ field, note }) => {
  const { call, ann, eve } = field
  const send = (by: typeof ann, to: string, html: string) =>
    call('POST', '/emails', {
      token: by.apiKey,
      body: { from: `x@${by.domain}`, to: `${to}@${THERE}`, subject: 'markup', html },
    })
  for (let at = 0; at < scaled(150); at += 10)
    await Promise.all(
      Array.from({ length: 10 }, (_, i) => send(eve, `ok-markup${at + i}`, COSTLY_PAGES[i % 3]!)),
    )
  for (const turn of ['first', 'second']) {
    const began = performance.now()
    const { id } = (await send(ann, `ok-${turn}-mail`, '<p>hi')).body
    await until(
      async () => (await call('GET', `/emails/${id}`, { token: ann.apiKey })).body.status === 'delivered',
    )
    const tookMs = Math.round(performance.now() - began)
    note(`${turn} mail after ${tookMs} ms`)
    assert.ok(tookMs < 3_000, `${turn} mail after ${tookMs} ms`)
  }
})

attack('signatures cover what could be added later', async ({ field }) => {
  const { call, ann, mx } = field
  const body = { from: 'ann@acme.example', to: `ok-signed@${THERE}`, subject: 'signed', text: 'x' }
  await call('POST', '/emails', { token: ann.apiKey, body })
  const { headers } = await until(() =>
    mx.messages.find(({ rcptTo }) => rcptTo.includes(`ok-signed@${THERE}`)),
  )
  const signature = /^DKIM-Signature:(?:.|\r\n[ \t])*/im.exec(headers)![0].replaceAll(/\s/g, '').toLowerCase()
  const signed = /[:;]h=([^;]*)/.exec(signature)![1]!.split(':')
  for (const field of ['from', 'to', 'subject'])
    assert.is(signed.filter(name => name === field).length, 2, `${field} in ${signed}`)
  assert.not.match(signature, /;l=/)
})

attack('questions to the name server: zone transfers, ANY, other zones, rubbish', async ({ field, note }) => {
  const server = `127.0.0.1:${field.ports.dns}`
  const name = field.visit.dnsName
  for (const [requests, type] of [
    [name, 'ANY'],
    ['mailhorn.test', 'AXFR'],
    ['example.com', 'A'],
    ['mailhorn.test', 'TYPE65280'],
  ] as const) {
    const packet = queryPacket(requests, type)
    const reply = await exchangeUdp(server, packet, AbortSignal.timeout(5_000))
    assert.ok(reply.length <= packet.length * 8, `${type} of ${requests}: ${reply.length} bytes`)
  }
  const { answers } = await askServer(server, name, 'TXT')
  assert.is(answers.length, 1)
  let answered = 0
  const floods = Array.from({ length: scaled(300) }, (_, at) =>
    exchangeUdp(
      server,
      at % 3 === 0 ? Buffer.alloc(at % 90, at) : queryPacket(name, 'TXT', { id: at }),
      AbortSignal.timeout(2_000),
    ).then(
      reply => {
        answered += reply.length
      },
      () => {}, // most get none
    ),
  )
  await Promise.all(floods)
  note(`${floods.length} questions of one network, ${answered} bytes of answers`)
})

soak()
run()
