import * as assert from 'uvu/assert'
import { envelopeRecipients } from '../../../../src/pipeline/accept/recipients.ts'
import { mailbox } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('accept/recipients')

function recipients(to: string[], cc: string[] = [], bcc: string[] = []): string[] {
  return envelopeRecipients({ to: to.map(mailbox), cc: cc.map(mailbox), bcc: bcc.map(mailbox) }).map(
    ({ kind, address, domain }) => `${kind} ${address} at ${domain}`,
  )
}

test('recipients: to, cc and bcc, in this order', () => {
  assert.equal(recipients(['a@x.test', 'b@x.test'], ['c@y.test'], ['d@z.test']), [
    'to a@x.test at x.test',
    'to b@x.test at x.test',
    'cc c@y.test at y.test',
    'bcc d@z.test at z.test',
  ])
})

test('recipients: a duplicate address is one recipient with its first kind', () => {
  assert.equal(recipients(['a@x.test', 'a@x.test'], ['a@x.test', 'b@x.test'], ['b@x.test', 'a@x.test']), [
    'to a@x.test at x.test',
    'cc b@x.test at x.test',
  ])
})

test('recipients: addresses are compared without case, and the first spelling is kept', () => {
  assert.equal(recipients(['Ann@X.test'], ['ann@x.test'], ['ANN@x.TEST']), ['to Ann@x.test at x.test'])
})

test('recipients: the display name does not distinguish addresses', () => {
  assert.equal(recipients(['Ann <a@x.test>', '"Not Ann" <a@x.test>']), ['to a@x.test at x.test'])
})

test('recipients: tags and dots distinguish addresses', () => {
  assert.is(recipients(['a@x.test', 'a+1@x.test', 'a.b@x.test']).length, 3)
})

test('recipients: an email may have bcc recipients only', () => {
  assert.equal(recipients([], [], ['a@x.test']), ['bcc a@x.test at x.test'])
  assert.equal(recipients([]), [])
})

test.run()
