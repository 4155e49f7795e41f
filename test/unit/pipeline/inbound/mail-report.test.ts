import * as assert from 'uvu/assert'
import { createIdSource } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { createMailReport } from '../../../../src/pipeline/inbound/mail-report.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/mail-report')
const user = { accountId: createIdSource()(0), credential: null }

interface Line {
  address: string
  helo: string
  sender: string
  recipients: string[]
  recipient_count: number
  reply: string
  left_out: number
}

function setUp() {
  const clock = createManualClock()
  const metrics = createMetrics()
  const logged: Line[] = []
  const log = createLog('info', { write: line => void logged.push(JSON.parse(line)) })
  const report = createMailReport({ metrics, log, clock }, 'inbound')
  const refuse = (address: string, count = 1) => {
    for (let i = 0; i < count; i++) report.turnedAway(550, '5.7.1 No', { address })
  }
  return { clock, metrics, logged, report, refuse }
}

for (const [what, addressOf] of [
  ['one address', () => '192.0.2.1'],
  ['one address, as a dual-stack socket names it', (i: number) => (i % 2 ? '::ffff:192.0.2.1' : '192.0.2.1')],
  ['one IPv6 site', (i: number) => `2001:db8:0:${(i % 256).toString(16)}::1`],
] as const)
  test(`refusals: ${what} gets ten lines a minute, and the next line says how many were left out`, () => {
    const { clock, logged, refuse, metrics } = setUp()
    for (let i = 0; i < 10_000; i++) refuse(addressOf(i))
    assert.is(logged.length, 10)
    assert.match(metrics.text(), 'smtp_refused_total{listener="inbound",code="550",status="5.7.1"} 10000')
    refuse('198.51.100.7')
    assert.equal(
      logged.slice(-2).map(({ left_out }) => left_out),
      [0, 9_990],
    )
    clock.advance(60_000)
    refuse(addressOf(0))
    assert.is(logged.at(-1)!.address, addressOf(0).replace('::ffff:', ''))
    assert.is(logged.at(-1)!.left_out, 0)
  })

test('refusals: strangers of many networks get 100 lines a minute together, clients of accounts are logged beside them', () => {
  const { logged, refuse, report } = setUp()
  for (let i = 0; i < 5_000; i++) refuse(`10.0.${i >> 8}.${i & 255}`)
  assert.is(logged.length, 100)
  report.turnedAway(554, '5.7.1 No', { address: '203.0.113.9', user })
  assert.is(logged.length, 101)
  assert.is(logged.at(-1)!.left_out, 4_900)
})

test('refusals: what a stranger wrote stays on one short line', () => {
  const { logged, report } = setUp()
  const nasty = `a\r\nb\u001b[2J\u202ec\u0085${'x'.repeat(5_000)}`
  report.turnedAway(
    501,
    nasty,
    { address: '192.0.2.1', helo: nasty },
    { verb: 'RCPT', sender: nasty, recipients: Array.from({ length: 100 }, () => nasty) },
  )
  const line = logged[0]!
  assert.is(line.recipients.length, 5)
  assert.is(line.recipient_count, 100)
  for (const text of [line.helo, line.sender, line.reply, ...line.recipients]) {
    assert.match(text, /a\?\?b\?\[2J\?c\?x+…$/)
    assert.ok(text.length <= 501)
  }
})

test('refusals: nothing is written above the level info', () => {
  const logged: string[] = []
  const log = createLog('warn', { write: line => void logged.push(line) })
  const report = createMailReport({ metrics: createMetrics(), log, clock: createManualClock() }, 'relay')
  report.turnedAway(550, '5.7.1 No', { address: '192.0.2.1' })
  assert.equal(logged, [])
})

test.run()
