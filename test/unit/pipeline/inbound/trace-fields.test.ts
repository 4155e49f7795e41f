import * as assert from 'uvu/assert'
import { firstIdAt } from '../../../../src/lib/ids.ts'
import { type TracedInbound, traceText } from '../../../../src/pipeline/inbound/trace-fields.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('inbound/trace-fields')

const ROW: TracedInbound = {
  id: firstIdAt(Date.UTC(2026, 10, 21)),
  sender: 'ann@there.example',
  recipients: '["bob@here.example"]',
  clientIp: '192.0.2.9',
  helo: 'mail.there.example',
  tls: 'TLSv1.3',
  createdAt: Date.UTC(2026, 10, 21, 12),
  authenticationResults: null,
}
const fieldsOf = (row: Partial<TracedInbound>) =>
  traceText({ ...ROW, ...row }, 'mx.here.example')
    .replace(/ id [\w-]+/, ' id x')
    .split(/\r\n(?!\t)/)

test('a message for one recipient over TLS names the client, the cipher protocol and the recipient', () => {
  assert.equal(fieldsOf({}), [
    'Return-Path: <ann@there.example>',
    'Received: from mail.there.example ([192.0.2.9])\r\n\t(using TLSv1.3)\r\n\tby mx.here.example with ESMTPS id x\r\n\tfor <bob@here.example>;\r\n\tSat, 21 Nov 2026 12:00:00 +0000',
    '',
  ])
})

test('several recipients are not named, and the null sender is an empty path', () => {
  const [path, received] = fieldsOf({
    sender: '',
    recipients: '["a@here.example","b@here.example"]',
    tls: null,
  })
  assert.is(path, 'Return-Path: <>')
  assert.match(received!, /with ESMTP id x;\r\n/)
})

test('a name that is none is left out, and IPv6 is a literal', () => {
  const [, received] = fieldsOf({ helo: 'my printer (x)', clientIp: '2001:db8::1' })
  assert.match(received!, /^Received: from \[IPv6:2001:db8::1\] \(\[IPv6:2001:db8::1\]\)\r\n/)
})

test('mail of this host has a Received field already; the results stand behind the return path', () => {
  assert.equal(fieldsOf({ clientIp: null, authenticationResults: 'mx.here.example; none' }), [
    'Return-Path: <ann@there.example>',
    'Authentication-Results: mx.here.example; none',
    '',
  ])
})

test.run()
