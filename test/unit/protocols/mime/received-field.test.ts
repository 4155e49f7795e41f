import * as assert from 'uvu/assert'
import {
  protocolName,
  receivedField,
  type TracedClient,
} from '../../../../src/protocols/mime/received-field.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/received-field')

const AT = Date.UTC(2026, 10, 21, 12)
const valueFor = (client: TracedClient | null) =>
  receivedField({ client, by: 'mail.here.example', protocol: 'ESMTPSA', id: 'x1', at: AT }).value

for (const [helo, address, from] of [
  ['printer.lan', '192.0.2.9', 'from printer.lan ([192.0.2.9])'],
  ['printer', '::ffff:192.0.2.9', 'from printer ([192.0.2.9])'],
  ['[192.168.1.5]', '192.0.2.9', 'from [192.168.1.5] ([192.0.2.9])'],
  ['laptop.local', '2001:db8::9', 'from laptop.local ([IPv6:2001:db8::9])'],
  ['a (b)', '192.0.2.9', 'from [192.0.2.9] ([192.0.2.9])'],
  ['x;y', '2001:db8::9', 'from [IPv6:2001:db8::9] ([IPv6:2001:db8::9])'],
  ['bücher', '192.0.2.9', 'from [192.0.2.9] ([192.0.2.9])'],
  ['x'.repeat(600), '192.0.2.9', 'from [192.0.2.9] ([192.0.2.9])'],
  [null, '192.0.2.9', 'from [192.0.2.9] ([192.0.2.9])'],
] as const)
  test(`a client ${String(helo).slice(0, 20)} at ${address} is named in the trace`, () => {
    assert.is(
      valueFor({ helo, address }),
      `${from}\r\n\tby mail.here.example with ESMTPSA id x1;\r\n\tSat, 21 Nov 2026 12:00:00 +0000`,
    )
  })

test('a client that is not to be named is left out', () => {
  assert.is(valueFor(null), 'by mail.here.example with ESMTPSA id x1;\r\n\tSat, 21 Nov 2026 12:00:00 +0000')
})

test('the protocol has its registered name', () => {
  const name = (letters: string) =>
    protocolName({
      isExtended: letters.includes('e'),
      isUtf8: letters.includes('u'),
      isTls: letters.includes('s'),
      isSignedIn: letters.includes('a'),
    })
  assert.equal(['', 'e', 'es', 'ea', 'esa', 'eu', 'eusa'].map(name), [
    'SMTP',
    'ESMTP',
    'ESMTPS',
    'ESMTPA',
    'ESMTPSA',
    'UTF8SMTP',
    'UTF8SMTPSA',
  ])
})

test.run()
