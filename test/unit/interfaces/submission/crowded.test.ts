import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { createIncoming } from '../../../../src/interfaces/submission/incoming.ts'
import { type Admission, startSubmissionListener } from '../../../../src/interfaces/submission/listener.ts'
import { createIdSource } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { networks } from '../../../../src/lib/networks.ts'
import { createMailReport } from '../../../../src/pipeline/inbound/mail-report.ts'
import { flood, HALF_HELLO, scattered } from '../../../kit/flood.ts'
import { largeInput } from '../../../kit/large-input.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { dialSmtp, type SmtpClient } from '../../../kit/smtp-client.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { testCertificate } from '../../../kit/tls.ts'
import { until } from '../../../kit/until.ts'

/**
 * Clients that hold connections and memory of the ports for users, while an honest one comes from elsewhere.
 */
const test = suite('submission/listener, crowded')

const HONEST = '127.200.0.1'
const OF_ONE_MAX = 50
const [ROOM_BYTES, LETTER_BYTES] = [800_000, 1_000]

const newId = createIdSource()
const accounts = new Map(['ann', 'ben'].map(name => [name, newId(0)]))
const login: Admission = {
  signIn: async (_from, _user, password) => {
    const accountId = accounts.get(password)
    return accountId ? { sender: { accountId, apiKeyId: null, domain: null }, credential: 'key_1' } : 'wrong'
  },
}
const relay: Admission = {
  networks: networks(['127.0.0.0/8']),
  sender: { accountId: newId(0), apiKeyId: null, domain: null },
}

interface Scripted {
  isTls: boolean
  admission: Admission
  connectionsMax: number
}

async function open(t: TestContext, scripted: Partial<Scripted> = {}) {
  const { isTls = false, admission = login, connectionsMax } = scripted
  const clock = createManualClock()
  const metrics = createMetrics()
  const budget = largeInput({ bytes: ROOM_BYTES, clock })
  const listener = await t.using(
    startSubmissionListener({
      listen: { host: '127.0.0.1', port: 0 },
      isTls,
      connectionsMax,
      mailHost: 'mailhorn.test',
      certificates: { current: () => testCertificate('good'), onChange: () => () => {}, close() {} },
      admission,
      admit: () => null,
      submit: async () => '2.0.0 Ok',
      incoming: createIncoming(budget),
      report: createMailReport(
        { metrics, log: createLog('silent'), clock },
        isTls ? 'submission_tls' : 'submission',
      ),
      clock,
      log: createLog('silent'),
    }),
  )
  const { port } = listener.address()
  const dial = async (from: string): Promise<SmtpClient> => {
    if (!isTls) return t.using(dialSmtp({ port, from }))
    const client = await t.using(dialSmtp({ port, from }))
    await client.startTls()
    return client
  }
  /** A client that may say MAIL. */
  const ready = async (from: string, account = 'ann') => {
    const client = await dial(from)
    assert.match(await client.reply(), /^220 /)
    await client.say('EHLO program.example')
    if (admission !== login) return client
    if (!isTls) {
      await client.say('STARTTLS')
      await client.startTls()
      await client.say('EHLO program.example')
    }
    const message = Buffer.from(`\0resend\0${account}`).toString('base64')
    assert.match(await client.say(`AUTH PLAIN ${message}`), /^235 /)
    return client
  }
  const inData = async (from: string, account?: string) => {
    const client = await ready(from, account)
    await client.say('MAIL FROM:<ann@here.example>')
    await client.say('RCPT TO:<bob@there.example>')
    assert.match(await client.say('DATA'), /^354 /)
    return client
  }
  const serves = async (account?: string) => {
    const client = await inData(HONEST, account)
    assert.match(await client.say(`Subject: hi\r\n\r\n${'x'.repeat(LETTER_BYTES)}\r\n.`), /^250 /)
    await client.close()
  }
  return { port, clock, budget, metrics, ready, inData, serves }
}

async function flooded(t: TestContext, options: Parameters<typeof flood>[0]) {
  const { sockets, close } = await flood(options)
  t.after(close)
  return sockets
}

async function turns() {
  for (let i = 0; i < 10; i++) await settled()
}

for (const [what, opening] of [
  ['nothing', {}],
  ['half a ClientHello', { opening: HALF_HELLO }],
] as const)
  for (const [count, addresses] of [
    [510, 1],
    [600, 12],
  ] as const)
    test(`port 465: ${count} connections from ${addresses} addresses with ${what} do not keep out others`, async t => {
      const { port, serves } = await open(t, { isTls: true })
      await flooded(t, { port, count, from: i => scattered(i, addresses), ...opening })
      for (let i = 0; i < 3; i++) await serves()
    })

test('port 465: a handshake has 30 s, and 10 s while most places are taken', async t => {
  for (const [count, limitMs, atLeast] of [
    [20, 30_000, 20],
    [90, 10_000, 10],
  ] as const) {
    const { port, clock, serves } = await open(t, { isTls: true, connectionsMax: 100 })
    const sockets = await flooded(t, { port, count, from: i => scattered(i, 9), opening: HALF_HELLO })
    let closed = 0
    for (const socket of sockets) {
      socket.resume().once('end', () => closed++)
    }
    await serves()
    clock.advance(limitMs - 1_000)
    await turns()
    assert.is(closed, 0)
    clock.advance(1_000)
    await until(() => closed >= atLeast)
  }
})

test('port 465: connections of one address are limited and given back, handshakes included', async t => {
  const { port, ready } = await open(t, { isTls: true })
  const reached = () =>
    new Promise<boolean>(resolve => {
      const plain = connect({ port, host: '127.0.0.1', localAddress: HONEST })
      const socket = connectTls({ socket: plain, rejectUnauthorized: false })
      socket.once('error', () => resolve(false))
      socket.once('secureConnect', () => {
        socket.destroy()
        resolve(true)
      })
    })
  for (let round = 0; round < 3; round++) {
    const silent = await flood({ port, count: OF_ONE_MAX / 2, from: () => HONEST })
    const clients = await Promise.all(Array.from({ length: OF_ONE_MAX / 2 }, () => ready(HONEST)))
    assert.not(await reached())
    silent.close()
    for (const client of clients) await client.close()
    await until(reached)
    await turns()
  }
})

test('port 587: 600 connections from 12 addresses with half a handshake do not keep out others', async t => {
  const { port, serves } = await open(t)
  const half = async (i: number) => {
    const client = await t.using(dialSmtp({ port, from: scattered(i, 12) }))
    await client.reply()
    await client.say('EHLO half.example')
    if (/^220 /.test(await client.say('STARTTLS'))) client.write(HALF_HELLO)
  }
  for (let i = 0; i < 600; i += 100) await Promise.all(Array.from({ length: 100 }, (_, k) => half(i + k)))
  await turns()
  for (let i = 0; i < 3; i++) await serves()
})

test('two seconds after QUIT over TLS, the place of a client that does not go is free', async t => {
  const { port, clock, ready } = await open(t, { isTls: true })
  const clients = await Promise.all(Array.from({ length: OF_ONE_MAX }, () => ready(HONEST)))
  for (const client of clients) assert.match(await client.say('QUIT'), /^221 /)
  clock.advance(2_000)
  await turns()
  const late = await t.using(dialSmtp({ port, from: HONEST }))
  await late.startTls()
  assert.match(await late.reply(), /^220 /)
})

test('messages of one account do not take the memory of all', async t => {
  const { inData, serves } = await open(t)
  const held = await Promise.all(Array.from({ length: 9 }, (_, i) => inData(scattered(i, 3), 'ann')))
  for (const client of held) client.write(`${'x'.repeat(149_998)}\r\n`)
  await turns()
  for (let i = 0; i < 3; i++) await serves('ben')
})

test('messages of one client of the relay do not take the memory of all', async t => {
  const { inData, serves } = await open(t, { admission: relay })
  const held = await Promise.all(Array.from({ length: 9 }, () => inData('127.1.1.1')))
  for (const client of held) client.write(`${'x'.repeat(149_998)}\r\n`)
  await turns()
  for (let i = 0; i < 3; i++) await serves()
})

test('messages that trickle are ended sooner while the memory is short', async t => {
  const { clock, inData } = await open(t)
  const large = await Promise.all([inData('127.1.1.1', 'ann'), inData('127.1.2.1', 'ben')])
  for (const client of large) for (let i = 0; i < 20; i++) client.write(`${'x'.repeat(9_998)}\r\n`)
  const slow = await inData('127.1.3.1', 'ben')
  await turns()
  let reply: string | undefined
  slow.reply().then(text => {
    reply = text
  })
  for (let second = 0; second < 12; second++) {
    for (const client of large) client.write('')
    slow.write(`${'z'.repeat(1_998)}\r\n`)
    await turns()
    clock.advance(1_000)
  }
  await until(() => reply)
  assert.match(reply!, /^421 4\.4\.2 .*slowly/)
})

test('the relay: 600 silent connections from 12 addresses do not keep out others', async t => {
  const { port, serves } = await open(t, { admission: relay })
  await flooded(t, { port, count: 600, from: i => scattered(i, 12) })
  await turns()
  for (let i = 0; i < 3; i++) await serves()
})

test('ten times the connections of one network to port 587: 50 are greeted, and few linger', async t => {
  const { port, clock } = await open(t, { connectionsMax: 100 })
  const sockets = await flooded(t, { port, count: 10 * OF_ONE_MAX, from: () => HONEST })
  const heard = new Map(sockets.map(socket => [socket, '']))
  for (const socket of sockets) socket.on('data', text => heard.set(socket, `${heard.get(socket)}${text}`))
  await until(() => sockets.every(socket => heard.get(socket) || socket.destroyed || socket.readableEnded))
  assert.is([...heard.values()].filter(text => text.startsWith('220')).length, OF_ONE_MAX)
  // each connection has a timer
  assert.is(clock.timerCount, OF_ONE_MAX + 100 / 4)
})

test('ten times the recipients of a submitted message: 50 are accepted', async t => {
  const { ready } = await open(t)
  const client = await ready(HONEST)
  await client.say('MAIL FROM:<ann@here.example>')
  client.write(Array.from({ length: 500 }, (_, i) => `RCPT TO:<user${i}@there.example>\r\n`).join(''))
  const codes = new Map<string, number>()
  for (let i = 0; i < 500; i++) {
    const code = (await client.reply()).slice(0, 3)
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  assert.equal(
    [...codes],
    [
      ['250', 50],
      ['452', 450],
    ],
  )
})

test('ten times the largest submitted message is refused before it is sent', async t => {
  const { ready } = await open(t)
  const client = await ready(HONEST)
  assert.match(await client.say(`MAIL FROM:<ann@here.example> SIZE=${400 * 1024 * 1024}`), /^552 /)
})

test('ten times the memory of all messages: they take turns or come back, and none of it stays', async t => {
  const { clock, budget, inData, serves } = await open(t)
  const clients = await Promise.all(Array.from({ length: 20 }, (_, i) => inData(`127.4.0.${i + 1}`)))
  for (const client of clients)
    client.write(`Subject: x\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(ROOM_BYTES / 200 - 10)}.\r\n`)
  const replies: string[] = []
  const all = Promise.all(clients.map(async client => replies.push(await client.reply())))
  await until(() => budget.isCrowded() || replies.length > 0)
  await until(() => {
    clock.advance(1_000)
    return replies.length === clients.length
  })
  await all
  for (const reply of replies) assert.match(reply, /^(250 2\.0\.0|452 4\.3\.1) /)
  assert.ok(replies.some(reply => reply.startsWith('250')))
  assert.not(budget.isCrowded())
  await serves()
})

test('a message waits 30 s for memory, and is then told to come back', async t => {
  const { clock, budget, inData, serves } = await open(t)
  const held = await budget.take('another door', ROOM_BYTES / 2)
  const more = await budget.take('a third door', ROOM_BYTES / 2)
  const client = await inData(HONEST)
  client.write(`Subject: x\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(2_000)}.\r\n`)
  let reply = ''
  void client.reply().then(text => {
    reply = text
  })
  await until(() => budget.waitingCount === 1)
  clock.advance(29_000)
  await turns()
  assert.is(reply, '')
  clock.advance(1_000)
  await until(() => reply)
  assert.match(reply, /^452 4\.3\.1 /)
  await serves() // small messages need no memory of the budget
  held.release()
  more.release()
})

test('a message that waits for memory is accepted when there is some', async t => {
  const { budget, inData } = await open(t)
  const held = await Promise.all(['one', 'two'].map(owner => budget.take(owner, ROOM_BYTES / 2)))
  const client = await inData(HONEST)
  client.write(`Subject: x\r\n\r\n${`${'x'.repeat(98)}\r\n`.repeat(2_000)}.\r\n`)
  await until(() => budget.waitingCount === 1)
  for (const reservation of held) reservation.release()
  assert.match(await client.reply(), /^250 /)
})

test('ten times the wrong logins: three are checked', async t => {
  let checkCount = 0
  const signIn = async () => {
    checkCount++
    return 'wrong' as const
  }
  const { port, clock } = await open(t, { admission: { signIn } })
  const client = await t.using(dialSmtp({ port, from: HONEST }))
  for (const line of ['EHLO program.example', 'STARTTLS']) {
    await client.reply()
    client.write(`${line}\r\n`)
  }
  await client.reply()
  await client.startTls()
  await client.say('EHLO program.example')
  client.write(`AUTH PLAIN ${Buffer.from('\0resend\0x').toString('base64')}\r\n`.repeat(30))
  const replies: string[] = []
  const isOver = (async () => {
    for (let reply = await client.reply(); reply !== ''; reply = await client.reply()) replies.push(reply)
  })()
  let hasEnded = false
  void isOver.then(() => {
    hasEnded = true
  })
  await until(() => {
    clock.advance(1_000)
    return hasEnded
  })
  assert.is(checkCount, 3)
  assert.equal(
    replies.map(reply => reply.slice(0, 3)),
    ['535', '535', '421'],
  )
})

test.run()
