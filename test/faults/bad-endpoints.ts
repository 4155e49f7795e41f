/**
 * Entry of a thread that plays endpoints which are not well, so that what they cost is theirs: they hang,
 * fail, break off, lead elsewhere, say 10 MB, have certificates that are not good, or speak no TLS. Posts
 * their ports, and when asked, how many connections each has had.
 */
import { parentPort } from 'node:worker_threads'
import { startWebHost, type WebHostOptions } from '../kit/web-host.ts'

const large = Buffer.alloc(10_000_000)
const kinds: WebHostOptions[] = [
  { answer() {} },
  { answer: (_, response) => void response.writeHead(500).end() },
  { answer: (_, _response, socket) => void socket.destroy() },
  { answer: (_, response) => void response.writeHead(302, { location: '/followed' }).end() },
  { answer: (_, response) => void response.writeHead(500).end(large) },
  ...(['expired', 'wrong-name', 'self-signed', null] as const).map(certificate => ({ certificate })),
]
const hosts = await Promise.all(kinds.map(kind => startWebHost(kind)))

parentPort!.postMessage(hosts.map(({ port }) => port))
parentPort!.on('message', () => parentPort!.postMessage(hosts.map(told)))

function told({ connectionCount, requests }: (typeof hosts)[number]): BadEndpointCount {
  return { connections: connectionCount, followed: requests.some(({ path }) => path === '/followed') }
}

export interface BadEndpointCount {
  connections: number
  /** It was led to itself, and came. */
  followed: boolean
}
