import * as assert from 'uvu/assert'
import { battery, WITHOUT_PROC } from './battery.ts'
import { type Crowd, type CrowdOptions, gather } from './crowd.ts'
import { type Field, PROXY, socketCount } from './field.ts'
import { pause, scaled } from './scale.ts'

/**
 * Peers that open HTTP connections and say nothing, too little or too slowly, by the thousand: others are
 * served all the same.
 */
const { attack, soak, run } = battery('HTTP connections')

const HOLD_MS = scaled(8_000, 4_000)
/**
 * Maximum lifetime of an idle connection, with a margin. The limit of 120 s is for requests that make
 * progress.
 */
const LET_GO_WITHIN_MS = 90_000
const LOOK_EVERY_MS = 1_000
const SLOW_BYTES_EVERY_MS = 1_000
const LOGIN_BODY_BYTES = 1_048_576
const SENT_BODY_BYTES = 140_000

const HALF_HEAD = 'POST /emails HTTP/1.1\r\nHost: mailhorn.test\r\nX-Slow: '
const halfLogin = (more = '') =>
  `POST /auth/login HTTP/1.1\r\nHost: mailhorn.test\r\n${more}Content-Type: application/json\r\n` +
  `Content-Length: ${LOGIN_BODY_BYTES}\r\n\r\n${' '.repeat(SENT_BODY_BYTES)}`
const halfSend = (key: string, sentBytes: number) =>
  `POST /emails HTTP/1.1\r\nHost: mailhorn.test\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
  `Content-Length: 400000\r\n\r\n{"text": "${'x'.repeat(sentBytes)}`

type Peers = Omit<CrowdOptions, 'port'>

/** Holds a crowd for a while, with what it does each second. */
async function hold(field: Field, peers: Peers, eachSecond?: (crowd: Crowd) => void): Promise<string> {
  const crowd = await gather({ ...peers, port: field.ports.http })
  try {
    const deadline = performance.now() + HOLD_MS
    while (performance.now() < deadline) {
      eachSecond?.(crowd)
      await pause(SLOW_BYTES_EVERY_MS)
    }
    return `${crowd.connectedCount} of ${peers.count} connected`
  } finally {
    crowd.close()
  }
}

const silent = (count: number, addresses: number, net: number): Peers => ({ count, addresses, net })

for (const [what, peers] of [
  ['silent connections of one address', silent(scaled(5_000), 1, 10)],
  ['silent connections of 250 addresses', silent(scaled(5_000), 250, 11)],
  ['half request heads of 40 addresses', { ...silent(scaled(2_000), 40, 12), words: () => HALF_HEAD }],
  [
    'half-sent logins of 1 MB, 112 from each of 3 addresses',
    { ...silent(scaled(336), 3, 13), words: () => halfLogin() },
  ],
  [
    'the same, of 250 clients behind a proxy',
    {
      ...silent(scaled(300), 1, 14),
      from: PROXY,
      words: (at: number) => halfLogin(`X-Forwarded-For: 203.0.113.${at % 250}\r\n`),
    },
  ],
  [
    'half-sent bodies under forged keys, of 20 addresses',
    { ...silent(scaled(400), 20, 15), words: () => halfSend('re_forged', 200_000) },
  ],
] as const)
  attack(what, async ({ field, note }) => note(await hold(field, peers)))

attack('half-sent bodies of another account, of 3 addresses', async ({ field, note }) => {
  const words = () => halfSend(field.eve.apiKey, 200_000)
  note(await hold(field, { ...silent(scaled(120), 3, 16), words }))
})

attack('bodies of a byte a second, of 10 addresses', async ({ field, note }) => {
  const words = () => halfSend(field.eve.apiKey, 10)
  note(await hold(field, { ...silent(scaled(500), 10, 17), words }, crowd => crowd.say('x')))
})

attack('clients that ask for much and read nothing', async ({ field, note }) => {
  const request = 'GET /openapi.json HTTP/1.1\r\nHost: mailhorn.test\r\n\r\n'
  const peers = { ...silent(scaled(200), 20, 18), deaf: true, words: () => request.repeat(50) }
  note(await hold(field, peers))
})

attack(
  'all of these at once: the service lets go of them',
  async ({ field, t, note }) => {
    const { pid } = field.program
    const before = socketCount(pid)
    const { http: port } = field.ports
    const count = scaled(100)
    const crowds = await Promise.all([
      gather({ ...silent(count, 4, 19), port }),
      gather({ ...silent(count, 4, 20), port, words: () => HALF_HEAD }),
      gather({ ...silent(count, 4, 21), port, words: () => halfLogin() }),
      gather({ ...silent(count, 4, 22), port, words: () => halfSend(field.eve.apiKey, 200_000) }),
      gather({
        ...silent(count, 4, 23),
        port,
        words: () => `GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`,
        deaf: true,
      }),
    ])
    t.after(() => {
      for (const crowd of crowds) crowd.close()
    })
    await field.call('GET', '/healthz') // by then the service knows of all of them
    const began = performance.now()
    const max = socketCount(pid)
    /** Honest clients come and go meanwhile. */
    const few = before + 20
    while (socketCount(pid) > few && performance.now() - began < LET_GO_WITHIN_MS) await pause(LOOK_EVERY_MS)
    const left = socketCount(pid)
    note(
      `${before} sockets before, ${max} at first, ${left} after ${Math.round((performance.now() - began) / 1_000)} s`,
    )
    assert.ok(left <= few, `${left - before} sockets are still held after ${LET_GO_WITHIN_MS / 1_000} s`)
  },
  { skip: WITHOUT_PROC },
)

soak()
run()
