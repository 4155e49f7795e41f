import * as assert from 'uvu/assert'
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
