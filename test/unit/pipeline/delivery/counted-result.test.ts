import * as assert from 'uvu/assert'
import { countedDestination, countedResult } from '../../../../src/pipeline/delivery/counted-result.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/finish.ts'
import type { RouteTarget } from '../../../../src/pipeline/delivery/route.ts'
import type { DeliveryStatus } from '../../../../src/store/model/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('counted result')

const routes: [target: RouteTarget, destination: string | null][] = [
  [{ kind: 'hosts', hosts: [], hostSet: 'mx.there.test' }, 'a destination'],
  [{ kind: 'smart-host' }, 'a destination'],
  [{ kind: 'simulator' }, null],
  [{ kind: 'undeliverable', enhanced: '5.1.2', reason: 'no such domain' }, null],
  [{ kind: 'unknown', reason: 'no answer' }, null],
]
for (const [target, destination] of routes)
  test(`mail to ${target.kind} is ${destination === null ? 'not ' : ''}counted`, () => {
    assert.is(countedDestination({ destination: 'a destination', target }), destination)
  })

const result: AttemptResult = {
  kind: 'deferred',
  class: 'rate-limited',
  phase: 'rcpt',
  reply: null,
  text: '421 4.7.0 slow down 17',
  hostAttempts: [],
}
const refused = { site: 'a destination', class: 'rate-limited', replyForm: '421 4.7.0 slow down #' }
for (const [status, expected] of [
  ['delivered', { site: 'a destination', result: 'delivered', class: null, replyForm: null }],
  ['delivery_delayed', { ...refused, result: 'deferred' }],
  ['bounced', { ...refused, result: 'bounced' }],
  ['failed', { ...refused, result: 'expired' }],
  ['suppressed', undefined],
] as [DeliveryStatus, ReturnType<typeof countedResult>][])
  test(`an attempt that leaves its delivery ${status} counts as ${expected?.result ?? 'nothing'}`, () => {
    assert.equal(countedResult('a destination', result, { status }), expected)
  })

test.run()
