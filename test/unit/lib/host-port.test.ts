import * as assert from 'uvu/assert'
import { hostPort } from '../../../src/lib/host-port.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('lib/host-port')

test('host and port: an IPv6 address stands in brackets', () => {
  assert.is(hostPort('::1', 25), '[::1]:25')
  assert.is(hostPort('127.0.0.1', 25), '127.0.0.1:25')
  assert.is(hostPort('mx.there.example', 587), 'mx.there.example:587')
})

test.run()
