import dgram from 'node:dgram'
import { once } from 'node:events'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../../src/lib/clock.ts'
import { askServer, serverOf } from '../../../../src/protocols/dns/query.ts'
import { FLAG } from '../../../../src/protocols/dns/wire.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/query')

function ask(server: string, closing = new AbortController().signal) {
  const query = { server: serverOf(server), name: 'acme.example', type: 'NS' as const, flags: FLAG.RD }
  return askServer(query, { clock: systemClock, timeoutMs: 30_000, closing })
}

async function failureOf(question: Promise<unknown>): Promise<NodeJS.ErrnoException> {
  return question.then(
    () => assert.unreachable('an answer came') as never,
    (error: NodeJS.ErrnoException) => error,
  )
}

test('query: an address that the system refuses to connect to rejects with the error of the system', async () => {
  // The first is a broadcast address; the others have no route where only loopback has one, as in these
  // tests.
  for (const server of ['255.255.255.255:53', '198.51.100.1:53', '[2001:db8::53]:53'])
    assert.match((await failureOf(ask(server))).code!, /^E(?:ACCES|NETUNREACH|HOSTUNREACH|ADDRNOTAVAIL)$/)
})

test('query: an end that comes before the socket is connected rejects once and leaves nothing open', async t => {
  const silent = dgram.createSocket('udp4')
  t.after(() => silent.close())
  await once(silent.bind(0, '127.0.0.1'), 'listening')
  const closing = new AbortController()
  const question = ask(`127.0.0.1:${silent.address().port}`, closing.signal)
  closing.abort(new Error('the service stops'))
  assert.is((await failureOf(question)).message, 'the service stops')
})

test.run()
