import * as assert from 'uvu/assert'
import {
  type BounceClass,
  blamesAddress,
  bounceType,
  classify,
  type ReplyPhase,
} from '../../../src/reports/classify.ts'
import { replyOf } from '../../../src/smtp/reply.ts'
import { suite } from '../../kit/suite.ts'
import { KNOWN_REPLIES } from './replies.ts'

const test = suite('reports/classify')

const read = (line: string) => replyOf(Number(line.slice(0, 3)), [line.slice(4)])

/** As in the table: action, class, and `!` where the address is blamed. */
function verdictOf(phase: ReplyPhase, line: string): string {
  const verdict = classify(phase, read(line))
  const blames = verdict.action === 'bounce' && blamesAddress(verdict.class)
  return `${verdict.action} ${verdict.class}${blames ? ' !' : ''}`
}

for (const { from, phase, reply, action, class: bounceClass, blames } of KNOWN_REPLIES)
  test(`${from}, ${phase}: ${reply}`, () => {
    assert.is(verdictOf(phase, reply), `${action} ${bounceClass}${blames ? ' !' : ''}`)
  })

test('the table is as large as it was meant to be', () => {
  assert.ok(KNOWN_REPLIES.length >= 80, String(KNOWN_REPLIES.length))
})

test('no transient reply bounces, whatever its words and phase', () => {
  for (const { reply } of KNOWN_REPLIES)
    for (const phase of ['host', 'mail', 'rcpt', 'data', 'final-dot'] as const)
      assert.is(classify(phase, { ...read(reply), code: 451, enhanced: null }).action, 'defer', reply)
})

test('before the recipient was named, no reply blames it', () => {
  for (const { reply } of KNOWN_REPLIES)
    for (const phase of ['host', 'mail'] as const) {
      const { action, class: bounceClass } = classify(phase, read(reply))
      assert.not(action === 'bounce' && blamesAddress(bounceClass), `${phase}: ${reply}`)
    }
})

test('a reply without any words is judged by its code and phase', () => {
  assert.is(verdictOf('rcpt', '550 '), 'bounce unknown')
  assert.is(verdictOf('rcpt', '552 '), 'bounce mailbox-full')
  assert.is(verdictOf('final-dot', '554 '), 'bounce content')
  assert.is(verdictOf('rcpt', '452 '), 'defer mailbox-full')
  assert.is(verdictOf('rcpt', '450 '), 'defer unknown')
  assert.is(verdictOf('host', '554 '), 'bounce policy')
})

test('hostile words take no time worth mentioning', () => {
  for (const word of ['user ', 'unknown ', 'no such ', 'mailbox. ', 'try again later ', 'sender address '])
    verdictOf('rcpt', `550 ${word.repeat(400)}`)
})

test('webhooks name each class as a type and a subtype', () => {
  const types: [BounceClass, string][] = [
    ['invalid-recipient', 'Permanent NoEmail'],
    ['inactive-mailbox', 'Permanent General'],
    ['bad-domain', 'Permanent General'],
    ['no-route', 'Permanent General'],
    ['mailbox-full', 'Transient MailboxFull'],
    ['message-too-large', 'Transient MessageTooLarge'],
    ['content', 'Transient ContentRejected'],
    ['spam', 'Transient ContentRejected'],
    ['attachment', 'Transient AttachmentRejected'],
    ['blocked', 'Transient General'],
    ['policy', 'Transient General'],
    ['authentication', 'Transient General'],
    ['sender', 'Transient General'],
    ['greylisted', 'Undetermined General'],
    ['rate-limited', 'Undetermined General'],
    ['protocol', 'Undetermined General'],
    ['unknown', 'Undetermined General'],
  ]
  for (const [bounceClass, expected] of types) {
    const { type, subtype } = bounceType(bounceClass)
    assert.is(`${type} ${subtype}`, expected, bounceClass)
  }
})

test('only the address itself is blamed: for not being there, for being closed, for its domain', () => {
  const classes = KNOWN_REPLIES.map(reply => reply.class)
  assert.equal([...new Set(classes)].filter(blamesAddress).sort(), [
    'bad-domain',
    'inactive-mailbox',
    'invalid-recipient',
  ])
})

test.run()
