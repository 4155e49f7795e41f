import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { loadConfig } from '../../../../src/config/config.ts'
import { type OwnName, settingsOf, UNIT } from '../../../../src/interfaces/setup/own-name.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('what the first steps say that a real installation needs')
const root = new URL('../../../..', import.meta.url).pathname
const OWN: OwnName = {
  host: 'mail.example.com',
  addresses: ['203.0.113.7'],
  localAddresses: [],
  email: 'you@example.com',
  https: 'own',
}

/** Parses the lines as a service that is started with exactly these does. */
function read(own: OwnName) {
  return loadConfig(root, Object.fromEntries(settingsOf(own)))
}

test('settings file: each line is a setting, and together they form a public installation', () => {
  const { config, warnings } = read(OWN)
  assert.equal(warnings, [])
  assert.is(config.mailHost, 'mail.example.com')
  assert.is(config.http.baseUrl, 'https://mail.example.com')
  assert.equal(config.smtp.inbound.listen, { host: '0.0.0.0', port: 25 })
  assert.equal(config.smtp.submission.listen, { host: '0.0.0.0', port: 587 })
  assert.equal(config.smtp.submissionTls.listen, { host: '0.0.0.0', port: 465 })
  assert.equal(config.http.tlsListen, { host: '0.0.0.0', port: 443 })
  assert.equal(config.acme.listen, { host: '0.0.0.0', port: 80 })
  assert.equal(config.dns.listen, [{ host: '203.0.113.7', port: 53 }])
  assert.equal([config.acme.enabled, config.acme.email], [true, 'you@example.com'])
})

test('settings file: listeners accept IPv4 and IPv6; behind NAT the DNS server uses the interface address', () => {
  const { config } = read({ ...OWN, addresses: ['203.0.113.7', '2001:db8::7'], localAddresses: ['10.0.0.4'] })
  assert.equal(config.smtp.inbound.listen, { host: '::', port: 25 })
  assert.equal(config.dns.listen, [{ host: '10.0.0.4', port: 53 }])
  assert.equal(config.dns.addresses, ['203.0.113.7', '2001:db8::7'])
})

test('settings file: behind a proxy there is no HTTPS listener, and the proxy is trusted', () => {
  const { config, warnings } = read({ ...OWN, https: 'proxy' })
  assert.equal(warnings, [])
  assert.equal([config.http.tlsListen, config.acme.listen], [null, null])
  assert.equal(config.http.listen, { host: '127.0.0.1', port: 3000 })
  assert.is(config.http.baseUrl, 'https://mail.example.com')
  assert.is(config.http.trustedProxies.length, 2)
})

test('settings file: docs/install.md has the same settings, and one for the first password', () => {
  const doc = readFileSync(`${root}docs/install.md`, 'utf8')
  const blocks = [...doc.matchAll(/```\n(.*?)\n```/gs)].map(([, block]) => block)
  const lines = settingsOf(OWN).map(([name, value]) => `${name}=${value}`)
  assert.ok(
    blocks.includes(`${lines.join('\n')}\nMAILHORN_ADMIN_CREDENTIALS_FILE=first-credentials`),
    'the settings',
  )
  assert.ok(blocks.includes(UNIT), 'the unit')
})

test.run()
