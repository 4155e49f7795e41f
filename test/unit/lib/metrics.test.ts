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

test('metrics: every process reports memory, uptime and CPU time', () => {
  for (const name of ['resident_memory_bytes', 'up_seconds', 'cpu_seconds'])
    assert.match(createProcessMetrics().text(), new RegExp(`^mailhorn_${name} \\d`, 'm'))
})

test.run()
