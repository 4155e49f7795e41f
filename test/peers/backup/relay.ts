/** A relay in front of a server on loopback, which tells which request passes when it does. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface Relay {
  url: string
  /** Is called with the request line of each request, such as `PUT /bucket/key HTTP/1.1`. */
  onRequest: (line: string) => void
  close(): Promise<void>
}

const REQUEST_LINE = /^(?:GET|HEAD|PUT|POST|DELETE) \/\S* HTTP\/1\.1(?=\r\n)/

/** @param target URL of the server; clients send the next request when they have read the reply */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const relay: Relay = {
    url: '',
    onRequest: () => {},
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer(client => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('error', () => {}).on('close', () => open.delete(socket))
    }
    client.on('data', piece => {
      const line = REQUEST_LINE.exec(piece.toString('latin1'))?.[0]
      if (line !== undefined) relay.onRequest(line)
    })
    client.pipe(upstream)
    upstream.pipe(client)
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  relay.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return relay
}
