import * as assert from 'uvu/assert'
import { trackingBaseOf } from '../../../src/app/tracking.ts'
import type { Config } from '../../../src/config/config.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('app/tracking')

for (const [tracking, http, target, port] of [
  ['', 'https://mail.here.test', 'mail.here.test', null],
  ['https://links.here.test', 'https://mail.here.test', 'links.here.test', null],
  ['https://links.here.test:8443', 'http://mail.here.test', 'links.here.test', 8_443],
  ['', 'https://mail.here.test:8443', 'mail.here.test', 8_443],
  ['', 'http://mail.here.test:3000', 'mail.here.test', null],
  ['', 'http://localhost:3000', 'mx.here.test', null],
  ['', 'https://192.0.2.1:8443', 'mx.here.test', 8_443],
  ['https://[2001:db8::1]', 'https://mail.here.test', 'mx.here.test', null],
  ['', '', 'mx.here.test', null],
] as const)
  test(`hosts of links lead to ${target}${port === null ? '' : `:${port}`} with the links at "${tracking}" and the API at "${http}"`, () => {
    const config = { tracking: { baseUrl: tracking }, http: { baseUrl: http }, mailHost: 'mx.here.test' }
    assert.equal(trackingBaseOf(config as Config), { target, port })
  })

test.run()
