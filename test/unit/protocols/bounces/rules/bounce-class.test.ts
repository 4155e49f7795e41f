import * as assert from 'uvu/assert'
import {
  type BounceClass,
  bounceType,
  isAddressFault,
} from '../../../../../src/protocols/bounces/rules/bounce-class.ts'
import { suite } from '../../../../kit/suite.ts'
import { KNOWN_REPLIES } from '../replies.ts'

const test = suite('reports/bounce-class')

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
    ['too-many-recipients', 'Undetermined General'],
    ['protocol', 'Undetermined General'],
    ['unknown', 'Undetermined General'],
  ]
  for (const [bounceClass, expected] of types) {
    const { type, subtype } = bounceType(bounceClass, false)
    assert.is(`${type} ${subtype}`, expected, bounceClass)
  }
})

test('a transient failure that was given up is never permanent', () => {
  const types: [BounceClass, string][] = [
    ['no-route', 'Transient General'],
    ['invalid-recipient', 'Transient General'],
    ['bad-domain', 'Transient General'],
    ['mailbox-full', 'Transient MailboxFull'],
    ['greylisted', 'Transient General'],
    ['unknown', 'Transient General'],
  ]
  for (const [bounceClass, expected] of types) {
    const { type, subtype } = bounceType(bounceClass, true)
    assert.is(`${type} ${subtype}`, expected, bounceClass)
  }
})

test('only the address itself is at fault: for not being there, for being closed, for its domain', () => {
  const classes = KNOWN_REPLIES.map(({ verdict }) => verdict.split(' ')[1] as BounceClass)
  assert.equal([...new Set(classes)].filter(isAddressFault).sort(), [
    'bad-domain',
    'inactive-mailbox',
    'invalid-recipient',
  ])
})

test.run()
