import * as assert from 'uvu/assert'
import { sampleSender } from '../../../../src/interfaces/dashboard/web/labels/sample-sender.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: sender of samples')
const waiting = { id: 'dom_1', name: 'waiting.example', status: 'pending' } as const
const ready = { id: 'dom_2', name: 'ready.example', status: 'verified' } as const
const DOMAINS = [waiting, ready]

test('a key of one domain sends from it', () => {
  assert.is(sampleSender([ready, waiting], waiting.id), 'hello@waiting.example')
})

test('another sample is from the first verified domain', () => {
  for (const none of [undefined, null, '']) assert.is(sampleSender(DOMAINS, none), 'hello@ready.example')
})

test('without a verified domain, the sender may send to the simulator', () => {
  assert.is(sampleSender([waiting]), 'you@example.com')
})

test.run()
