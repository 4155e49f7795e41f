import * as assert from 'uvu/assert'
import { createMetrics, createProcessMetrics } from '../../../src/lib/metrics.ts'
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
      '# HELP posthorn_mail_taken_total Mail.',
      '# TYPE posthorn_mail_taken_total counter',
      'posthorn_mail_taken_total 2',
      '# HELP posthorn_replies_total Replies.',
      '# TYPE posthorn_replies_total counter',
      'posthorn_replies_total{code="550",text="a \\"b\\" \\\\ c\\nd"} 1',
      '# HELP posthorn_waiting What waits.',
      '# TYPE posthorn_waiting gauge',
      'posthorn_waiting 3',
      '',
    ].join('\n'),
  )
})

test('every process says what it needs', () => {
  for (const name of ['resident_memory_bytes', 'up_seconds', 'cpu_seconds'])
    assert.match(createProcessMetrics().text(), new RegExp(`^posthorn_${name} \\d`, 'm'))
})

test.run()
