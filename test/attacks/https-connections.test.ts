import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectSecurely, type TLSSocket } from 'node:tls'
import { freePort } from '../kit/free-port.ts'
import { battery } from './battery.ts'
import { addressOf } from './crowd.ts'
import { pause, scaled } from './scale.ts'

/** Peers that let the service encrypt and sign for nothing. */
const port = await freePort()
const { attack, soak, run } = battery('HTTPS connections', {
  settings: { HTTP_TLS_LISTEN: `127.0.0.1:${port}` },
})

const HOLD_MS = scaled(8_000, 4_000)
const FLOOD_MS = scaled(12_000, 4_000)
const REQUEST = 'GET /openapi.json HTTP/1.1\r\nHost: mailhorn.test\r\n\r\n'

function dial(localAddress: string): TLSSocket {
  const options: ConnectionOptions & { localAddress: string } = { port, host: '127.0.0.1', localAddress }
  return connectSecurely({ ...options, rejectUnauthorized: false }).on('error', () => {})
}

attack(
  'long replies that nobody reads, of 10 addresses',
  async ({ t, note }) => {
    const sockets: TLSSocket[] = []
    t.after(() => {
      for (const socket of sockets) socket.destroy()
    })
    for (let i = 0; i < scaled(1_400); i++) {
      const socket = dial(addressOf(30, i % 10))
      socket.once('secureConnect', () => socket.pause().write(REQUEST))
      sockets.push(socket)
      if (i % 20 === 19) await pause(40)
    }
    await pause(HOLD_MS)
    note(`${sockets.filter(socket => socket.authorizationError !== undefined).length} connections`)
  },
  { comesBack: true },
)

for (const group of ['X25519', 'ffdhe3072'])
  attack(
    `the same TLS hello (${group}) again and again, of 20 addresses`,
    async ({ note }) => {
      const hello = await helloWith(group)
      const deadline = performance.now() + FLOOD_MS
      let sentCount = 0
      const repeat = async (localAddress: string) => {
        while (performance.now() < deadline) {
          sentCount++
          await sendOnly(hello, localAddress)
        }
      }
      await Promise.all(Array.from({ length: scaled(1_500) }, (_, i) => repeat(addressOf(31, i % 20))))
      note(`${sentCount} hellos`)
    },
    { comesBack: true },
  )

/** Returns the hello of a client that offers this group alone. */
async function helloWith(ecdhCurve: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connectSecurely({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    ecdhCurve,
  })
  client.on('error', () => {})
  const [accepted] = (await once(server, 'connection')) as [Socket]
  const [hello] = (await once(accepted, 'data')) as [Buffer]
  accepted.destroy()
  server.close()
  return hello
}

/** Resolves when the service has answered, or closed the connection. */
function sendOnly(hello: Buffer, localAddress: string): Promise<void> {
  return new Promise(resolve => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }, () => socket.write(hello))
    socket.once('data', () => socket.destroy())
    socket.setTimeout(9_000, () => socket.destroy())
    socket.on('error', () => {}).once('close', () => resolve())
  })
}

soak()
run()
