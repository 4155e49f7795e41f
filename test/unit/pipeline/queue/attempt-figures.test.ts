import * as assert from 'uvu/assert'
import {
  attemptDurations,
  attemptResults,
  sessionErrors,
  tallyAttempts,
} from '../../../../src/pipeline/queue/attempt-figures.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('queue/attempt-figures')

/** Tallies attempts as the writer does. */
function talliesOf(...attempts: Parameters<typeof tallyAttempts>[1]) {
  const sums: Record<string, number> = {}
  const tally = (name: string, count: number) => {
    sums[name] = (sums[name] ?? 0) + count
  }
  tallyAttempts({ tally }, attempts)
  return sums
}

const took = (ms: number) => ({ startedAt: 1_000, finishedAt: 1_000 + ms })
const MEASURED = { provider: 'google', class: 'spam', sessionErrors: [] }

test('attempts are counted by result, provider and class', () => {
  const tallies = talliesOf(
    { outcome: 'bounced', ...took(80), measured: MEASURED },
    { outcome: 'bounced', ...took(80), measured: MEASURED },
    { outcome: 'delivered', ...took(80), measured: { ...MEASURED, provider: 'other', class: 'none' } },
  )
  assert.equal(attemptResults(tallies), [
    [{ result: 'bounced', provider: 'google', class: 'spam' }, 2],
    [{ result: 'delivered', provider: 'other', class: 'none' }, 1],
  ])
})

test('durations are those of attempts over a connection', () => {
  const none = { ...MEASURED, provider: 'none' }
  const tallies = talliesOf(
    { outcome: 'delivered', ...took(50), measured: MEASURED },
    { outcome: 'delivered', ...took(51), measured: MEASURED },
    { outcome: 'deferred', ...took(400_000), measured: MEASURED },
    { outcome: 'delivered', ...took(5), measured: none },
    { outcome: 'delivered', ...took(5) },
  )
  const { bounds, counts, sum } = attemptDurations(tallies)
  assert.equal([counts[0], counts[1], counts[bounds.length]], [1, 1, 1])
  assert.is(counts.length, bounds.length + 1)
  assert.is(sum, 400.101)
})

test('errors of sessions are counted by phase, and those that have not occurred are 0', () => {
  const tallies = talliesOf({
    outcome: 'deferred',
    ...took(80),
    measured: { ...MEASURED, sessionErrors: ['connect', 'tls', 'tls'] },
  })
  const counts = new Map(sessionErrors(tallies).map(([{ phase }, count]) => [phase, count]))
  assert.equal([counts.get('connect'), counts.get('tls'), counts.get('auth')], [1, 2, 0])
})

test.run()
