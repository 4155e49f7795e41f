import * as assert from 'uvu/assert'
import {
  compactMailboxes,
  messageIdOf,
  OWN_MESSAGE_ID,
  ownMessageId,
  parseStoredMailboxes,
} from '../../../src/resources/emails/email-rows.ts'
import { newId } from '../../kit/mail.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('store/emails')

test('emails: a list of one bare address is stored as the address and read back as a list', () => {
  const json = '[{"address":"ann@here.example"}]'
  assert.is(compactMailboxes(json), 'ann@here.example')
  assert.equal(parseStoredMailboxes('ann@here.example'), parseStoredMailboxes(json))
})

test('emails: names and several mailboxes are stored as they are', () => {
  const named = '[{"name":"Ann","address":"ann@here.example"}]'
  const several = '[{"address":"ann@here.example"},{"address":"bob@here.example"}]'
  for (const json of [named, several]) assert.is(compactMailboxes(json), json)
})

test('emails: the Message-ID is derived from the id when none is stored', () => {
  const [id, sender] = [newId(1), 'ann@here.example']
  assert.is(messageIdOf({ id, sender, messageId: OWN_MESSAGE_ID }), ownMessageId(id, 'here.example'))
  assert.is(messageIdOf({ id, sender, messageId: '<mine@there.example>' }), '<mine@there.example>')
})

test.run()
