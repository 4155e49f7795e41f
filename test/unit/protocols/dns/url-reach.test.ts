import * as assert from 'uvu/assert'
import { isHttps, reachOf } from '../../../../src/protocols/dns/url-reach.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('dns/url-reach')

for (const [reach, urls] of [
  [
    'loopback',
    [
      'http://127.0.0.1:3000',
      'https://127.8.9.10',
      'http://127.1',
      'http://2130706433',
      'http://0.0.0.0:3000',
      'http://0',
      'http://[::1]:3000',
      'http://[::]:3000',
      'http://[::ffff:127.0.0.1]',
      'http://[::ffff:0.0.0.0]',
      'http://localhost:3000',
      'https://LOCALHOST.',
      'http://mailhorn.localhost',
    ],
  ],
  [
    'private',
    [
      'http://10.0.0.1',
      'https://192.168.1.2/',
      'http://169.254.1.1',
      'https://[fd00::1]',
      'http://[fe80::1]',
    ],
  ],
  [
    'public',
    ['https://mail.example.com', 'http://8.8.8.8:3000', 'https://[2600::1]', 'https://local.example'],
  ],
  ['invalid', ['', 'mail.example.com', 'localhost:3000', 'ftp://mail.example.com', 'https://', '/dashboard']],
] as const)
  test(`URL reach: ${reach} addresses`, () => {
    for (const url of urls) assert.is(reachOf(url), reach, url)
  })

test('URL reach: https in any case', () => {
  assert.is(isHttps('HTTPS://mail.example.com'), true)
  assert.is(isHttps('http://mail.example.com'), false)
  assert.is(isHttps('mail.example.com'), false)
})

test.run()
