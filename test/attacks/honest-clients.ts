/**
 * The honest clients, a process of their own so that the attackers' work does not slow them down. Between
 * `begin` and `end` each kind makes one request after another, over a new connection each, and notes how long
 * the answer took.
 */
import dgram from 'node:dgram'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { decodeMessage } from '../../src/protocols/dns/wire-decode.ts'
import { queryPacket } from '../kit/zone-client.ts'
import type { Kind, Order, Record, Report, Visit } from './honest-protocol.ts'

/** A client that has waited for so long gives up, which is a failure. */
const PATIENCE_MS = 10_000
const PAUSE_MS: { [kind in Kind]: number } = {
  'small send': 150,
  '300 KB send': 500,
  login: 1_000,
  submission: 300,
  'second submission': 300,
  'port 25': 300,
  DNS: 200,
}
/** One address for each kind, in a network of its own. */
const FROM: { [kind in Kind]: string } = {
  'small send': '127.201.0.1',
  '300 KB send': '127.202.0.1',
  login: '127.203.0.1',
  submission: '127.204.0.1',
  'second submission': '127.205.0.1',
  'port 25': '127.206.0.1',
  DNS: '127.207.0.1',
}
const SENT_TEXT = 'A sentence of an honest text.\n'.repeat(10_000)
const MAIL = 'From: ann@there.example\r\nSubject: honest\r\n\r\nOne line.\r\n.\r\n'

const clients: { [kind in Kind]: (visit: Visit, signal: AbortSignal) => Promise<void> } = {
  'small send': (visit, signal) => send('small send', visit, 'hello', signal),
  '300 KB send': (visit, signal) => send('300 KB send', visit, SENT_TEXT, signal),
  async login({ ports, login }, signal) {
    await post('login', ports.http, '/auth/login', login, {}, signal)
  },
  submission: ({ ports, apiKey }, signal) => submit('submission', ports, apiKey, signal),
  'second submission': ({ ports, secondKey }, signal) =>
    submit('second submission', ports, secondKey, signal),
  async 'port 25'({ ports, recipient }, signal) {
    const socket = connect({ port: ports.inbound, host: '127.0.0.1', localAddress: FROM['port 25'] })
    await converse(socket, ['MAIL FROM:<ann@there.example>', `RCPT TO:<${recipient}>`], signal)
  },
  async DNS({ ports, dnsName }, signal) {
    const socket = dgram.createSocket('udp4')
    try {
      socket.bind(0, FROM.DNS)
      await once(socket, 'listening', { signal })
      socket.send(queryPacket(dnsName, 'TXT'), ports.dns, '127.0.0.1')
      const [reply] = await once(socket, 'message', { signal })
      const { answers } = decodeMessage(reply)
      if (answers.length === 0) throw new Error('the DNS answer is empty')
    } finally {
      socket.close()
    }
  },
}

async function send(kind: Kind, { ports, apiKey }: Visit, text: string, signal: AbortSignal) {
  const email = { from: 'ann@acme.example', to: 'delivered@simulator.test', subject: 'honest', text }
  await post(kind, ports.http, '/emails', email, { authorization: `Bearer ${apiKey}` }, signal)
}

async function post(
  kind: Kind,
  port: number,
  path: string,
  body: object,
  headers: { [name: string]: string },
  signal: AbortSignal,
): Promise<void> {
  const text = JSON.stringify(body)
  const requests = request({
    ...{ host: '127.0.0.1', port, path, method: 'POST', agent: false, localAddress: FROM[kind], signal },
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers },
  })
  requests.end(text)
  const [response] = await once(requests, 'response')
  const pieces: Buffer[] = []
  for await (const piece of response) pieces.push(piece)
  if (response.statusCode !== 200)
    throw new Error(`${path}: ${response.statusCode} ${Buffer.concat(pieces).toString().slice(0, 200)}`)
}

async function submit(kind: Kind, ports: Visit['ports'], key: string, signal: AbortSignal): Promise<void> {
  const localAddress = FROM[kind]
  const socket = connectTls({
    ...{ port: ports.submissionTls, host: '127.0.0.1', localAddress, rejectUnauthorized: false },
  } as ConnectionOptions)
  const login = Buffer.from(`\0resend\0${key}`).toString('base64')
  const from = kind === 'submission' ? 'ann@acme.example' : 'eve@eve.example'
  const envelope = [`MAIL FROM:<${from}>`, 'RCPT TO:<delivered@simulator.test>']
  await converse(
    socket,
    [`AUTH PLAIN ${login}`, ...envelope],
    signal,
    MAIL.replace('ann@there.example', from),
  )
}

/** One SMTP session with one message. @throws at the first negative reply, or when the connection ends */
async function converse(
  socket: Socket,
  lines: readonly string[],
  signal: AbortSignal,
  mail = MAIL,
): Promise<void> {
  const stop = () => socket.destroy(new Error('no answer in time'))
  signal.addEventListener('abort', stop)
  socket.setEncoding('latin1')
  const replies = repliesOf(socket)
  const heard = async (what: string) => {
    const { value } = await replies.next()
    if (value === undefined) throw new Error(`${what}: the connection ended`)
    if (!/^[23]/.test(value)) throw new Error(`${what}: ${value}`)
  }
  try {
    await heard('greeting')
    for (const line of ['EHLO honest.example', ...lines, 'DATA']) {
      socket.write(`${line}\r\n`)
      await heard(line.slice(0, 12))
    }
    socket.write(mail)
    await heard('final dot')
    socket.end('QUIT\r\n')
  } finally {
    signal.removeEventListener('abort', stop)
    socket.on('error', () => {}) // the verdict has been reached
    setTimeout(() => socket.destroy(), 50).unref()
  }
}

async function* repliesOf(socket: Socket): AsyncGenerator<string> {
  let heard = ''
  for await (const text of socket.iterator({ destroyOnReturn: false })) {
    heard += text
    for (;;) {
      const found = /^(?:\d{3}-[^\n]*\n)*\d{3}(?: [^\n]*)?\n/.exec(heard)
      if (!found) break
      heard = heard.slice(found[0].length)
      yield found[0].trimEnd()
    }
  }
}

let going = false
let running: Promise<Report> = Promise.resolve([])

async function keepOn(kind: Kind, visit: Visit): Promise<[Kind, Record]> {
  const record: Record = { latenciesMs: [], failures: [] }
  do {
    const limit = AbortSignal.timeout(PATIENCE_MS)
    const began = performance.now()
    await clients[kind](visit, limit).catch(error => {
      record.failures.push(limit.aborted ? `no answer within ${PATIENCE_MS / 1_000} s` : `${error.message}`)
    })
    record.latenciesMs.push(performance.now() - began)
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS[kind]))
  } while (going)
  return [kind, record]
}

process.on('message', async (order: Order) => {
  if (order === 'end') {
    going = false
    process.send!(await running)
    return
  }
  going = true
  const visit = order.begin
  running = Promise.all(visit.kinds.map(kind => keepOn(kind, visit)))
})
process.on('disconnect', () => process.exit())
