import * as assert from 'uvu/assert'
import { emailStatus, withoutFeedback } from '../../../../src/resources/events/email-status.ts'
import type { DeliveryStatus, EmailStatus } from '../../../../src/store/model/schema.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('events/email-status')

const STATUSES: readonly DeliveryStatus[] = [
  'queued',
  'delivery_delayed',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
]

/**
 * The rule as the specification words it: for each status, when it applies; the first that does is the
 * answer.
 */
const RULES: readonly [EmailStatus, (all: readonly DeliveryStatus[]) => boolean][] = [
  ['complained', all => all.some(status => status === 'complained')],
  ['bounced', all => all.some(status => status === 'bounced')],
  ['failed', all => all.some(status => status === 'failed')],
  ['suppressed', all => all.every(status => status === 'suppressed')],
  ['canceled', all => all.every(status => status === 'suppressed' || status === 'canceled')],
  ['delivery_delayed', all => all.some(status => status === 'delivery_delayed')],
  ['delivered', all => all.every(status => ['suppressed', 'canceled', 'delivered'].includes(status))],
]

function expected(all: readonly DeliveryStatus[], handedOver: boolean, before: EmailStatus): EmailStatus {
  const rule = RULES.find(([, applies]) => applies(all))
  if (rule) return rule[0]
  return handedOver ? 'sent' : before
}

/** All lists of one to `length` statuses, whatever their order. */
function combinations(length: number): DeliveryStatus[][] {
  if (length === 0) return [[]]
  const shorter = combinations(length - 1)
  const longest = shorter.filter(list => list.length === length - 1)
  return [...shorter, ...longest.flatMap(list => STATUSES.map(status => [...list, status]))]
}

test('email status: all combinations of up to four recipients follow the rule', () => {
  const lists = combinations(4).filter(list => list.length > 0)
  assert.is(lists.length, 8 + 8 ** 2 + 8 ** 3 + 8 ** 4)
  for (const list of lists)
    for (const handedOver of [false, true])
      for (const before of ['queued', 'scheduled'] as const)
        assert.is(emailStatus(list, handedOver, before), expected(list, handedOver, before), list.join(' '))
})

test('email status: examples of the rule', () => {
  const status = (...list: DeliveryStatus[]) => emailStatus(list, true, 'queued')
  assert.is(status('queued'), 'sent')
  assert.is(status('delivered'), 'delivered')
  assert.is(status('delivered', 'queued'), 'sent')
  assert.is(status('delivered', 'suppressed'), 'delivered')
  assert.is(status('suppressed', 'suppressed'), 'suppressed')
  assert.is(status('suppressed', 'queued'), 'sent')
  assert.is(status('canceled', 'suppressed'), 'canceled')
  assert.is(status('canceled', 'delivered'), 'delivered')
  assert.is(status('canceled', 'queued'), 'sent')
  assert.is(status('canceled', 'failed'), 'failed')
  assert.is(status('delivered', 'delivery_delayed'), 'delivery_delayed')
  assert.is(status('delivered', 'delivered', 'bounced'), 'bounced')
  assert.is(status('failed', 'bounced'), 'bounced')
  assert.is(status('failed', 'delivered'), 'failed')
  assert.is(status('bounced', 'complained'), 'complained')
})

test('email status: it is unchanged until a delivery is handed over', () => {
  assert.is(emailStatus(['queued'], false, 'queued'), 'queued')
  assert.is(emailStatus(['queued', 'queued'], false, 'scheduled'), 'scheduled')
  assert.is(emailStatus(['canceled'], false, 'canceled'), 'canceled')
  assert.is(emailStatus(['suppressed', 'queued'], false, 'queued'), 'queued')
})

test('email status: without feedback only results before the transfer are visible', () => {
  const seen = (handedOver: boolean) =>
    Object.fromEntries(STATUSES.map(status => [status, withoutFeedback(status, handedOver)]))
  const hidden = { queued: 'queued', delivery_delayed: 'queued', delivered: 'queued', bounced: 'queued' }
  const told = { complained: 'queued', suppressed: 'suppressed', canceled: 'canceled' }
  assert.equal(seen(false), { ...hidden, ...told, failed: 'failed' })
  assert.equal(seen(true), { ...hidden, ...told, failed: 'queued' })
})

test.run()
