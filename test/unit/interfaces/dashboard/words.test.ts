import * as assert from 'uvu/assert'
import type {
  Alert,
  Domain,
  Installation,
  Metrics,
} from '../../../../src/interfaces/dashboard/web/api/types.ts'
import {
  aboutWords,
  alertState,
  alertWords,
  silenceWords,
} from '../../../../src/interfaces/dashboard/web/labels/alerts.ts'
import { diffLines } from '../../../../src/interfaces/dashboard/web/labels/diff.ts'
import { concernsOf } from '../../../../src/interfaces/dashboard/web/labels/health.ts'
import { counted, percent, wholeNumber } from '../../../../src/interfaces/dashboard/web/labels/numbers.ts'
import { securityWords } from '../../../../src/interfaces/dashboard/web/labels/replies.ts'
import { realMetrics } from '../../../../src/interfaces/dashboard/web/labels/simulated.ts'
import { progressOf } from '../../../../src/interfaces/dashboard/web/labels/steps.ts'
import { exactTime } from '../../../../src/interfaces/dashboard/web/labels/time.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('what the dashboard says')

const marked = (older: string, newer: string) =>
  diffLines(older, newer).map(({ kind, text }) => `${{ same: ' ', old: '-', new: '+' }[kind]}${text}`)

test('whole numbers are read as the dashboard writes them, and with other separators', () => {
  for (const text of ['3000', '3,000', ' 3.000 ', '3 000', '3’000']) assert.is(wholeNumber(text), 3_000, text)
  assert.is(wholeNumber('1,234,567'), 1_234_567)
  for (const text of ['', '3,00', '3,000.5', '1,234.567', ',300', '-3', '3e3', 'many'])
    assert.is(wholeNumber(text), undefined, text)
})

test('alerts: a kind that this page does not know, of a newer service, has words and a page, too', () => {
  assert.equal(alertWords({ kind: 'from-the-future' as Alert['kind'] }), {
    what: 'from-the-future',
    fix: 'See the server’s reply and the time.',
    href: '/deliverability',
    act: 'View alerts',
  })
  assert.is(alertWords({ kind: 'authentication' }).href, '/domains')
})

test('diff: changes are shown line by line', () => {
  assert.equal(marked('a\nb\nc', 'a\nx\nc'), [' a', '-b', '+x', ' c'])
  assert.equal(marked('a\nb', 'a\nb\nc'), [' a', ' b', '+c'])
  assert.equal(marked('x\na\nb', 'a\nb'), ['-x', ' a', ' b'])
  assert.equal(marked('a\nb\nc\nd', 'b\nx\nd'), ['-a', ' b', '-c', '+x', ' d'])
  assert.equal(marked('same', 'same'), [' same'])
})

test('diff: very long texts are compared with bounded memory', () => {
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, i) => `${word} ${i}`).join('\n')
  const found = diffLines(`begin\n${lines('old')}\nend`, `begin\n${lines('new')}\nend`)
  assert.is(found.length, 40_002)
  assert.equal([found[0]!.kind, found.at(-1)!.kind], ['same', 'same'])
})

test('percent: precision depends on the value', () => {
  assert.equal([0, 0.0005, 0.02, 0.333, 0.9911, 1].map(percent), [
    '0 %',
    '0.05 %',
    '2 %',
    '33.3 %',
    '99.11 %',
    '100 %',
  ])
  assert.equal([counted(1, 'email'), counted(2_000, 'email')], ['1 email', '2,000 emails'])
})

test('TLS label: encryption and verification are described', () => {
  const plain = (...phases: [phase: string, reply: string | null][]) =>
    securityWords({
      ...{ tls: null, policy: 'none' },
      phases: phases.map(([phase, reply]) => ({ phase, reply })),
    })
  const offersNone = 'not encrypted: the server does not offer STARTTLS'
  assert.is(plain(['connect', null], ['banner', '220 mx'], ['ehlo', '250 mx']), offersNone)
  assert.is(plain(['mail', '250 OK']), offersNone, 'a connection that is used again')
  assert.is(plain(['ehlo', '250 mx'], ['starttls', '454 later']), 'not encrypted')
  assert.is(plain(), 'no connection')
  assert.is(plain(['connect', null]), 'no connection')
  assert.is(plain(['connect', null], ['banner', '554 no']), undefined)
  assert.is(
    securityWords({ tls: { version: 'TLSv1.3', verified: true }, policy: 'dane', phases: [] }),
    'TLS 1.3, verified certificate, required by DANE',
  )
})

/** Limits of the installation, which the server applies, too. */
const installation = {
  rate_limits: { bounces: { alert: 0.05, hold: 0.1 }, complaints: { alert: 0.001, hold: 0.003 } },
} as Installation
const domain = (status: Domain['status']) => ({ id: 'dom_1', name: 'here.example', status }) as Domain

test('health: no issues without findings', () => {
  assert.equal(
    concernsOf({
      ...{ totals: { delivered: 960, bounced: 40, bounce_rate: 0.04 }, installation },
      domains: [domain('verified')],
    }),
    [],
  )
})

test('health: issues are sorted by severity, each with a link', () => {
  const found = concernsOf({
    totals: { delivered: 900, bounced: 60, bounce_rate: 0.06, complaint_rate: 0.004 },
    installation,
    domains: [domain('temporary_failure'), domain('failed')],
  })
  assert.equal(
    found.map(({ tone, href }) => [tone, href]),
    [
      ['bad', '/domains/dom_1'],
      ['bad', '/emails?status=complained'],
      ['warn', '/domains/dom_1'],
      ['warn', '/emails?status=bounced'],
    ],
  )
})

test('health: few emails give no rate', () => {
  assert.equal(concernsOf({ totals: { delivered: 3, bounced: 1, bounce_rate: 0.25 }, installation }), [])
})

test('health: a rate is judged by the limits at which the server alerts and holds', () => {
  const concern = (bounce_rate: number) =>
    concernsOf({ totals: { delivered: 900, bounced: 100, bounce_rate }, installation })[0]
  assert.is(concern(0.0499), undefined)
  assert.equal(
    [concern(0.05)!.tone, concern(0.05)!.advice],
    ['warn', 'The limit is 5 %; mail of an account is held at 10 %.'],
  )
  assert.is(concern(0.1)!.tone, 'bad')
})

test('alerts: an account has its name, and a provider that is none of the known ones has none', () => {
  const alert = { provider: null, domain: null, account_id: null, account_name: null, source_ip: null }
  const about = (over: object) => aboutWords({ ...alert, ...over } as Alert)
  assert.is(about({ account_id: 'acc_1', account_name: 'Acme' }), 'Acme')
  assert.is(about({ account_id: 'acc_1' }), 'a deleted account')
  assert.is(about({ provider: 'other', domain: 'blocked.example' }), 'blocked.example')
})

test('alerts: a silenced one says until when and by whom, also on the overview', () => {
  const until = new Date(Date.now() + 60_000).toISOString()
  const alert = {
    ...{ kind: 'ip-reputation', provider: 'outlook', domain: null, account_id: null, account_name: null },
    ...{ source_ip: null, active: null, created_at: new Date().toISOString() },
    silence: { until, created_by: 'root@ops.example' },
  } as unknown as Alert
  const words = `silenced until ${exactTime(until)} by root@ops.example`
  assert.is(silenceWords(alert), words)
  assert.is(silenceWords({ silence: null }), undefined)
  const over = { kind: 'disk-space', ended_at: until } as const
  assert.is(alertState({ ...over, silence: null }), `Ended ${exactTime(until)}.`)
  assert.is(alertState({ ...over, silence: alert.silence }), `Ended ${exactTime(until)}, ${words}.`)
  assert.match(alertState({ ...over, ended_at: null, silence: null }), /^Free disk space/)
  assert.equal(
    concernsOf({ alerts: [alert] }).map(({ text }) => text),
    [`A mailbox provider reports a poor IP reputation (outlook; ${words}).`],
  )
})

test('health: simulated email does not affect rates', () => {
  const metrics = {
    totals: {
      delivered: 5,
      bounced: 10_000,
      simulated_delivered: 3,
      simulated_bounced: 10_000,
      bounce_rate: 0,
    },
    data: [{ period: '2026-11-25', delivered: 5, simulated_delivered: 3 }],
  }
  const { totals, data } = realMetrics(metrics as unknown as Metrics)
  assert.equal([totals.delivered, totals.bounced, totals.simulated_bounced], [2, 0, 10_000])
  assert.equal(data, [{ period: '2026-11-25', delivered: 2, simulated_delivered: 3 }])
  assert.equal(concernsOf({ totals }), [])
})

test('first steps: only real email completes the step of the first real email', () => {
  const none = { data: [] } as never
  const stepsAfter = (delivered: number, simulated: number) => {
    const totals = { delivered, simulated_delivered: simulated }
    const { tested, sent } = progressOf({ domains: none, keys: none, metrics: { totals } as never })!
    return { tested, sent }
  }
  assert.equal(stepsAfter(0, 0), { tested: false, sent: false })
  assert.equal(stepsAfter(2, 2), { tested: true, sent: false })
  assert.equal(stepsAfter(3, 2), { tested: true, sent: true })
})

test.run()
