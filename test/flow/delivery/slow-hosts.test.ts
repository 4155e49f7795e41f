import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { isOnPostgres } from '../../kit/database.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

/** Hosts that answer late, or never: what is waited for, and what happens to other mail meanwhile. */
const test = suite('slow hosts')
/** PostgreSQL renews leases every 10 s of the clock, so that minutes take too long there. */
const longTest = (name: string, run: (t: TestContext) => Promise<void>) =>
  test(name, run, { skip: isOnPostgres ? 'minutes of the clock take too long on PostgreSQL' : undefined })
const SECOND_MS = 1_000
const STEP_MS = 5_000
const LEASE_LEFT_MS_MIN = 8_000
const ZONE = `
  slow.example      MX 10 mx.slow.example
  mx.slow.example   A 127.0.0.2
  quick.example     MX 10 mx.quick.example
  mx.quick.example  A 127.0.0.3
`

interface Gate {
  port: number
  connectionCount: number
  /** Number of connections whose replies are held back. */
  heldCount: number
  /** Lets all replies through, also those that were held back. */
  open(): void
  close(): void
}

/** A host that holds its replies back once the client has said something that matches, or from the start. */
async function startGate(target: FakeMx, host: string, holdsFrom: RegExp): Promise<Gate> {
  const held = new Set<() => void>()
  const sockets = new Set<Socket>()
  let isOpen = false
  const gate = { connectionCount: 0, heldCount: 0 }
  const server = createServer(client => {
    gate.connectionCount++
    const inner = connect(target.port, target.host)
    let message = ''
    const hold = () => {
      if (isOpen || !holdsFrom.test(message)) return
      inner.pause()
      if (!held.has(resume)) gate.heldCount++
      held.add(resume)
    }
    const resume = () => void inner.resume()
    for (const socket of [client, inner]) sockets.add(socket.on('error', () => {}))
    inner.on('data', octets => client.write(octets)).on('close', () => client.destroy())
    client.on('close', () => inner.destroy())
    client.on('data', octets => {
      message += octets.toString('latin1')
      hold()
      inner.write(octets)
    })
    hold()
  })
  await new Promise<void>(resolve => server.listen(0, host, resolve))
  return Object.assign(gate, {
    port: (server.address() as AddressInfo).port,
    open() {
      isOpen = true
      for (const resume of held) resume()
    },
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  })
}

/** The service with one slot for deliveries, a host behind a gate, and a quick host. */
async function openWorld(t: TestContext, holdsFrom: RegExp) {
  // without pipelining, the client says DATA only after the replies before it
  const inner = await t.using(startFakeMx({ host: '127.0.0.4', pipelining: false }))
  const gate = await t.using(startGate(inner, '127.0.0.2', holdsFrom))
  const quick = await t.using(startFakeMx({ host: '127.0.0.3', port: gate.port }))
  const mailhorn: Mailhorn = await t.using(
    startMailhorn({ zone: ZONE, mxPort: gate.port, env: { MAILHORN_DELIVERY_CONNECTIONS: '1' } }),
  )
  await mailhorn.verifiedDomain('here.example')
  let passedMs = 0
  const send = (domain: string) =>
    mailhorn.send({ from: 'ann@here.example', to: `bob@${domain}.example`, subject: 'hi', text: 'hi' })
  const leaseEnds = () =>
    mailhorn
      .rows<{ lease_end: number }>(
        'select lease_until as lease_end from deliveries where lease_until is not null',
      )
      .map(({ lease_end }) => Number(lease_end))
  const step = async (ms = STEP_MS) => {
    mailhorn.clock.advance(ms)
    passedMs += ms
    // leases of 30 s, which a shared store has, are renewed every 10 s
    await until(() => leaseEnds().every(end => end > mailhorn.clock.now() + LEASE_LEFT_MS_MIN))
  }
  return {
    ...{ mailhorn, inner, gate, quick, send, step },
    /** Moves the clock to that time after the start, in steps, so that leases are renewed. */
    async passTo(ms: number) {
      while (passedMs < ms) await step(Math.min(STEP_MS, ms - passedMs))
    },
    /** Moves the clock in steps until the email has the status, or that time after the start has come. */
    whenWithin: (id: string, status: string, ms: number) =>
      until(async () => {
        if ((await mailhorn.email(id)).status === status) return true
        if (passedMs < ms) await step(SECOND_MS)
        return false
      }),
  }
}

longTest('a host that greets after 200 s gets its mail, and other mail does not wait for it', async t => {
  const { mailhorn, inner, gate, quick, send, passTo, whenWithin } = await openWorld(t, /^/)
  const slow = await send('slow')
  await until(() => gate.heldCount === 1)
  await mailhorn.emailWhen(slow, 'sent')
  const [second, other] = [await send('slow'), await send('quick')]
  await passTo(50 * SECOND_MS)
  assert.equal(quick.messages, [])
  await whenWithin(other, 'delivered', 150 * SECOND_MS)
  await passTo(200 * SECOND_MS)
  assert.is((await mailhorn.email(slow)).status, 'sent')
  assert.equal([gate.connectionCount, inner.messages.length], [1, 0])
  gate.open()
  for (const id of [slow, second])
    assert.is((await mailhorn.emailWhen(id, 'delivered')).recipients[0].attempts, 1)
  assert.is(inner.messages.length, 2)
})

longTest('a host that never greets defers its mail after 5 minutes, and other mail is delivered', async t => {
  const { mailhorn, gate, send, passTo, whenWithin } = await openWorld(t, /^/)
  const slow = await send('slow')
  await until(() => gate.heldCount === 1)
  await mailhorn.emailWhen(slow, 'sent')
  const other = await send('quick')
  await whenWithin(other, 'delivered', 150 * SECOND_MS)
  await passTo(295 * SECOND_MS)
  assert.is((await mailhorn.email(slow)).status, 'sent')
  await whenWithin(slow, 'delivery_delayed', 380 * SECOND_MS)
  const { delay } = (await mailhorn.email(slow)).events.at(-1).data
  assert.match(delay.reply, /timed out after 300 s/)
})

test('a host that is silent after DATA defers its mail after 2 minutes', async t => {
  const { mailhorn, inner, gate, send, passTo, whenWithin } = await openWorld(t, /\r\nDATA\r\n$/)
  const slow = await send('slow')
  await until(() => gate.heldCount === 1)
  await mailhorn.emailWhen(slow, 'sent')
  // The twentieth part of the time that the test itself takes counts, too: 20 s are left for that.
  await passTo(100 * SECOND_MS)
  assert.is((await mailhorn.email(slow)).status, 'sent')
  await whenWithin(slow, 'delivery_delayed', 200 * SECOND_MS)
  assert.match((await mailhorn.email(slow)).events.at(-1).data.delay.reply, /timed out after 120 s/)
  assert.equal(inner.messages, [])
  gate.open()
  await whenWithin(slow, 'delivered', 900 * SECOND_MS)
})

longTest('a host that answers the final dot after 9 minutes gets its message once', async t => {
  const { mailhorn, inner, gate, send, passTo } = await openWorld(t, /\r\n\.\r\n$/)
  const slow = await send('slow')
  await until(() => gate.heldCount === 1)
  await mailhorn.emailWhen(slow, 'sent')
  await passTo(540 * SECOND_MS)
  assert.is((await mailhorn.email(slow)).status, 'sent')
  gate.open()
  const { recipients } = await mailhorn.emailWhen(slow, 'delivered')
  assert.equal([recipients[0].attempts, inner.messages.length, gate.connectionCount], [1, 1, 1])
})

longTest('a host that is silent after the final dot defers its mail after 10 minutes', async t => {
  const { mailhorn, gate, send, passTo, whenWithin } = await openWorld(t, /\r\n\.\r\n$/)
  const slow = await send('slow')
  await until(() => gate.heldCount === 1)
  await mailhorn.emailWhen(slow, 'sent')
  await passTo(590 * SECOND_MS)
  assert.is((await mailhorn.email(slow)).status, 'sent')
  await whenWithin(slow, 'delivery_delayed', 700 * SECOND_MS)
  assert.match((await mailhorn.email(slow)).events.at(-1).data.delay.reply, /timed out after 600 s/)
})

test.run()
