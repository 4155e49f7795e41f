import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { checkListeners, startFaultText } from '../../../src/app/start-faults.ts'
import type { Config } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('app/listener-check')
const HOST = '127.0.0.1'
const parts = { clock: createManualClock(), log: createLog('silent') }

/** A port that a server holds, or has held. */
async function port(t: TestContext, isTaken: boolean): Promise<number> {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  if (isTaken) t.after(() => server.close())
  else await new Promise(done => server.close(done))
  return port
}

function configOf(http: number, submission: number, dns: number[]): Config {
  const listen = (port: number) => ({ host: HOST, port })
  const off = { listen: null }
  return {
    roles: ['all'],
    http: { listen: listen(http), tlsListen: null },
    smtp: { inbound: off, submission: { listen: listen(submission) }, submissionTls: off, relay: off },
    acme: { enabled: false, listen: null },
    metrics: off,
    dns: { listen: dns.map(listen) },
  } as unknown as Config
}

test('listeners whose addresses are free pass the check, and are free after it', async t => {
  const config = configOf(await port(t, false), await port(t, false), [await port(t, false)])
  for (let i = 0; i < 2; i++) await checkListeners(config, parts)
})

for (const [key, place] of [
  ['http.listen', 0],
  ['smtp.submission.listen', 1],
  ['dns.listen', 2],
] as const)
  test(`given another program at the address of ${key}, the check names it, and leaves the others free`, async t => {
    const ports = [
      await port(t, place === 0),
      await port(t, place === 1),
      await port(t, place === 2),
    ] as const
    const config = configOf(ports[0], ports[1], [ports[2]])
    const error = await checkListeners(config, parts).then(
      () => undefined,
      caught => caught,
    )
    assert.match(startFaultText(error, config), `cannot listen on ${HOST}:${ports[place]} (${key})`)
    assert.match(startFaultText(error, config), 'EADDRINUSE')
    for (const free of ports.filter((_, i) => i !== place)) {
      const server = createServer().listen(free, HOST)
      await once(server, 'listening')
      await new Promise(done => server.close(done))
    }
  })

test.run()
