import * as assert from 'uvu/assert'
import {
  DeliveryRunner,
  type DeliveryRunnerOptions,
} from '../../../../src/pipeline/delivery/delivery-runner.ts'
import { LargeMessages } from '../../../../src/pipeline/delivery/message/large-messages.ts'
import type { MessageMaker, OutgoingMessage } from '../../../../src/pipeline/delivery/message/message.ts'
import { PipelineSlotLost } from '../../../../src/pipeline/delivery/sessions/pipeline.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { simulate as simulated } from '../../../../src/pipeline/simulator/simulate.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { newId, SIMULATOR } from '../../../kit/mail.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery runner')

const MIB = 1024 * 1024
const MESSAGE: Omit<OutgoingMessage, 'signedAt' | 'sizeBytes'> = {
  mailFrom: 'b+x@send.here.test',
  bytes: [Buffer.from('Subject: hi\r\n\r\n'), Buffer.from('hello\r\n')],
  smtpUtf8: false,
  tls: 'any',
  dueAt: 0,
  signatures: null,
}

/** Deliveries to a simulator, of messages that are made when the test says so. */
function open(sizeBytes = 22, simulate = simulated, memoryBytes = 0) {
  const clock = createManualClock()
  const making: PromiseWithResolvers<OutgoingMessage>[] = []
  const ends: Finish[] = []
  const make: MessageMaker['make'] = (_, signedAt) => {
    const made = Promise.withResolvers<OutgoingMessage>()
    making.push({ ...made, resolve: () => made.resolve({ ...MESSAGE, sizeBytes, signedAt }) })
    return made.promise
  }
  const largeMessages = new LargeMessages(8 * MIB)
  const target = { kind: 'simulator' as const }
  const options = {
    clock,
    recorder: {
      record: async (finish: Finish) => ends.push(finish) > 0,
      room: async () => {},
      drained: async () => 0,
    },
    slow: { begin: () => ({}), end: () => {}, close: () => {} },
    stopping: new AbortController().signal,
    maker: { make, memoryOf: async () => memoryBytes },
    largeMessages,
    router: { routeOf: async () => ({ destination: SIMULATOR, target }) },
    transport: { simulate, random: () => 0.5 },
    onStored: async () => {},
    onError: (error: unknown) => assert.unreachable(String(error)),
  } as unknown as DeliveryRunnerOptions
  const runner = new DeliveryRunner(options)
  const id = newId(clock.now())
  const delivery = {
    ...{ accountId: id, emailId: id, ordinal: 0, attempt: 1 },
    ...{ address: `delivered@${SIMULATOR}`, domain: SIMULATOR, expiresAt: clock.now() + 86_400_000 },
  } as ClaimedDelivery
  const source = { name: '', ips: [] }
  const made = async (at: number) => {
    making[at]!.resolve(undefined as never)
    await settled()
  }
  return {
    clock,
    making,
    made,
    ends,
    prepare: () => runner.prepare(delivery),
    deliver: (one = delivery) => runner.deliver(one, source, () => {}),
    delivery,
  }
}

test('a prepared message is built once, however often it is requested', async () => {
  const { clock, making, made, ends, prepare, deliver } = open()
  const preparedAt = clock.now()
  prepare()
  prepare()
  await made(0)
  clock.advance(1_000)
  await deliver()
  assert.is(making.length, 1)
  assert.equal(
    ends.map(({ status, signedAt, startedAt }) => [status, signedAt, startedAt]),
    [['delivered', preparedAt, preparedAt + 1_000]],
  )
})

test('a message that is being prepared is awaited', async () => {
  const { making, made, ends, prepare, deliver } = open()
  prepare()
  const delivered = deliver()
  await settled()
  assert.equal([making.length, ends.length], [1, 0])
  await made(0)
  await delivered
  assert.is(ends.length, 1)
})

test('a message prepared too long ago or delivered once is built again', async () => {
  const { clock, making, made, ends, prepare, deliver } = open()
  prepare()
  await made(0)
  clock.advance(2_000)
  for (const at of [1, 2]) {
    const delivered = deliver()
    await settled()
    await made(at)
    await delivered
  }
  assert.is(making.length, 3)
  assert.equal(
    ends.map(({ signedAt }) => signedAt),
    [clock.now(), clock.now()],
  )
})

for (const [what, sizeBytes, count] of [
  ['after a large message nothing is prepared', 256 * 1024 + 1, 1],
  ['after a smaller one the next is', 256 * 1024, 2],
] as const)
  test(what, async () => {
    const { making, made, prepare, deliver } = open(sizeBytes)
    const delivered = deliver()
    await settled()
    await made(0)
    await delivered
    prepare()
    assert.is(making.length, count)
  })

test('a large message is built when the memory for its destination is free', async () => {
  const { making, made, ends, deliver, delivery } = open(22, simulated, 20 * MIB)
  const deliveries = ['a.test', 'a.test', 'b.test', 'c.test'].map(domain => deliver({ ...delivery, domain }))
  await settled()
  assert.is(making.length, 2, 'one to a.test, one to b.test')
  await made(0)
  await deliveries[0]
  await settled()
  assert.is(making.length, 3)
  for (const at of [1, 2]) await made(at)
  await settled()
  await made(3)
  await Promise.all(deliveries)
  assert.is(ends.length, 4)
})

test('small messages do not wait for memory', async () => {
  const { making, deliver } = open(22, simulated, MIB - 1)
  for (let i = 0; i < 20; i++) deliver().catch(assert.unreachable)
  await settled()
  assert.is(making.length, 20)
})

test('a delivery that lost its slot is not recorded; one that ended is', async () => {
  const lost = open(22, () => {
    throw new PipelineSlotLost()
  })
  for (const [{ made, ends, deliver }, hasEnded] of [
    [lost, false],
    [open(), true],
  ] as const) {
    const delivered = deliver()
    await settled()
    await made(0)
    assert.is(await delivered, hasEnded)
    assert.is(ends.length, hasEnded ? 1 : 0)
  }
})

test('a message that could not be prepared is built when the delivery starts', async () => {
  const { making, made, ends, prepare, deliver } = open()
  prepare()
  making[0]!.reject(new Error('disk full'))
  await settled()
  const delivered = deliver()
  await settled()
  await made(1)
  await delivered
  assert.is(ends[0]?.status, 'delivered')
})

test.run()
