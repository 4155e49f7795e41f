import * as assert from 'uvu/assert'
import { ownNameOf, privateOnesOf } from '../../../../src/interfaces/setup/answers.ts'
import { settingsOf } from '../../../../src/interfaces/setup/own-name.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('setup: answers')

test('private addresses: of the listeners, neither public nor loopback nor wildcard ones are proposed', () => {
  const listening = ['127.0.0.1', '::1', '0.0.0.0', '::', '203.0.113.7', '10.0.0.4', '10.0.0.4']
  assert.equal(privateOnesOf(listening, ['203.0.113.7']), ['10.0.0.4'])
})

test('private addresses: with what is proposed, the DNS server listens where mailhorn init says', () => {
  const answers = { host: 'mail.example.com', email: 'ops@example.com', https: 'own' } as const
  const proposed = privateOnesOf(['127.0.0.1'], ['203.0.113.7'])
  const own = ownNameOf(
    {
      ...answers,
      addresses: ['203.0.113.7'],
      privateAddresses: proposed.length > 0 ? proposed : undefined,
    },
    ['192.0.2.2'],
  )
  assert.is(Object.fromEntries(settingsOf(own, 'package')).MAILHORN_DNS_LISTEN, '192.0.2.2:53')
})

test.run()
