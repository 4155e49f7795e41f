import { setImmediate as nextTurn } from 'node:timers/promises'
import * as assert from 'uvu/assert'
import { createLog } from '../../../src/lib/log.ts'
import { createOnDemandWorker, OnDemandWorker } from '../../../src/lib/on-demand-worker.ts'
import { WorkerEnded } from '../../../src/lib/worker-rpc.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/on-demand-worker')

const open = () =>
  createOnDemandWorker({
    name: 'inbound',
    entry: new URL('../../../src/workers/inbound.ts', import.meta.url),
    data: { mailHost: 'mailhorn.test' },
    staysWhenIdle: true,
    log: createLog('silent'),
  })
const MAIL = { bytes: Buffer.from('Subject: hi\r\n\r\nhello\r\n'), fault: null }

test('on-demand worker: a terminated thread is started again by the next call', async t => {
  const thread = open()
  t.after(() => thread.close())
  const first = await thread.call('read', MAIL)
  await thread.end()
  assert.equal(await thread.call('read', MAIL), first)
})

test('on-demand worker: a call after close starts no thread', async () => {
  const thread = open()
  await thread.call('read', MAIL)
  await thread.close()
  const error = await thread.call('read', MAIL).catch(reason => reason)
  assert.instance(error, WorkerEnded)
})

test('on-demand worker: close waits for a worker that is still ending', async () => {
  const ended = Promise.withResolvers<void>()
  const worker = new OnDemandWorker({
    open: () => ({
      hasEnded: false,
      untilReady: async () => {},
      isIdle: () => true,
      call: async () => null,
      end: () => ended.promise,
    }),
    idleEndMs: undefined,
    onLost() {},
  })
  await worker.start()
  const ending = worker.end()
  let isClosed = false
  const closing = worker.close().then(() => {
    isClosed = true
  })
  await nextTurn()
  assert.is(isClosed, false)
  ended.resolve()
  await Promise.all([ending, closing])
})

test.run()
