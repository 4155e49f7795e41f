import * as assert from 'uvu/assert'
import type { Contact } from '../../../../src/interfaces/dashboard/web/api/types.ts'
import {
  type ContactForm,
  contactBody,
  contactChanges,
  formOf,
} from '../../../../src/interfaces/dashboard/web/labels/contact-form.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('the form of a contact')

const contact = (more: Partial<Contact> = {}) =>
  ({
    ...{ email: 'ann@there.test', first_name: 'Ann', last_name: null, unsubscribed: false },
    ...{ properties: { plan: 'pro', seats: 3, vip: true }, ...more },
  }) as Contact
const changed = (more: Partial<ContactForm>, of = contact()) => contactChanges(of, { ...formOf(of), ...more })

test('contact form: unchanged fields are not sent', () => {
  assert.equal(changed({}), {})
  assert.equal(changed({ first: 'Anne' }), { first_name: 'Anne' })
  assert.equal(changed({ first: '', unsubscribed: true }), { first_name: '', unsubscribed: true })
  assert.equal(changed({ unsubscribed: false }, contact({ unsubscribed: true })), { unsubscribed: false })
})

test('contact form: changed properties are sent, removed ones become null', () => {
  assert.equal(changed({ properties: 'plan: free\n\nseats:3\ncity: Vienna: 1st' }), {
    properties: { vip: null, plan: 'free', city: 'Vienna: 1st' },
  })
  assert.equal(changed({ properties: '' }), { properties: { plan: null, seats: null, vip: null } })
})

test('contact form: keys may contain colons', () => {
  const of = contact({ properties: { utm: 'x', 'utm:source': 'a: b', 'a: b': ' c ' } })
  const { properties } = formOf(of)
  assert.equal(changed({ properties: `${properties}\nplan: pro` }, of), { properties: { plan: 'pro' } })
  assert.equal(changed({ properties: properties.replace('a: b\n', 'c\n') }, of), {
    properties: { 'utm:source': 'c' },
  })
})

test('contact form: a new contact is sent with all fields', () => {
  assert.equal(
    contactBody({ ...formOf(undefined), email: 'bob@there.test', properties: 'plan: pro\nnone' }),
    {
      ...{ email: 'bob@there.test', first_name: '', last_name: '', unsubscribed: false },
      properties: { plan: 'pro', none: '' },
    },
  )
})

test.run()
