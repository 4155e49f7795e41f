import * as assert from 'uvu/assert'
import { type BaseUrlOptions, baseUrl } from '../../../../src/interfaces/doctor/base-url.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('doctor: the base URL')
const GIVEN: BaseUrlOptions = {
  ...{ baseUrl: '', trackingBaseUrl: '', listensAt: '127.0.0.1:3000' },
  ...{ mailHost: 'mail.example.com', laboratory: false },
}
const check = async (over: Partial<BaseUrlOptions>) =>
  (await baseUrl({ ...GIVEN, ...over }).examine(new AbortController().signal)).map(
    ({ subject, status }) => `${subject} ${status}`,
  )

test('base URL: loopback fails with a public mail host', async () => {
  assert.equal(await check({}), ['http://127.0.0.1:3000 failed'])
  assert.equal(await check({ listensAt: '0.0.0.0:3000' }), ['http://0.0.0.0:3000 failed'])
  assert.equal(await check({ baseUrl: 'https://localhost' }), ['https://localhost failed'])
  assert.equal(await check({ laboratory: true }), ['http://127.0.0.1:3000 ok'])
})

test('base URL: an invalid URL fails', async () => {
  assert.equal(await check({ baseUrl: 'mail.example.com', laboratory: true }), ['mail.example.com failed'])
})

test('base URL: http or a private address is a warning', async () => {
  assert.equal(await check({ baseUrl: 'http://mail.example.com' }), ['http://mail.example.com warning'])
  assert.equal(await check({ baseUrl: 'https://10.0.0.5' }), ['https://10.0.0.5 warning'])
  assert.equal(await check({ baseUrl: 'https://mail.example.com' }), ['https://mail.example.com ok'])
})

for (const [url, saysSo] of [
  ['http://mail.example.com', true],
  ['http://10.0.0.5', true],
  ['https://10.0.0.5', false],
  ['https://mail.example.com', false],
] as const)
  test(`base URL: ${url} ${saysSo ? 'makes' : 'does not make'} one-click unsubscribe useless`, async () => {
    for (const over of [{ baseUrl: url }, { baseUrl: 'https://mail.example.com', trackingBaseUrl: url }]) {
      const findings = await baseUrl({ ...GIVEN, ...over }).examine(new AbortController().signal)
      const { message, advice } = findings.at(-1)!
      assert.is(
        message.includes(
          'One-click unsubscribe does not work, since mailbox providers accept it over https only (RFC 8058).',
        ),
        saysSo,
        message,
      )
      if (saysSo) assert.match(advice!, 'to the public https URL of this installation')
    }
  })

test('base URL: tracking.base_url is checked, too, with advice', async () => {
  const options = { ...GIVEN, baseUrl: 'https://mail.example.com', trackingBaseUrl: 'http://[::1]' }
  const findings = await baseUrl(options).examine(new AbortController().signal)
  assert.equal(
    findings.map(({ subject, status }) => `${subject} ${status}`),
    ['https://mail.example.com ok', 'http://[::1] failed'],
  )
  assert.match(findings[1]!.advice!, 'Set tracking.base_url to the public https URL')
})

test.run()
