import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import {
  destinationLimits,
  PROVIDERS,
  providerOf,
  USUAL_LIMITS,
} from '../../../../../src/pipeline/delivery/destinations/providers.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('providers')

test('a host belongs to the provider whose name it equals or ends in', () => {
  assert.is(providerOf(['gmail-smtp-in.l.google.com'])?.name, 'google')
  assert.is(providerOf(['mx-eu.mail.am0.yahoodns.net'])?.name, 'yahoo')
  assert.is(providerOf(['one-test.mail.protection.outlook.com'])?.name, 'microsoft365')
  assert.is(providerOf(['one-test.p-v1.mx.microsoft'])?.name, 'microsoft365')
  assert.is(providerOf(['mx01.mail.icloud.com'])?.name, 'apple')
})

test('a host with a similar name does not belong to the provider', () => {
  for (const host of ['mx.notgoogle.com', 'google.com.there.test', 'com', 'mx.there.test', ''])
    assert.is(providerOf([host]), undefined, host)
  assert.is(providerOf([]), undefined)
})

test('hosts of two providers belong to neither', () => {
  assert.is(providerOf(['mx.mail.ru', 'aspmx.l.google.com']), undefined)
})

test('the table: names without dots, each host once, in lower case, limits of at least one', () => {
  const hosts = PROVIDERS.flatMap(provider => provider.hosts)
  assert.is(new Set(hosts).size, hosts.length)
  assert.is(new Set(PROVIDERS.map(({ name }) => name)).size, PROVIDERS.length)
  for (const { name, connections, messagesPerConnection } of PROVIDERS) {
    assert.match(name, /^[a-z0-9]+$/)
    assert.ok(connections >= 1 && messagesPerConnection >= 1)
  }
  for (const host of hosts) assert.match(host, /^[a-z0-9-]+(\.[a-z0-9-]+)+$/)
})

test('limits come from the operator, then the table, then the defaults; a host has those of its provider', () => {
  const limitsOf = destinationLimits({
    google: { connections: 3, messagesPerConnection: null, messagesPerSecond: 7 },
  })
  assert.equal(limitsOf('google'), { connections: 3, messagesPerConnection: 50, messagesPerSecond: 7 })
  assert.equal(limitsOf('aspmx.l.google.com'), limitsOf('google'))
  assert.is(limitsOf('apple').messagesPerConnection, 5)
  assert.equal(limitsOf('mx.there.test'), USUAL_LIMITS)
})

test('the table of concurrent sessions in docs/queue.md is that of the program', () => {
  const page = readFileSync(new URL('../../../../../docs/queue.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| (\d+) \| (`.*) \|$/gm)]
  const documented = rows.flatMap(([, sessions, names]) =>
    [...names!.matchAll(/`([\w-]+)`/g)].map(([, name]) => [name!, Number(sessions)] as const),
  )
  const limits = PROVIDERS.map(({ name, connections }) => [name, connections] as const)
  assert.equal(new Map(documented.toSorted()), new Map(limits.toSorted()))
})

test.run()
