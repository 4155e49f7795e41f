/**
 * Opens and closes every listener of the configuration, so that an address that cannot be used is found
 * before the start writes anything. Called by `app.ts`; `start-faults.ts` words the error.
 */
import { createServer } from 'node:net'
import type { Config } from '../config/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { createDnsListener } from '../protocols/dns/listener.ts'
import { listenersOf } from './start-faults.ts'

/** @throws the error of binding, with the address and the port */
export async function checkListeners(config: Config, parts: { clock: Clock; log: Log }): Promise<void> {
  const closing: (() => Promise<void>)[] = []
  try {
    for (const { key, place } of listenersOf(config))
      closing.push(key === 'dns.listen' ? await openDns(place, parts) : await openTcp(place))
  } finally {
    await Promise.all(closing.map(close => close()))
  }
}

async function openDns(
  listen: { host: string; port: number },
  parts: { clock: Clock; log: Log },
): Promise<() => Promise<void>> {
  const listener = createDnsListener({ listen, respond: () => undefined, ...parts })
  await listener.listen()
  return listener.close
}

async function openTcp({ host, port }: { host: string; port: number }): Promise<() => Promise<void>> {
  const server = createServer(socket => socket.destroy())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return () => new Promise(resolve => void server.close(() => resolve()))
}
