import * as assert from 'uvu/assert'
import { createHistogram, DURATION_BOUNDS_SECONDS } from '../../../src/lib/histogram.ts'
import { createMetrics, createProcessMetrics, type Metrics } from '../../../src/lib/metrics.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/metrics')

test('counters and gauges are written as Prometheus reads them', () => {
  const metrics = createMetrics()
  metrics.counter('mail_taken', 'Mail.').add()
  metrics.counter('mail_taken', 'Mail.').add()
  metrics.counter('replies', 'Replies.').add({ code: '550', text: 'a "b" \\ c\nd' })
  metrics.gauge('waiting', 'What waits.', () => 3)
  assert.is(
    metrics.text(),
    [
      '# HELP mailhorn_mail_taken_total Mail.',
      '# TYPE mailhorn_mail_taken_total counter',
      'mailhorn_mail_taken_total 2',
      '# HELP mailhorn_replies_total Replies.',
      '# TYPE mailhorn_replies_total counter',
      'mailhorn_replies_total{code="550",text="a \\"b\\" \\\\ c\\nd"} 1',
      '# HELP mailhorn_waiting What waits.',
      '# TYPE mailhorn_waiting gauge',
      'mailhorn_waiting 3',
      '',
    ].join('\n'),
  )
})

test('a counter reports the labels that are known from its start, and those that occur', () => {
  const metrics = createMetrics()
  const counter = metrics.counter('jobs', 'Jobs.', [{ result: 'done' }, { result: 'failed' }])
  counter.add({ result: 'failed' })
  counter.add({ result: 'lost' })
  metrics.counter('jobs', 'Jobs.', [{ result: 'failed' }])
  metrics.counter('runs', 'Runs.', [{}])
  assert.equal(samplesOf(metrics), [
    ...['mailhorn_jobs_total{result="done"} 0', 'mailhorn_jobs_total{result="failed"} 1'],
    ...['mailhorn_jobs_total{result="lost"} 1', 'mailhorn_runs_total 0'],
  ])
})

test('readings have one value, several, or none', () => {
  const metrics = createMetrics()
  metrics.total('a', 'A.', () => 1)
  metrics.gauge('b', 'B.', () => [
    [{ of: 'x' }, 2],
    [{ of: 'y' }, 3],
  ])
  metrics.gauge('c', 'C.', () => [])
  metrics.standard('process_d', 'gauge', 'D.', () => 4)
  assert.equal(samplesOf(metrics), [
    ...['mailhorn_a_total 1', 'mailhorn_b{of="x"} 2', 'mailhorn_b{of="y"} 3', 'process_d 4'],
  ])
})

test('durations are counted from a millisecond to ten seconds, in bounds that grow', () => {
  assert.equal([DURATION_BOUNDS_SECONDS[0], DURATION_BOUNDS_SECONDS.at(-1)], [0.001, 10])
  for (const [i, bound] of DURATION_BOUNDS_SECONDS.slice(1).entries())
    assert.ok(bound > DURATION_BOUNDS_SECONDS[i]! && bound <= 4 * DURATION_BOUNDS_SECONDS[i]!, `${bound}`)
})

test('a histogram counts values up to each bound', () => {
  const metrics = createMetrics()
  const histogram = createHistogram([0.5, 1])
  metrics.histogram('wait_seconds', 'Wait.', histogram.read)
  for (const value of [0.1, 0.5, 0.75, 7]) histogram.observe(value)
  assert.equal(samplesOf(metrics), [
    ...['mailhorn_wait_seconds_bucket{le="0.5"} 2', 'mailhorn_wait_seconds_bucket{le="1"} 3'],
    ...['mailhorn_wait_seconds_bucket{le="+Inf"} 4', 'mailhorn_wait_seconds_sum 8.35'],
    'mailhorn_wait_seconds_count 4',
  ])
  assert.match(metrics.text(), /^# TYPE mailhorn_wait_seconds histogram$/m)
})

test('metrics: every process reports memory, start and CPU time by their usual names', () => {
  const text = createProcessMetrics().text()
  for (const [name, type] of [
    ['process_resident_memory_bytes', 'gauge'],
    ['process_start_time_seconds', 'gauge'],
    ['process_cpu_seconds_total', 'counter'],
  ]) {
    assert.match(text, new RegExp(`^${name} \\d`, 'm'))
    assert.ok(text.includes(`# TYPE ${name} ${type}\n`))
  }
  const startedAt = Number(/^process_start_time_seconds ([\d.]+)$/m.exec(text)![1])
  assert.ok(Math.abs(startedAt - (Date.now() / 1_000 - process.uptime())) < 60)
})

function samplesOf(metrics: Metrics): string[] {
  return metrics.text().match(/^[^#\n].*/gm) ?? []
}

test.run()
