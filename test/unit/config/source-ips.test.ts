import * as assert from 'uvu/assert'
import { sourceIps } from '../../../src/config/checked-settings.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/source-ips')
const { read } = sourceIps('Addresses.')

test('source IPs: addresses have an EHLO name or none', () => {
  assert.equal(read('192.0.2.1=Mail1.Example.com, 2001:DB8::1,'), [
    { address: '192.0.2.1', name: 'mail1.example.com' },
    { address: '2001:db8::1', name: null },
  ])
  assert.equal(read([]), [])
})

for (const [raw, fault] of [
  ['mail1.example.com', 'neither an IP address'],
  ['192.0.2.256', 'neither an IP address'],
  ['=mail1.example.com', 'neither an IP address'],
  ['192.0.2.1=', 'is not a host name'],
  ['192.0.2.1=mail1', 'is not a host name'],
  ['192.0.2.1=a.example=b.example', 'is not a host name'],
  ['192.0.2.1=a.example RCPT', 'is not a host name'],
  ['192.0.2.1=a.example,192.0.2.1=b.example', 'contains 192.0.2.1 twice'],
] as const)
  test(`refuses ${raw}: ${fault}`, () => {
    assert.throws(() => read(raw), new RegExp(fault))
  })

test.run()
