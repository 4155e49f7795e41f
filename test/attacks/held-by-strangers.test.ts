import { connect, type Socket } from 'node:net'
import { makeMemoryCgroup, withoutMemoryCgroup } from '../kit/memory-cgroup.ts'
import { battery } from './battery.ts'
import { addressOf } from './crowd.ts'
import { childrenOf, type Field, residentBytes } from './field.ts'
import { MIB, pause, scaled } from './scale.ts'

/**
 * Input that costs much more than its bytes, on a machine with 1 GB: the service lives, and others are
 * served.
 */
const { attack, soak, run } = battery('what strangers hold')

const MACHINE_BYTES = 1024 * MIB
const RESIDENT_BYTES_MAX = 700 * MIB
const HOLD_MS = scaled(10_000, 4_000)
/** Honest clients go on for this time after the attack. */
const AFTER_MS = scaled(5_000, 2_000)
const LOOK_EVERY_MS = 250

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const post = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\nTransfer-Encoding: chunked\r\n\r\n`
const CRUMBS = Buffer.from(
  post('/auth/login', 'Content-Type: application/json') + '1\r\nx\r\n'.repeat(16_000),
)

function wrongLogin(): string {
  const body = JSON.stringify({ email: 'n@x.example', password: 'wrong' })
  return `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

interface Flood {
  count: number
  /** From how many addresses. */
  addresses: number
  /** The second octet of the addresses. */
  net: number
  /** Chunks that each connection writes. All connections share the bytes. */
  pieces: readonly (string | Uint8Array)[]
}

/** Floods the service on a small machine, and watches its memory during and after. */
async function flood(field: Field, { count, addresses, net, pieces }: Flood): Promise<string> {
  const { pid } = field.program
  const machine = makeMemoryCgroup(MACHINE_BYTES)
  for (const one of [pid, ...childrenOf(pid)]) machine?.take(one)
  const sockets: Socket[] = []
  let limit = 0
  const watchFor = async (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; await pause(LOOK_EVERY_MS)) {
      if (field.end !== undefined) return
      limit = Math.max(limit, residentBytes(pid))
    }
  }
  try {
    for (let i = 0; i < count; i++) {
      const localAddress = addressOf(net, i % addresses)
      const socket = connect({ port: field.ports.http, host: '127.0.0.1', localAddress })
      socket.on('error', () => {}).resume()
      for (const piece of pieces) socket.write(piece)
      sockets.push(socket)
      if (i % 100 === 99) await pause(1)
    }
    await watchFor(HOLD_MS)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  await watchFor(AFTER_MS)
  if (field.end === undefined) machine?.close()
  const mib = Math.round(limit / MIB)
  if (limit > RESIDENT_BYTES_MAX) throw new Error(`${mib} MB resident`)
  return `at most ${mib} MB resident`
}

const options = { skip: withoutMemoryCgroup(), comesBack: true }

for (const [at, count] of [1, 8, 30].entries())
  attack(
    `${count} x 200,000 pipelined requests behind a sign-in`,
    async ({ field, note }) => {
      const pieces = [wrongLogin(), Buffer.from(GET.repeat(scaled(200_000)))]
      note(await flood(field, { count, addresses: count, net: 152 + at, pieces }))
    },
    options,
  )

for (const [at, count] of [500, 1_500, 4_000].entries())
  attack(
    `${count} bodies in chunks of one byte`,
    async ({ field, note }) =>
      note(await flood(field, { count: scaled(count), addresses: 40, net: 160 + at, pieces: [CRUMBS] })),
    options,
  )

attack(
  'the beginning of a CSV file in chunks of one byte',
  async ({ field, note }) => {
    const { eve } = field
    const { body } = await field.call('POST', '/audiences', { token: eve.session, body: { name: 'crumbs' } })
    const head = post(
      `/audiences/${body.id}/contacts/import`,
      `Authorization: Bearer ${eve.session}\r\nContent-Type: text/csv`,
    )
    const pieces = [head, Buffer.from('1\r\n \r\n'.repeat(65_000))]
    note(await flood(field, { count: scaled(40), addresses: 4, net: 165, pieces }))
  },
  options,
)

attack(
  '20 x 200,000 requests behind a stream of events',
  async ({ field, note }) => {
    const stream = `GET /activity/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${field.eve.session}\r\n\r\n`
    const pieces = [stream, Buffer.from(GET.repeat(scaled(200_000)))]
    note(await flood(field, { count: 20, addresses: 4, net: 166, pieces }))
  },
  options,
)

soak()
run()
