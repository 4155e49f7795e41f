import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('source addresses')
const MINUTE_MS = 60_000
const ZONE = 'there.example MX 10 mx.there.example\nmx.there.example A 127.0.0.2'

let mx: FakeMx
let mailhorn: Mailhorn

test.before(async () => {
  mx = await startFakeMx({ host: '127.0.0.2' })
  mailhorn = await startMailhorn({
    zone: ZONE,
    mxPort: mx.port,
    env: { MAILHORN_DELIVERY_SOURCE_IPS: '127.0.0.41=out41.here.example,127.0.0.42=out42.here.example' },
  })
  await mailhorn.verifiedDomain('here.example')
})

test.after(async () => {
  await mailhorn.close()
  await mx.close()
})

function send(to: string) {
  return mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hi' })
}

test('each email has one source address, greets with its name, and keeps it on a retry', async () => {
  const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => send(`grey-1+${i}@there.example`)))
  for (const id of ids) await mailhorn.emailWhen(id, 'delivery_delayed')
  mailhorn.clock.advance(6 * MINUTE_MS)
  const used = new Set<string>()
  for (const id of ids) {
    const { recipients } = await mailhorn.emailWhen(id, 'delivered')
    const [{ address, transcripts }] = recipients
    const sources = transcripts.map(({ hosts }: { hosts: { source_ip: string }[] }) => hosts[0]!.source_ip)
    assert.is(sources.length, 2)
    assert.is(sources[0], sources[1])
    const taken = mx.messages.find(({ rcptTo }) => rcptTo[0] === address)!
    assert.is(taken.clientAddress, sources[0])
    const greeting = mx.transcript.find(line => line.startsWith(`${taken.sessionId} C: EHLO`))
    assert.is(greeting, `${taken.sessionId} C: EHLO out${sources[0].slice(-2)}.here.example`)
    used.add(sources[0])
  }
  assert.is(used.size, 2)
})

test('the names of source addresses are checked at the start', async () => {
  const requests = (name: string, type: string) =>
    until(() => mailhorn.zone.queries.some(query => query.name === name && query.type === type))
  for (const number of [41, 42]) {
    await requests(`${number}.0.0.127.in-addr.arpa`, 'PTR')
    await requests(`out${number}.here.example`, 'A')
  }
})

test.run()
