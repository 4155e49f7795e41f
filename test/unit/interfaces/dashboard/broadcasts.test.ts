import * as assert from 'uvu/assert'
import {
  progressOf,
  progressWords,
  speedWords,
  titleOf,
  unlistedWords,
  untrackedOf,
  untrackedWords,
} from '../../../../src/interfaces/dashboard/web/labels/broadcasts.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dashboard/broadcasts')
const NONE = { unsubscribed: 0, opted_out: 0, suppressed: 0, quota: 0, deleted: 0 }
const ALL_EXPANDED = { total: 5_030, expanded: 5_030, handed_over: 974 }

test('progress is what was handed over, of what there is to hand over', () => {
  const skipped = { ...NONE, unsubscribed: 20, quota: 10 }
  const counts = { queued: 4_026, delivered: 900, sent: 74 }
  assert.equal(progressOf({ progress: ALL_EXPANDED, skipped, counts }), {
    ...{ sent: 974, goal: 5_000, isGoalKnown: true },
  })
})

test('emails that will never be handed over are not waited for', () => {
  const counts = { delivered: 974, canceled: 4_000, suppressed: 50, failed: 6 }
  const progress = progressOf({ progress: ALL_EXPANDED, skipped: NONE, counts })
  assert.equal(progress, { sent: 974, goal: 974, isGoalKnown: true })
})

test('the total is the number of emails from the beginning, whoever is skipped later', () => {
  // given: 410 contacts, of whom 22 have unsubscribed; it was the turn of 50, of whom 4 were skipped
  const begun = {
    progress: { total: 410, expanded: 50, handed_over: 46 },
    skipped: { ...NONE, unsubscribed: 4 },
    counts: { delivered: 46 },
  }
  const forecast = { recipients: 388, skipped: { ...NONE, unsubscribed: 22 }, complete: true }

  // when, then
  assert.is(progressWords(progressOf(begun, forecast)!), '46 of 388 emails sent')
  for (const unknown of [
    undefined,
    { ...forecast, complete: false },
    { ...forecast, skipped: { ...NONE, quota: 9 } },
  ])
    assert.is(progressWords(progressOf(begun, unknown)!), '46 emails sent')
  const ended = { ...begun, progress: { ...begun.progress, expanded: 410 }, skipped: forecast.skipped }
  assert.is(progressWords(progressOf(ended, forecast)!), '46 of 388 emails sent')
})

test('progress is unknown until the recipients are listed', () => {
  const progress = { total: null, expanded: 0, handed_over: 0 }
  assert.is(progressOf({ progress, skipped: NONE, counts: {} }), undefined)
})

for (const [sent, goal, sentMeanwhile, elapsedMs, words] of [
  [1_000, 5_000, 100, 5_000, '1,200 a minute, about 4 minutes left'],
  [4_400, 5_000, 100, 10_000, '600 a minute, about 1 minute left'],
  [1_000, 100_000, 100, 10_000, '600 a minute, about 3 hours left'],
  [5_000, 5_000, 100, 10_000, '600 a minute'],
  [1_000, 5_000, 100, 3_999, ''],
  [1_000, 5_000, 0, 10_000, ''],
] as const)
  test(`${sentMeanwhile} emails within ${elapsedMs / 1_000} s, ${goal - sent} left: "${words}"`, () => {
    assert.is(speedWords({ sent, goal }, sentMeanwhile, elapsedMs), words)
  })

for (const [name, subject, title] of [
  [null, 'Summer prices', 'Summer prices'],
  ['June', 'Hello {{first_name|you}}', 'June'],
  ['Hello {{first_name|you}}', 'Hello {{first_name|you}}', 'Hello you'],
  [null, 'Hello {{ first_name | dear reader }}, {{{city}}} waits', 'Hello dear reader, (city) waits'],
  [null, '{{contact.first_name}}: 20 % off {this}', '(contact first name): 20 % off {this}'],
] as const)
  test(`a broadcast ${name === null ? '' : `of the name "${name}" `}with the subject "${subject}" has the title "${title}"`, () => {
    assert.is(titleOf({ name: name as string, subject }), title)
  })

test('reactions are not counted for a sender whose domain has tracking off', () => {
  const domain = { id: 'dom_1', name: 'shop.example', open_tracking: false, click_tracking: false }
  const of = (from: string, tracking: object = {}) => untrackedOf(from, [{ ...domain, ...tracking }])
  assert.is(untrackedWords(of('News <news@Shop.example>')!), 'Opens and clicks')
  assert.is(untrackedWords(of('news@shop.example', { click_tracking: true })!), 'Opens')
  assert.is(untrackedWords(of('news@shop.example', { open_tracking: true })!), 'Clicks')
  assert.is(of('news@shop.example', { open_tracking: true, click_tracking: true }), undefined)
  assert.is(of('news@other.example'), undefined)
})

test('recipients who are counted but not listed are told with the reason', () => {
  assert.is(unlistedWords(3, 3, 'skipped'), undefined)
  assert.match(unlistedWords(3, 1, 'skipped')!, /^Not listed: 2 recipients skipped before Mailhorn stored/)
  assert.match(unlistedWords(1, 0, 'unsubscribed')!, /^Not listed: 1 recipient who unsubscribed before/)
  assert.is(unlistedWords(2, 0, 'opened'), 'Not listed: 2 recipients whose emails have been deleted.')
  assert.is(unlistedWords(2, 1, 'opened'), undefined, 'an event between two requests')
})

test.run()
