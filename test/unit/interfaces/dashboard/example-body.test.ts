import * as assert from 'uvu/assert'
import { exampleBody } from '../../../../src/interfaces/dashboard/web/reference/example-body.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: bodies of requests in the API reference')
const NOW = Date.parse('2031-01-01T10:00:00.000Z')

test('a recorded time is replaced by one a day ahead, at any depth', () => {
  const recorded = { scheduled_at: '2026-08-05T12:52:01.000Z' }
  const ahead = { scheduled_at: '2031-01-02T10:00:00.000Z' }
  assert.equal(exampleBody(recorded, NOW), ahead)
  assert.equal(exampleBody([{ of: recorded }], NOW), [{ of: ahead }])
})

test('other values stay', () => {
  const body = { subject: 'On 2026-08-05T12:52:01.000Z', n: 1, no: null, is: true, tags: [], in: 'in 1 min' }
  assert.equal(exampleBody(body, NOW), body)
  assert.is(exampleBody(undefined, NOW), undefined)
})

test.run()
