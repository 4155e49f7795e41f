import { createSocket } from 'node:dgram'
import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import * as assert from 'uvu/assert'
import { frame } from '../../src/protocols/dns/frames.ts'
import { queryPacket } from '../kit/zone-client.ts'
import { battery } from './battery.ts'
import { addressOf, type Crowd, type CrowdOptions, gather } from './crowd.ts'
import type { Field } from './field.ts'
import type { Ports } from './honest-protocol.ts'
import { dialLine } from './mail-client.ts'
import { pause, scaled } from './scale.ts'

/**
 * Peers of the mail ports that are silent, slow or deaf, or that stop in the middle of a handshake: others
 * are served all the same.
 */
const { attack, soak, run } = battery('mail connections')

const HOLD_MS = scaled(7_000, 4_000)
/** Longer than the time over which a server may judge how fast a message comes. */
const TRICKLE_MS = scaled(16_000, 5_000)
const SECOND_MS = 900
/** A record that announces a ClientHello of 508 octets, and 20 of them. */
const HALF_CLIENT_HELLO = Buffer.concat([
  Buffer.from('16030102000100', 'hex'),
  Buffer.from('01fc0303'.repeat(5), 'hex'),
])
/** Each waits a second for its answer, and a little more each time. */
const GUESSERS = 30

type Peers = Omit<CrowdOptions, 'port'>

async function hold(
  { ports }: Field,
  listener: keyof Ports,
  peers: Peers,
  eachSecond?: (crowd: Crowd) => void,
  forMs = HOLD_MS,
): Promise<string> {
  const crowd = await gather({ ...peers, port: ports[listener] })
  try {
    const deadline = performance.now() + forMs
    while (performance.now() < deadline) {
      eachSecond?.(crowd)
      await pause(SECOND_MS)
    }
    return `${crowd.connectedCount} of ${peers.count} connected`
  } finally {
    crowd.close()
  }
}

for (const [what, listener, peers] of [
  [
    'port 465: silent before TLS, one address',
    'submissionTls',
    { count: scaled(510), addresses: 1, net: 40 },
  ],
  [
    'port 465: silent before TLS, 12 addresses',
    'submissionTls',
    { count: scaled(600), addresses: 12, net: 41 },
  ],
  [
    'port 465: half a ClientHello, 12 addresses',
    'submissionTls',
    { count: scaled(600), addresses: 12, net: 42, words: () => HALF_CLIENT_HELLO },
  ],
  [
    'port 587: silent after the greeting, 30 addresses',
    'submission',
    { count: scaled(600), addresses: 30, net: 43, script: [] },
  ],
  [
    'port 587: half a ClientHello after STARTTLS, 30 addresses',
    'submission',
    { count: scaled(300), addresses: 30, net: 44, script: ['EHLO x\r\n', 'STARTTLS\r\n', HALF_CLIENT_HELLO] },
  ],
  [
    'port 25: silent after the greeting, 60 addresses',
    'inbound',
    { count: scaled(600), addresses: 60, net: 45, script: [] },
  ],
  [
    'port 25: half a command, 60 addresses',
    'inbound',
    { count: scaled(600), addresses: 60, net: 46, script: ['EHLO half'] },
  ],
] as const)
  attack(what, async ({ field, note }) => note(await hold(field, listener, peers)))

/**
 * One command after the other, since port 25 sends those away that do not wait; then a message that trickles.
 */
const TRICKLE = ['EHLO slow.example', 'MAIL FROM:<x@there.example>', 'RCPT TO:<bob@acme.example>', 'DATA', '']
const SLOW_LINES = `${'x'.repeat(70)}\r\n`.repeat(14)

async function trickle(field: Field, peers: Peers): Promise<string> {
  let left = 0
  const script = TRICKLE.map(command => (command ? `${command}\r\n` : SLOW_LINES))
  const drip = (crowd: Crowd) => {
    crowd.say(SLOW_LINES)
    left = crowd.standingCount()
  }
  const held = await hold(field, 'inbound', { ...peers, script }, drip, TRICKLE_MS)
  return `${held.replace('connected', 'in DATA')}, ${left} at the end`
}

attack('port 25: messages of 1.1 KB/s, 17 from each of 4 addresses', async ({ field, note }) => {
  note(await trickle(field, { count: scaled(68), addresses: 4, net: 47 }))
})

attack('port 25: messages of 1.1 KB/s, from 300 addresses', async ({ field, note }) => {
  note(await trickle(field, { count: scaled(300), addresses: 300, net: 48 }))
})

attack('port 25: peers that ask and never read, 25 addresses', async ({ field, note }) => {
  const peers = { count: scaled(250), addresses: 25, net: 49, deaf: true }
  const script = ['EHLO deaf.example\r\n', 'NOOP\r\n'.repeat(2_000)]
  note(await hold(field, 'inbound', { ...peers, script }, crowd => crowd.say('NOOP\r\n'.repeat(100))))
})

/** Each byte in a segment or a TLS record of its own, as fast as they are taken. */
async function dripped(
  crowd: { sockets: readonly Socket[] },
  text: string,
  forMs = HOLD_MS,
): Promise<number> {
  const deadline = performance.now() + forMs
  let count = 0
  const drip = async (socket: Socket) => {
    socket.setNoDelay(true)
    for (let at = 0; performance.now() < deadline && socket.writable; at++) {
      count++
      const isTaken = await Promise.race([
        new Promise<boolean>(sent => socket.write(text[at % text.length]!, () => sent(true))),
        pause(SECOND_MS),
      ])
      if (isTaken !== true) await pause(SECOND_MS)
    }
  }
  await Promise.all(crowd.sockets.map(drip))
  return count
}

for (const [what, listener, script, text] of [
  ['port 25: a line without an end, byte by byte', 'inbound', ['EHLO x\r\n'], 'x'],
  ['port 587: empty lines, byte by byte', 'submission', ['EHLO x\r\n'], '\r\n'],
  ['DNS over TCP: a message byte by byte', 'dns', undefined, '\x0f\xf0'],
] as const)
  attack(`${what}, 40 addresses`, async ({ field: { ports }, note }) => {
    const count = scaled(400)
    const crowd = await gather({
      port: ports[listener],
      count,
      addresses: 40,
      net: 52,
      ...(script && { script }),
    })
    note(`${await dripped(crowd, text)} bytes`)
    crowd.close()
  })

attack('port 465: records of one byte while a login is checked, 40 addresses', async ({ field, note }) => {
  const login = Buffer.from('\0resend\0re_wrong').toString('base64')
  const count = scaled(200)
  const sockets = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const socket = connectTls({
        ...{ port: field.ports.submissionTls, host: '127.0.0.1', rejectUnauthorized: false },
        ...({ localAddress: addressOf(53, at % 40) } as object),
      })
      socket.on('error', () => {}).resume()
      await new Promise<void>(resolve => socket.once('data', () => resolve()).once('close', resolve))
      socket.write('EHLO x\r\n')
      await pause(300)
      socket.write(`AUTH PLAIN ${login}\r\n`)
      return socket
    }),
  )
  note(`${await dripped({ sockets }, 'NOOP\r\n')} records`)
  for (const socket of sockets) socket.destroy()
})

attack('port 25: 200,000 pipelined commands, 20 from each of 10 addresses', async ({ field, note }) => {
  for (const command of ['NOOP', 'RSET', 'RCPT TO:<nobody@acme.example>']) {
    const script = ['EHLO x\r\n', 'MAIL FROM:<x@there.example>\r\n', `${command}\r\n`.repeat(200_000)]
    const crowd = await gather({
      port: field.ports.inbound,
      count: scaled(200),
      addresses: 10,
      net: 54,
      script,
    })
    const deadline = performance.now() + HOLD_MS
    while (performance.now() < deadline && crowd.standingCount() > 0) await pause(300)
    note(`${command}: ${crowd.standingCount()} of ${crowd.connectedCount} stand`)
    crowd.close()
  }
})

attack(
  'DNS over TCP: 100,000 questions at once, replies not read, 80 connections',
  async ({ field, note }) => {
    const questions = Buffer.concat(
      Array.from({ length: 10_000 }, () => frame(queryPacket(field.visit.dnsName, 'TXT'))),
    )
    const peers = { count: scaled(80), addresses: 40, net: 55, deaf: true, words: () => questions }
    const crowd = await gather({ port: field.ports.dns, ...peers })
    const deadline = performance.now() + HOLD_MS
    while (performance.now() < deadline) {
      crowd.say(questions)
      await pause(SECOND_MS)
    }
    note(`${crowd.connectedCount} connected`)
    crowd.close()
  },
)

attack('DNS over UDP: a flood of questions from 80 addresses', async ({ field, note }) => {
  const packet = queryPacket(field.visit.dnsName, 'TXT')
  const sockets = Array.from({ length: 80 }, () => createSocket('udp4'))
  for (const [at, socket] of sockets.entries()) {
    socket.on('error', () => {}).bind(0, addressOf(56, at))
    await new Promise(bound => socket.once('listening', bound as () => void))
  }
  let count = 0
  const deadline = performance.now() + HOLD_MS
  while (performance.now() < deadline) {
    await Promise.all(
      sockets.map(socket => new Promise(sent => socket.send(packet, field.ports.dns, '127.0.0.1', sent))),
    )
    count += sockets.length
    await pause(5)
  }
  for (const socket of sockets) socket.close()
  note(`${Math.round((count * 1_000) / HOLD_MS)} questions a second`)
})

attack('port 25: floods of connections, each closed at once', async ({ field, note }) => {
  let opened = 0
  const deadline = performance.now() + HOLD_MS
  while (performance.now() < deadline) {
    const crowd = await gather({ port: field.ports.inbound, count: scaled(200), addresses: 100, net: 50 })
    opened += crowd.connectedCount
    crowd.close()
  }
  note(`${opened} connections in ${HOLD_MS / 1_000} s`)
})

attack('port 465: wrong keys from 30 addresses', async ({ field, note }) => {
  const heard = new Map<string, number>()
  const deadline = performance.now() + HOLD_MS
  const guesser = async (at: number) => {
    while (performance.now() < deadline) {
      const line = await dialLine({
        port: field.ports.submissionTls,
        from: addressOf(51, at),
        apiKey: 'none',
      })
      await line.reply()
      await line.say('EHLO guess.example')
      const login = Buffer.from(`\0resend\0re_${at}_${heard.size}`).toString('base64')
      while (line.isOpen() && performance.now() < deadline) {
        const code = (await line.say(`AUTH PLAIN ${login}`)).slice(0, 3)
        if (code) heard.set(code, (heard.get(code) ?? 0) + 1)
      }
      line.close()
      await pause(SECOND_MS)
    }
  }
  await Promise.all(Array.from({ length: GUESSERS }, (_, at) => guesser(at)))
  note([...heard].map(([code, count]) => `${count} x ${code}`).join(', '))
  assert.not(heard.has('235'))
})

soak()
run()
