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

test('everybody in to, cc and bcc is a recipient, in that order', () => {
  assert.equal(recipients(['a@x.test', 'b@x.test'], ['c@y.test'], ['d@z.test']), [
    'to a@x.test at x.test',
    'to b@x.test at x.test',
    'cc c@y.test at y.test',
    'bcc d@z.test at z.test',
  ])
})

test('an address named more than once is one recipient, of the first kind it has', () => {
  assert.equal(recipients(['a@x.test', 'a@x.test'], ['a@x.test', 'b@x.test'], ['b@x.test', 'a@x.test']), [
    'to a@x.test at x.test',
    'cc b@x.test at x.test',
  ])
})

test('case makes no other address; the first spelling is kept', () => {
  assert.equal(recipients(['Ann@X.test'], ['ann@x.test'], ['ANN@x.TEST']), ['to Ann@x.test at x.test'])
})

test('a display name makes no other address', () => {
  assert.equal(recipients(['Ann <a@x.test>', '"Not Ann" <a@x.test>']), ['to a@x.test at x.test'])
})

test('tags and dots make another address', () => {
  assert.is(recipients(['a@x.test', 'a+1@x.test', 'a.b@x.test']).length, 3)
})

test('hidden recipients alone are recipients', () => {
  assert.equal(recipients([], [], ['a@x.test']), ['bcc a@x.test at x.test'])
  assert.equal(recipients([]), [])
})

test.run()
