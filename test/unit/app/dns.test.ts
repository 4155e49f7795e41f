import { networkInterfaces } from 'node:os'
import { MessageChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import type { AppContext } from '../../../src/app/context.ts'
import { startProviderDns, zoneRecords } from '../../../src/app/dns.ts'
import { loadConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/lib/log.ts'
import { isGlobalUnicast } from '../../../src/protocols/dns/address-safety.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('provider-dns')
const root = new URL('../../..', import.meta.url).pathname

function setUp(t: TestContext, listen: string, mailHost: string) {
  const clock = createManualClock()
  const logged: string[] = []
  const lives: unknown[] = []
  const channel = new BroadcastChannel(mailHost)
  channel.onmessage = ({ data }) => lives.push(data)
  t.after(() => channel.close())
  const { config } = loadConfig(root, { MAILHORN_DNS_LISTEN: listen, MAILHORN_MAIL_HOST: mailHost })
  const store = {
    location: {},
    run: async () => undefined,
    connectThread() {
      const { port1, port2 } = new MessageChannel()
      port1.unref()
      return port2
    },
  } as unknown as AppContext['store']
  const options = {
    config,
    clock,
    store,
    clockSeat: null,
    log: createLog('error', { write: line => void logged.push(JSON.parse(line).msg) }),
    entry: new URL('./scripted-dns.ts', import.meta.url),
  }
  return { clock, logged, lives, channel, options }
}

test('without dns.addresses, the zone has the public addresses of the host alone', () => {
  const { config } = loadConfig(root, { MAILHORN_MAIL_HOST: 'mail.example.com' })
  const own = Object.values(networkInterfaces()).flatMap(found => (found ?? []).map(({ address }) => address))
  const addresses = zoneRecords(config, 0).flatMap(record =>
    record.type === 'A' || record.type === 'AAAA' ? record.address : [],
  )
  assert.equal(new Set(addresses), new Set(own.filter(isGlobalUnicast)))
})

test('DNS worker: it is restarted on the same ports after its death', async t => {
  const { clock, logged, lives, channel, options } = setUp(t, '127.0.0.1:0,127.0.0.2:5301', 'one.example.com')
  const dns = await startProviderDns(options)
  assert.equal(dns.address, { host: '127.0.0.1', port: 4_242 })
  await until(() => lives.length === 1)
  channel.postMessage('die')
  await until(() => clock.timerCount > 0)
  assert.equal(logged, ['The dns worker died'])
  clock.advance(1_000)
  await until(() => lives.length === 2)
  assert.equal(lives, [
    [0, 5_301],
    [4_242, 5_301],
  ])
  await dns.close()
})

test('DNS worker: stop cancels a pending restart', async t => {
  const { clock, lives, channel, options } = setUp(t, '127.0.0.1:0', 'two.example.com')
  const dns = await startProviderDns(options)
  await until(() => lives.length === 1)
  channel.postMessage('die')
  await until(() => clock.timerCount > 0)
  await dns.close()
  assert.is(clock.timerCount, 0)
})

test('DNS worker: a failing start is reported to the caller and not retried', async t => {
  const { clock, options } = setUp(t, '127.0.0.1:1', 'three.example.com')
  await startProviderDns(options).then(
    () => assert.unreachable(),
    error => assert.match(error.message, /port 1 is taken/),
  )
  assert.is(clock.timerCount, 0)
})

test.run()
