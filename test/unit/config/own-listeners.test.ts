import * as assert from 'uvu/assert'
import { ownListener } from '../../../src/config/own-listeners.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/own-listeners')

const machine = {
  names: ['mail.here.example', 'box'],
  addresses: ['127.0.0.1', '192.0.2.7', '::1', '2001:db8::7'],
}
const listening = (host: string) => ({
  inbound: { listen: null },
  submission: { listen: { host: '127.0.0.1', port: 2587 } },
  submissionTls: { listen: null },
  relay: { listen: { host, port: 25 } },
})

/** Address of the listener, hosts that lead to it, and hosts that do not. */
const cases: [bound: string, own: string[], others: string[]][] = [
  [
    '0.0.0.0',
    [
      '127.0.0.1',
      '127.9.9.9',
      '192.0.2.7',
      '::ffff:192.0.2.7',
      'localhost',
      'relay.localhost',
      'MAIL.here.example.',
      'box',
      '0.0.0.0',
    ],
    ['::1', '2001:db8::7', '192.0.2.8', 'relay.example', 'here.example'],
  ],
  [
    '::',
    ['::1', '2001:db8::7', '192.0.2.7', '127.0.0.1', 'mail.here.example', '::'],
    ['2001:db8::8', '192.0.2.8'],
  ],
  ['127.0.0.1', ['127.0.0.1', 'localhost', '0.0.0.0'], ['192.0.2.7', '127.0.0.2', 'mail.here.example']],
  ['::1', ['::1', 'localhost'], ['127.0.0.1', '2001:db8::7']],
  ['localhost', ['localhost'], ['192.0.2.7']],
  ['192.0.2.7', ['192.0.2.7', 'mail.here.example', 'box'], ['127.0.0.1', 'localhost', '192.0.2.8', '::1']],
]
for (const [bound, own, others] of cases)
  test(`a smart host is compared with a listener on ${bound}`, () => {
    const found = (host: string, port = 25) => ownListener({ host, port }, listening(bound), machine)
    for (const host of own) assert.is(found(host), 'smtp.relay.listen', host)
    for (const host of others) assert.is(found(host), undefined, host)
    for (const host of own) assert.is(found(host, 26), undefined, host)
  })

test('each mail listener is compared, and those that are off are not', () => {
  const at = (port: number) => ({ listen: { host: '0.0.0.0', port } })
  const all = { inbound: at(25), submission: at(587), submissionTls: at(465), relay: { listen: null } }
  const found = (port: number) => ownListener({ host: '192.0.2.7', port }, all, machine)
  assert.equal([25, 587, 465, 2525].map(found), [
    'smtp.inbound.listen',
    'smtp.submission.listen',
    'smtp.submission_tls.listen',
    undefined,
  ])
})

test.run()
