/** Stands in for the DNS thread: tells of its life on a channel named by its zone, and dies when told to. */
import { BroadcastChannel, parentPort, workerData } from 'node:worker_threads'
import type { DnsThreadData } from '../../../src/workers/dns.ts'

const { mailHost, listen, writer } = workerData as DnsThreadData
const channel = new BroadcastChannel(mailHost)
if (listen.some(({ port }) => port === 1)) throw new Error('port 1 is taken')
channel.onmessage = () => {
  throw new Error('as the test wants it')
}
parentPort!.once('message', () => {
  channel.close()
  writer.close()
  parentPort!.close()
})
parentPort!.postMessage({ ports: listen.map(({ port }) => port || 4_242) })
channel.postMessage(listen.map(({ port }) => port))
