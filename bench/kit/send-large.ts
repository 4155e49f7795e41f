/**
 * Sends large messages at once by one door, from a process of its own. What is refused for now is sent again
 * when the refusal says, or two seconds later over SMTP. Arguments: door, count, bytes, port, key.
 */
import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { SENDER_DOMAIN } from './message.ts'

export type Door = 'api' | '25' | '465'

export interface LargeResult {
  accepted: number
  /** Refusals with a time after which to come back. */
  refused: number
  /** Permanent refusals, and errors of connections that ended without a reply. */
  failures: string[]
}

const TRIES_MAX = 60
const SMTP_RETRY_MS = 2_000
const LINE = `${'QUJD'.repeat(19)}\r\n`

type Outcome = { accepted: true } | { retryAfterMs: number } | { failure: string }
type Send = () => Promise<Outcome>

const apiBody = (bytes: number) =>
  Buffer.from(
    `{"from":"a@${SENDER_DOMAIN}","to":"bob@one.test","subject":"large","text":"x","attachments":[{"filename":"a.bin","content":"${'QUJD'.repeat(bytes / 3)}"}]}`,
  )

function byApi(port: number, key: string, body: Buffer): Promise<Outcome> {
  return new Promise(resolve => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    }
    const client = request({
      host: '127.0.0.1',
      port,
      path: '/emails',
      method: 'POST',
      headers,
      agent: false,
    })
    client.on('response', response => {
      response.resume()
      const seconds = Number(response.headers['retry-after'])
      if (response.statusCode === 200) resolve({ accepted: true })
      else if (response.statusCode === 503 && seconds > 0) resolve({ retryAfterMs: seconds * 1_000 })
      else resolve({ failure: `HTTP ${response.statusCode}` })
    })
    client.on('error', error => resolve({ failure: error.message }))
    client.end(body)
  })
}

const smtpMessage = (bytes: number) =>
  `From: a@${SENDER_DOMAIN}\r\nTo: bob@one.test\r\nSubject: large\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n` +
  `--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=a.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n` +
  `${LINE.repeat(bytes / 57)}\r\n--b--\r\n.\r\n`

async function bySmtp(door: '25' | '465', port: number, key: string, message: string): Promise<Outcome> {
  const host = '127.0.0.1'
  const isTls = door === '465'
  const socket = isTls ? connectTls({ host, port, rejectUnauthorized: false }) : connect({ host, port })
  let last = ''
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect')
    const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
    const reply = async () => {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`closed after ${last}`)
        last = value
        if (value[3] === ' ') return value
      }
    }
    await reply()
    const login = `AUTH PLAIN ${Buffer.from(`\0mailhorn\0${key}`).toString('base64')}`
    const to = isTls ? 'bob@one.test' : `u@${SENDER_DOMAIN}`
    const size = ` SIZE=${message.length}`
    for (const line of [
      'EHLO bench.test',
      ...(isTls ? [login] : []),
      `MAIL FROM:<a@${SENDER_DOMAIN}>${size}`,
      `RCPT TO:<${to}>`,
      'DATA',
    ]) {
      socket.write(`${line}\r\n`)
      const code = (await reply())[0]
      if (code === '4') return { retryAfterMs: SMTP_RETRY_MS }
      if (code === '5') return { failure: last }
    }
    socket.write(message)
    const code = (await reply())[0]
    if (code === '2') return { accepted: true }
    return code === '4' ? { retryAfterMs: SMTP_RETRY_MS } : { failure: last }
  } catch (error) {
    return { failure: (error as Error).message }
  } finally {
    socket.on('error', () => {}).destroy()
  }
}

/** Sends until the message is accepted or refused for good; a refusal for now is repeated when it says. */
export async function untilAccepted(send: Send, result: LargeResult): Promise<void> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const outcome = await send()
    if ('accepted' in outcome) {
      result.accepted += 1
      return
    }
    if ('failure' in outcome) {
      result.failures.push(outcome.failure)
      return
    }
    result.refused += 1
    await pause(outcome.retryAfterMs)
  }
  result.failures.push(`refused ${TRIES_MAX} times`)
}

/** Makes what sends a message with an attachment of so many bytes by a door. */
export function sender(door: Door, bytes: number, port: number, key: string): Send {
  if (door === 'api') {
    const body = apiBody(bytes)
    return () => byApi(port, key, body)
  }
  const message = smtpMessage(bytes)
  return () => bySmtp(door, port, key, message)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [door = '', count = '', bytes = '', port = '', key = ''] = process.argv.slice(2)
  const result: LargeResult = { accepted: 0, refused: 0, failures: [] }
  const send = sender(door as Door, Number(bytes), Number(port), key)
  await Promise.all(Array.from({ length: Number(count) }, () => untilAccepted(send, result)))
  console.log(JSON.stringify(result))
}
