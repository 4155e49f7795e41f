import * as assert from 'uvu/assert'
import { claimFault } from '../../../../src/resources/domains/claimable.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('domains/claimable')
const own = { mailHost: 'mail.acme.com', simulatorDomain: 'simulator.mail.acme.com' }

for (const [name, says] of [
  ['mail.acme.com', /provider zone mail\.acme\.com/],
  ['simulator.mail.acme.com', /provider zone/],
  ['co.uk', /public suffix/],
  ['com.au', /public suffix/],
  ['github.io', /public suffix/],
  ['xn--55qx5d.cn', /public suffix/],
  ['foo.ck', /public suffix/],
  ['gmail.com', /gmail\.com is a mailbox provider/],
  ['news.outlook.com', /outlook\.com is a mailbox provider/],
  ['web.de', /mailbox provider/],
] as const)
  test(`${name} cannot be registered`, () => {
    assert.match(claimFault(name, own)!, says)
  })

for (const name of [
  'acme.com',
  'example-mail.com',
  'acme.co.uk',
  'ann.github.io',
  'notgmail.com',
  'gmail.com.example',
  'here.example',
  'there.test',
  'a.invalid',
  'a.localhost',
  'www.ck',
  'xn--bcher-kva.example',
])
  test(`${name} can be registered`, () => {
    assert.is(claimFault(name, own), undefined)
  })

test('claimable names: the simulator domain may be outside the provider zone', () => {
  const elsewhere = { ...own, simulatorDomain: 'simulator.test' }
  assert.match(claimFault('a.simulator.test', elsewhere)!, /simulator/)
  assert.is(claimFault('notsimulator.test', elsewhere), undefined)
})

test.run()
