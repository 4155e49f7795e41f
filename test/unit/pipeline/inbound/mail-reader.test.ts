import { BroadcastChannel } from 'node:worker_threads'
import * as assert from 'uvu/assert'
import { createLog } from '../../../../src/lib/log.ts'
import { createMailReader } from '../../../../src/pipeline/inbound/mail-reader.ts'
import { newId } from '../../../kit/mail.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('inbound/mail-reader')

test('closing the reader during a parse starts no further thread', async t => {
  const starts: unknown[] = []
  const channel = new BroadcastChannel('hanging-reader')
  channel.onmessage = ({ data }) => starts.push(data)
  t.after(() => channel.close())
  const entry = new URL('./hanging-reader.ts', import.meta.url)
  const clock = createManualClock()
  const reader = createMailReader({
    ...{ entry, mailHost: 'mailhorn.test', clock, log: createLog('silent') },
    readers: { run: () => Promise.reject(new Error('no small message is read there')) },
    run: () => Promise.reject(new Error('no small message is marked')),
  })
  const load = async () => new Uint8Array(4)
  const mail = {
    ...{ accountId: newId(1), id: newId(2), createdAt: clock.now(), readingAt: null, readingCount: 0 },
    ...{ sizeBytes: 4, rawHash: new Uint8Array(32) },
  }
  const source = { load, loadHead: load }
  const reads = Promise.allSettled([reader.read(mail, source), reader.read(mail, source)])
  await until(() => starts.length > 0)
  await reader.close()
  assert.equal(
    (await reads).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.is(starts.length, 1)
})

test.run()
