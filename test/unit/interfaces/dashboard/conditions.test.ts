import * as assert from 'uvu/assert'
import {
  conditionFault,
  dayOf,
  filterWords,
  firstFilter,
  listOf,
  startOf,
  valueKind,
  withField,
  withOp,
} from '../../../../src/interfaces/dashboard/web/labels/conditions.ts'
import { opsOf } from '../../../../src/resources/contacts/filter-ops.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard: conditions on contacts')

test('each field begins with an operator that suits it', () => {
  for (const [field, op, value] of [
    ['email', 'contains', ''],
    ['properties.city', 'eq', ''],
    ['unsubscribed', 'eq', 'false'],
    ['created_at', 'within_days', 30],
    ['last_opened_at', 'within_days', 30],
  ] as const)
    assert.equal(firstFilter(field), { field, op, value })
  assert.equal(opsOf('last_sent_at'), ['within_days', 'not_within_days'])
  assert.equal(opsOf('created_at').slice(2), ['before', 'after'])
})

test('another field keeps what was entered only where it fits', () => {
  const typed = { field: 'first_name', op: 'neq', value: 'Ann' } as const
  assert.equal(withField(typed, 'properties.city'), { ...typed, field: 'properties.city' })
  assert.equal(withField({ ...typed, value: '' }, 'properties.city'), firstFilter('properties.city'))
  assert.equal(withField(typed, 'last_sent_at'), firstFilter('last_sent_at'))
  const quiet = { field: 'last_opened_at', op: 'not_within_days', value: 90 } as const
  assert.equal(withField(quiet, 'last_clicked_at'), { ...quiet, field: 'last_clicked_at' })
  assert.equal(withField(quiet, 'email'), firstFilter('email'))
})

test('another operator keeps a value of its kind', () => {
  const added = firstFilter('created_at')
  assert.equal(withOp(added, 'not_within_days'), { ...added, op: 'not_within_days' })
  assert.equal(withOp(added, 'before'), { field: 'created_at', op: 'before', value: '' })
  assert.equal(withOp({ ...added, op: 'before', value: 'x' }, 'within_days').value, 30)
  assert.equal(valueKind({ field: 'unsubscribed', op: 'contains' }), 'text')
  assert.equal(withOp({ field: 'unsubscribed', op: 'contains', value: 'x' }, 'eq').value, 'false')
})

test('a text becomes the first of a list, and the first of a list a text', () => {
  const city = { field: 'properties.city', op: 'eq', value: 'Vienna' } as const
  const list = withOp(city, 'in')
  assert.equal(list, { ...city, op: 'in', value: ['Vienna'] })
  assert.equal(withOp(list, 'eq'), city)
  assert.equal(withOp({ ...city, value: '' }, 'in').value, [])
  assert.equal(listOf(' Vienna, Wien ,,'), ['Vienna', 'Wien'])
  assert.not(opsOf('unsubscribed').includes('in'))
  assert.not(opsOf('email').includes('before'))
})

test('conditions read as sentences', () => {
  for (const [filter, words] of [
    [{ field: 'properties.city', op: 'eq', value: 'Graz' }, 'city is “Graz”'],
    [{ field: 'last_name', op: 'not_exists', value: null }, 'Last name does not exist'],
    [{ field: 'last_opened_at', op: 'within_days', value: 30 }, 'Opened an email within the last 30 days'],
    [
      { field: 'last_clicked_at', op: 'not_within_days', value: 1 },
      'Clicked a link not within the last 1 day',
    ],
    [
      { field: 'properties.city', op: 'in', value: ['Vienna', 'Wien'] as string[] },
      'city is one of “Vienna”, “Wien”',
    ],
    [{ field: 'properties.since', op: 'after', value: '2026-03-01' }, 'since on or after 1 Mar 2026'],
    [{ field: 'created_at', op: 'before', value: startOf('2026-03-01') }, 'Added before 1 Mar 2026'],
  ] as const)
    assert.is(filterWords(filter), words)
})

test('days of an input are kept as the time at which they begin here', () => {
  assert.is(dayOf(startOf('2026-03-29')), '2026-03-29')
  assert.equal([startOf(''), dayOf(''), dayOf(null)], ['', '', ''])
})

test('errors of the API name a condition by its number', () => {
  assert.is(
    conditionFault('`filters[1]` contradicts `filters[0]`: no contact can match both.'),
    'Condition 2 contradicts condition 1: no contact can match both.',
  )
  assert.is(conditionFault('`filters[0].value` must be a date.'), 'Condition 1 must be a date.')
})

test.run()
