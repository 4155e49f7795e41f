import * as assert from 'uvu/assert'
import { classify } from '../../../../src/protocols/bounces/classify.ts'
import { isAddressFault } from '../../../../src/protocols/bounces/rules/bounce-class.ts'
import type { ReplyPhase } from '../../../../src/protocols/bounces/sentence/reading.ts'
import { suite } from '../../../kit/suite.ts'
import { KNOWN_REPLIES, readLine } from './replies.ts'

const test = suite('reports/classify')
const PHASES = ['host', 'mail', 'rcpt', 'data', 'final-dot'] as const
const PRESSURE_MARKS = { none: '', congestion: '~', reputation: '^' }

/** Formats a classification as in `replies.txt`: action, class, marks. */
function verdictOf(phase: ReplyPhase, line: string, provider?: string): string {
  const {
    action,
    class: bounceClass,
    blamesAddress,
    pressure,
    alert,
  } = classify({ phase, ...readLine(line), provider })
  const marks = `${blamesAddress ? '!' : ''}${PRESSURE_MARKS[pressure]}${alert ? '*' : ''}`
  return `${action} ${bounceClass} ${marks}`.trim()
}

for (const { from, provider, phase, line, verdict } of KNOWN_REPLIES)
  test(`${from}, ${phase}: ${line}`, () => {
    assert.is(verdictOf(phase, line, provider), verdict)
  })

test('the table is as large as it was meant to be, and says nothing twice', () => {
  assert.ok(KNOWN_REPLIES.length >= 500, String(KNOWN_REPLIES.length))
  const rows = KNOWN_REPLIES.map(({ provider, phase, line }) => `${provider} ${phase} ${line}`)
  assert.equal(
    rows.filter((row, i) => rows.indexOf(row) !== i),
    [],
  )
})

test('no transient reply bounces or blames, whatever its words, phase and provider', () => {
  for (const { reply, provider, line } of KNOWN_REPLIES)
    for (const phase of PHASES) {
      const { action, blamesAddress } = classify({ phase, ...reply, code: 451, enhanced: null, provider })
      assert.equal([action, blamesAddress], ['defer', false], line)
    }
})

test('before the recipient was named, no reply blames it', () => {
  for (const { reply, provider, line } of KNOWN_REPLIES)
    for (const phase of ['host', 'mail'] as const) {
      const { action, class: bounceClass, blamesAddress } = classify({ phase, ...reply, provider })
      assert.is(blamesAddress, false, `${phase}: ${line}`)
      assert.not(action === 'bounce' && isAddressFault(bounceClass), `${phase}: ${line}`)
    }
})

test('what blames the address is a bounce for one of three faults', () => {
  for (const { reply, provider, line } of KNOWN_REPLIES)
    for (const phase of PHASES) {
      const { action, class: bounceClass, blamesAddress } = classify({ phase, ...reply, provider })
      if (blamesAddress) assert.ok(action === 'bounce' && isAddressFault(bounceClass), `${phase}: ${line}`)
    }
})

test('where the message was seen, words alone blame nobody', () => {
  for (const words of ['user unknown', 'mailbox not found', 'account disabled', 'no such user'])
    for (const phase of ['data', 'final-dot'] as const) {
      assert.is(classify({ phase, ...readLine(`550 ${words}`) }).blamesAddress, false, `${phase}: ${words}`)
      assert.is(
        classify({ phase, ...readLine(`550 5.1.1 ${words}`) }).blamesAddress,
        true,
        `${phase}: ${words}`,
      )
      assert.is(classify({ phase: 'rcpt', ...readLine(`550 ${words}`) }).blamesAddress, true, words)
    }
})

test('a rule of one provider holds at its hosts alone', () => {
  const line = '550 Suspected spam ip'
  assert.is(classify({ phase: 'final-dot', ...readLine(line), provider: 'qq' }).rule, 'qq: suspected')
  assert.is(classify({ phase: 'final-dot', ...readLine(line) }).rule, 'words: spam')
  assert.is(verdictOf('final-dot', '554 5.7.9 reasons of policy', 'yahoo'), 'bounce authentication')
  const greeting = '554 ask the postmaster first'
  assert.is(verdictOf('host', greeting, 'telekom'), 'defer blocked ^*')
  assert.is(verdictOf('host', greeting), 'bounce policy')
})

test('a hint is read from deferrals alone', () => {
  const hintOf = (line: string) => classify({ phase: 'rcpt', ...readLine(line) }).hintMs
  assert.is(hintOf('451 4.7.1 Greylisted, try again in 5 minutes'), 300_000)
  assert.is(hintOf('550 5.7.1 Greylisted, try again in 5 minutes'), 300_000)
  assert.is(hintOf('550 5.1.1 user unknown, try again in 5 minutes'), undefined)
  assert.is(hintOf('451 4.3.0 later'), undefined)
})

test('a reply without any words is judged by its code and phase', () => {
  assert.is(verdictOf('rcpt', '550 '), 'bounce unknown')
  assert.is(verdictOf('rcpt', '552 '), 'bounce mailbox-full')
  assert.is(verdictOf('final-dot', '554 '), 'bounce content')
  assert.is(verdictOf('rcpt', '452 '), 'defer mailbox-full')
  assert.is(verdictOf('rcpt', '450 '), 'defer unknown')
  assert.is(verdictOf('host', '554 '), 'bounce policy')
  assert.is(verdictOf('mail', '451 '), 'defer unknown ~')
  assert.is(verdictOf('rcpt', '421 '), 'defer unknown ~')
})

test('replies of all lengths and characters are given a meaning', () => {
  const words = [
    'user ',
    'unknown ',
    'mailbox. ',
    'try again later ',
    '灰名单',
    'Ящик',
    '\u0000',
    '"',
    '@',
    '5.1.1 ',
  ]
  for (const word of words)
    for (const phase of PHASES) {
      const { class: bounceClass } = classify({ phase, ...readLine(`550 ${word.repeat(2000)}`) })
      assert.type(bounceClass, 'string')
    }
})

test.run()
