/** An endpoint that can be down, and remembers every request and every connection that it has seen. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../src/lib/clock.ts'
import type { TestContext } from '../kit/suite.ts'

/** `failing` answers 503 at once, `refusing` ends each connection before anything has been asked. */
export type Manner = 'well' | 'failing' | 'refusing'

export interface Asked {
  eventId: string
  /** Time by the service's clock, epoch ms. */
  at: number
  isTaken: boolean
}

export interface Endpoint {
  readonly url: string
  manner: Manner
  /** Oldest first. */
  readonly requests: readonly Asked[]
  /** When the events happened, as they say, epoch ms. */
  readonly happenedAt: ReadonlyMap<string, number>
  readonly connectionCount: number
  readonly refusedCount: number
}

export async function startEndpoint(
  t: TestContext,
  { clock, manner }: { clock: Clock; manner: Manner },
): Promise<Endpoint> {
  const requests: Asked[] = []
  const happenedAt = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const { id, created_at } = JSON.parse(`${Buffer.concat(await request.toArray())}`)
    const eventId = String(request.headers['svc-id'])
    if (id !== eventId) throw new Error(`${id} is sent as ${eventId}`)
    happenedAt.set(eventId, Date.parse(created_at))
    const isTaken = endpoint.manner === 'well'
    requests.push({ eventId, at: clock.now(), isTaken })
    response.writeHead(isTaken ? 200 : 503).end()
  })
  server.on('connection', socket => {
    endpoint.connectionCount++
    if (endpoint.manner !== 'refusing') return
    endpoint.refusedCount++
    socket.destroy()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const endpoint = { url, manner, requests, happenedAt, connectionCount: 0, refusedCount: 0 }
  return endpoint
}
