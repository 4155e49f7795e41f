/** Filters on sockets, as good or as confused as a test wants them. */
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { FilterAddress } from '../../../../../src/pipeline/inbound/verdicts/exchange.ts'
import type { TestContext } from '../../../../kit/suite.ts'

export type Talk = (heard: Buffer, socket: Socket) => void

export interface ScriptedFilter {
  address: FilterAddress
  /** Returns the bytes received on the newest connection. */
  heard(): Buffer
  connections(): number
  close(): Promise<void>
}

/** A filter on a socket: `talk` hears everything so far whenever more comes. */
export async function startFilter(t: TestContext, talk: Talk, path?: string): Promise<ScriptedFilter> {
  const sockets = new Set<Socket>()
  let heard = Buffer.alloc(0)
  const server = createServer(socket => {
    sockets.add(socket)
    heard = Buffer.alloc(0)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', chunk => {
      heard = Buffer.concat([heard, chunk])
      talk(heard, socket)
    })
  })
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    if (server.listening) await new Promise(resolve => server.close(resolve))
  }
  t.after(close)
  await new Promise<void>(resolve =>
    path ? server.listen(path, resolve) : server.listen(0, '127.0.0.1', resolve),
  )
  const address = path ? { path } : { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
  return { address, heard: () => heard, connections: () => sockets.size, close }
}

const END_OF_STREAM = Buffer.alloc(4)
export const whenStreamed =
  (reply: string): Talk =>
  (heard, socket) => {
    if (heard.subarray(-4).equals(END_OF_STREAM)) socket.end(reply)
  }
export const whenWhole =
  (reply: string): Talk =>
  (heard, socket) => {
    const text = heard.toString()
    const [, length] = /Content-length: (\d+)/.exec(text) ?? []
    const at = text.indexOf('\r\n\r\n')
    if (at >= 0 && text.length - at - 4 >= Number(length ?? 0)) socket.end(reply)
  }
export const atOnce =
  (reply: string): Talk =>
  (_, socket) =>
    socket.end(reply)
export const silent: Talk = () => {}
export const hangsUp: Talk = (_, socket) => socket.destroy()
