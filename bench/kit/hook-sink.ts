/**
 * Entry of a thread that plays the endpoints of webhooks: `/hang` never answers, `/fail` says 500, `/reset`
 * breaks off, `/redirect` leads elsewhere, `/large` says 10 MB; all else is taken at once.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parentPort } from 'node:worker_threads'

export interface HookCount {
  taken: number
}

const large = Buffer.alloc(10_000_000)
let taken = 0
const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume()
  request.on('end', () => {
    switch (request.url) {
      case '/hang':
        return
      case '/fail':
        return response.writeHead(500).end()
      case '/reset':
        return request.socket.destroy()
      case '/redirect':
        return response.writeHead(302, { location: '/' }).end()
      case '/large':
        return response.writeHead(500).end(large)
      default:
        taken++
        return response.end('ok')
    }
  })
})
server.listen(0, '127.0.0.1', () => parentPort!.postMessage((server.address() as AddressInfo).port))
parentPort!.on('message', () => parentPort!.postMessage({ taken } satisfies HookCount))
