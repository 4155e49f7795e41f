import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { dialSmtp } from '../../kit/smtp-client.ts'
import { suite } from '../../kit/suite.ts'
import { rsaFile } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'

/** Tests what the listeners negotiate: cipher suites, and the lifetime of session ticket keys. */
const test = suite('TLS of the listeners')

const DAY_MS = 86_400_000
let mailhorn: Mailhorn

test.before(async () => {
  mailhorn = await startMailhorn({
    env: {
      MAILHORN_SMTP_TLS_CERT_FILE: rsaFile,
      MAILHORN_SMTP_TLS_KEY_FILE: rsaFile,
      MAILHORN_HTTP_TLS_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_LISTEN: '127.0.0.1:0',
      MAILHORN_SMTP_SUBMISSION_TLS_LISTEN: '127.0.0.1:0',
    },
  })
})
test.after(() => mailhorn.close())

type ListenerName = 'https' | 'submissionTls' | 'submission' | 'inbound'

/** @throws when the handshake fails */
async function dial(listener: ListenerName, options: ConnectionOptions): Promise<TLSSocket> {
  const { app } = mailhorn
  if (listener === 'https') return overTls(app.secureAddress!.port, options)
  if (listener === 'submissionTls') return overTls(app.submission.submissionTls!.port, options)
  const { port } = listener === 'inbound' ? app.inboundAddress! : app.submission.submission!
  const client = await dialSmtp({ port })
  await client.reply()
  await client.say('EHLO client.example')
  await client.say('STARTTLS')
  return client.startTls({ rejectUnauthorized: false, ...options })
}

function overTls(port: number, options: ConnectionOptions): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options }, () =>
      resolve(socket),
    )
    socket.once('error', reject)
  })
}

/** @returns the suite that was negotiated; undefined when the handshake failed */
async function negotiated(listener: ListenerName, ciphers: string): Promise<string | undefined> {
  const socket = await dial(listener, { ciphers, minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' }).catch(
    (error: NodeJS.ErrnoException) => {
      assert.match(error.code ?? '', /^(?:ERR_SSL_|ECONNRESET|EPROTO)/)
      return undefined
    },
  )
  const name = socket?.getCipher().name
  socket?.destroy()
  return name
}

const WEAK = [
  'AES128-SHA',
  'AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
  'AES256-SHA256',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-RSA-AES256-SHA',
  'ECDHE-RSA-AES128-SHA256',
  'ECDHE-RSA-AES256-SHA384',
  'ECDHE-ARIA128-GCM-SHA256',
  'ARIA128-GCM-SHA256',
  'AES128-CCM',
  'DHE-RSA-AES128-SHA',
]
const STRONG = ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305']

for (const listener of ['https', 'submissionTls', 'submission'] as const) {
  test(`${listener}: suites without forward secrecy or authenticated encryption are refused`, async () => {
    for (const suiteName of WEAK) assert.is(await negotiated(listener, suiteName), undefined, suiteName)
  })

  test(`${listener}: suites with both are accepted`, async () => {
    for (const suiteName of STRONG) assert.is(await negotiated(listener, suiteName), suiteName)
  })
}

test('port 25 also accepts weak suites, because the alternative is plain text', async () => {
  for (const suiteName of ['AES128-SHA', 'ECDHE-RSA-AES128-SHA', ...STRONG])
    assert.is(await negotiated('inbound', suiteName), suiteName)
})

const GROUPS = ['X25519MLKEM768', 'X25519', 'prime256v1']
const COSTLY_GROUPS = ['ffdhe2048', 'ffdhe3072', 'secp521r1', 'X448']

for (const listener of ['https', 'submissionTls', 'submission', 'inbound'] as const)
  test(`${listener}: groups whose key exchange costs the server much are refused`, async () => {
    const canAgreeOn = (ecdhCurve: string) =>
      dial(listener, { ecdhCurve, minVersion: 'TLSv1.3' }).then(
        socket => !!socket.destroy(),
        (error: NodeJS.ErrnoException) => {
          assert.match(error.code ?? '', /^(?:ERR_SSL_|ECONNRESET|EPROTO)/)
          return false
        },
      )
    for (const group of GROUPS) assert.is(await canAgreeOn(group), true, group)
    for (const group of COSTLY_GROUPS) assert.is(await canAgreeOn(group), false, group)
    assert.is(await canAgreeOn('secp384r1'), listener === 'inbound', 'secp384r1')
  })

/** The first 16 octets of a ticket of TLS 1.2 name its key. */
async function ticketKeyOf(listener: ListenerName): Promise<string> {
  const socket = await dial(listener, { maxVersion: 'TLSv1.2' })
  const ticket = socket.getTLSTicket()!
  socket.destroy()
  return ticket.subarray(0, 16).toString('hex')
}

for (const listener of ['https', 'submissionTls', 'submission', 'inbound'] as const)
  test(`${listener}: tickets have one key for a day, and then another one`, async () => {
    const first = await ticketKeyOf(listener)
    assert.is(await ticketKeyOf(listener), first)
    mailhorn.clock.advance(DAY_MS / 4)
    assert.is(await ticketKeyOf(listener), first)
    mailhorn.clock.advance(DAY_MS)
    await until(async () => (await ticketKeyOf(listener)) !== first)
  })

test.run()
