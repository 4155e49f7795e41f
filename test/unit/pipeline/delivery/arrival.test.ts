import * as assert from 'uvu/assert'
import { countedSite, destinationOf } from '../../../../src/pipeline/delivery/outcome/arrival.ts'
import type { Ending } from '../../../../src/pipeline/delivery/outcome/finish.ts'
import type { RouteDestination } from '../../../../src/pipeline/delivery/route.ts'
import type { DeliveryStatus } from '../../../../src/store/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('deliver/arrival')

const routes: [destination: RouteDestination, site: string | null][] = [
  [{ kind: 'hosts', hosts: [], hostSet: 'mx.there.test' }, 'a site'],
  [{ kind: 'smart-host' }, 'a site'],
  [{ kind: 'simulator' }, null],
  [{ kind: 'nowhere', enhanced: '5.1.2', reason: 'no such domain' }, null],
  [{ kind: 'unknown', reason: 'no answer' }, null],
]
for (const [destination, site] of routes)
  test(`mail to ${destination.kind} is ${site === null ? 'not ' : ''}counted`, () => {
    assert.is(countedSite({ site: 'a site', destination }), site)
  })

const ending: Ending = {
  kind: 'deferred',
  class: 'rate-limited',
  phase: 'rcpt',
  reply: null,
  text: '421 4.7.0 slow down 17',
  trials: [],
}
const refused = { site: 'a site', class: 'rate-limited', replyForm: '421 4.7.0 slow down #' }
for (const [status, expected] of [
  ['delivered', { site: 'a site', result: 'delivered', class: null, replyForm: null }],
  ['delivery_delayed', { ...refused, result: 'deferred' }],
  ['bounced', { ...refused, result: 'bounced' }],
  ['failed', { ...refused, result: 'expired' }],
  ['suppressed', undefined],
] as [DeliveryStatus, ReturnType<typeof destinationOf>][])
  test(`an attempt that leaves its delivery ${status} counts as ${expected?.result ?? 'nothing'}`, () => {
    assert.equal(destinationOf('a site', ending, { status }), expected)
  })

test.run()
