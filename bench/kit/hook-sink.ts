/** Entry of a thread that plays the endpoints of webhooks: `/hang` never answers, all else is taken at once. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

export interface HookCount {
  taken: number
}

let taken = 0
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url === '/hang') return
    taken++
    response.end('ok')
  })
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
parentPort!.on('message', () => parentPort!.postMessage({ taken } satisfies HookCount))
