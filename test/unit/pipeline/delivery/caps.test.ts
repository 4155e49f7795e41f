import * as assert from 'uvu/assert'
import { createCapRegistry } from '../../../../src/pipeline/delivery/shaping/caps.ts'
import { listDestinationCaps } from '../../../../src/pipeline/queue/destination-states.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('operator rate limits')

test('the last limit applies, survives a restart, and read() returns the destinations that changed', async t => {
  const { run, db } = await t.using(openLocalStore())
  const book = createCapRegistry(() => listDestinationCaps(db))
  assert.equal(await book.read(), [])
  await run('slowDestination', { destination: 'mx.a.example', perMinute: 60, createdAt: 1 })
  await run('slowDestination', { destination: 'mx.b.example', perMinute: 60, createdAt: 1 })
  assert.equal(await book.read(), ['mx.a.example', 'mx.b.example'])
  await run('slowDestination', { destination: 'mx.b.example', perMinute: 3, createdAt: 2 })
  assert.equal(await book.read(), ['mx.b.example'])
  assert.equal([book.capOf('mx.a.example'), book.capOf('mx.b.example'), book.capOf('other')], [1, 0.05, null])
  assert.is(await run('unslowDestination', 'mx.b.example'), true)
  assert.is(await run('unslowDestination', 'mx.b.example'), false)
  assert.equal(await book.read(), ['mx.b.example'])
  const later = createCapRegistry(() => listDestinationCaps(db))
  await later.read()
  assert.equal([later.capOf('mx.a.example'), later.capOf('mx.b.example')], [1, null])
})

test.run()
