import { connect, type Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../kit/mailhorn.ts'
import { dialSmtp, sendMail } from '../kit/smtp-client.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

/**
 * Attacks that take their time: others are served meanwhile, and the thread that serves them is never held
 * for long.
 */
const test = suite('heavy attacks on mail ports', { limitMs: 120_000 })

const POSTMASTER = 'postmaster@mailhorn.test'
/**
 * Maximum CPU time of the thread between two checks, in 99 of 100 checks. CPU time of other processes is not
 * counted.
 */
const HELD_MS_MAX = 200
const LOOK_EVERY_MS = 10

async function setUp(t: TestContext): Promise<Mailhorn> {
  return t.using(
    startMailhorn({
      env: {
        MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
        MAILHORN_SMTP_INBOUND_CONNECTIONS_PER_MINUTE: '0',
      },
    }),
  )
}

/** Watches this thread, on which the whole service runs, while something goes on. */
async function watched<T>(work: () => Promise<T>): Promise<T> {
  const heldMs: number[] = []
  let before = process.threadCpuUsage()
  const check = () => {
    const now = process.threadCpuUsage()
    heldMs.push((now.user - before.user + now.system - before.system) / 1_000)
    before = now
  }
  const looking = setInterval(check, LOOK_EVERY_MS)
  try {
    return await work()
  } finally {
    clearInterval(looking)
    check()
    const max = heldMs.sort((a, b) => a - b)[Math.ceil(heldMs.length * 0.99) - 1]!
    assert.ok(max < HELD_MS_MAX, `the thread was held for ${max} ms of its CPU`)
  }
}

const hello = (mailhorn: Mailhorn) =>
  sendMail(mailhorn.app.inboundAddress!, { to: POSTMASTER, data: 'Subject: hello\n\nhi\n' })

/** A connection that says nothing, or what it is told, and is not missed. */
function silent(port: number, from: string, words = ''): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    socket.once('error', reject)
    socket.once('data', () => {
      socket.on('error', () => {}) // it may be thrown out
      if (words !== '') socket.write(words)
      resolve(socket)
    })
  })
}

test('of 2,000 idle connections from a hundred addresses, 500 are let in, and make room for others', async t => {
  const mailhorn = await setUp(t)
  const { port } = mailhorn.app.inboundAddress!
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  await watched(async () => {
    for (let round = 0; round < 20; round++) {
      const wave = Array.from({ length: 100 }, (_, i) =>
        silent(port, `127.0.1.${i + 1}`, 'EHLO idle.example\r\n'),
      )
      sockets.push(...(await Promise.all(wave)))
    }
  })
  mailhorn.clock.advance(11_000) // silent for long enough, and not for so long that they end by themselves
  for (let i = 0; i < 20; i++) assert.match(await hello(mailhorn), /^250 /)
  await until(() => sockets.filter(socket => !socket.closed).length <= 500)
})

for (const [what, line] of [
  ['two dots', '..\r\n'],
  ['a dot and a letter', '.a\r\n'],
  ['a dot and CR', '.\r\r\n'],
] as const)
  test(`ten megabytes of lines of ${what} cost no more than their bytes`, async t => {
    const mailhorn = await setUp(t)
    const client = await t.using(dialSmtp(mailhorn.app.inboundAddress!))
    await client.reply()
    await client.say('EHLO client.example')
    await client.say('MAIL FROM:<>')
    await client.say(`RCPT TO:<${POSTMASTER}>`)
    await client.say('DATA')
    await watched(async () => {
      const block = Buffer.from(line.repeat(Math.floor(65_536 / line.length)))
      const others = Promise.all(Array.from({ length: 5 }, () => hello(mailhorn)))
      for (let sent = 0; sent < 10 * 1024 * 1024; sent += block.length) {
        client.write(block)
        await new Promise(resolve => setImmediate(resolve))
      }
      assert.match(await client.say('\r\n.'), /^(?:250|550) /)
      for (const reply of await others) assert.match(reply, /^250 /)
    })
  })

test('an attachment of 26 MB is submitted, and others are served meanwhile', async t => {
  const mailhorn = await setUp(t)
  await mailhorn.verifiedDomain('here.example')
  const program = createTransport({
    host: '127.0.0.1',
    port: mailhorn.app.submission.submissionTls!.port,
    secure: true,
    auth: { user: 'mailhorn', pass: mailhorn.apiKey },
    tls: { rejectUnauthorized: false },
  })
  const content = Buffer.alloc(26 * 1024 * 1024, 'mailhorn')
  const sending = program.sendMail({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 'large',
    text: 'see the file',
    attachments: [{ filename: 'large.bin', content }],
  })
  for (let i = 0; i < 5; i++) assert.match(await hello(mailhorn), /^250 /)
  const { response } = await sending
  const email = await mailhorn.emailWhen(/eml_\S+/.exec(response)![0], 'delivered')
  assert.equal(
    email.attachments.map(({ size }: { size: number }) => size),
    [content.length],
  )
})

test('a hundred connections that trickle, from five addresses, hold nobody up', async t => {
  const mailhorn = await setUp(t)
  const { port } = mailhorn.app.inboundAddress!
  const begin = `EHLO x\r\n`
  const rest = `MAIL FROM:<>\r\nRCPT TO:<${POSTMASTER}>\r\nDATA\r\n`
  const sockets = await Promise.all(
    Array.from({ length: 100 }, (_, i) => silent(port, `127.0.2.${(i % 5) + 1}`, begin)),
  )
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  for (const socket of sockets) socket.write(rest)
  await watched(async () => {
    for (let second = 0; second < 90; second++) {
      for (const socket of sockets) if (socket.writable) socket.write('x')
      if (second % 10 === 0) assert.match(await hello(mailhorn), /^(?:250|452) /)
      mailhorn.clock.advance(1_000)
    }
  })
  await until(() => sockets.every(socket => socket.readableEnded || socket.closed))
  assert.match(await hello(mailhorn), /^250 /)
})

test.run()
