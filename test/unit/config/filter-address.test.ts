import * as assert from 'uvu/assert'
import { filterAddress, filterUrl } from '../../../src/config/checked-settings.ts'
import { SettingFault } from '../../../src/config/setting.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/filter-address')
const address = filterAddress('A filter.').read
const url = filterUrl('A filter.').read

function faultOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    assert.instance(error, SettingFault)
    return (error as Error).message
  }
  return assert.unreachable() as never
}

test('filter address: host and port, or a socket path', () => {
  assert.equal(address(' 127.0.0.1:783 '), { host: '127.0.0.1', port: 783 })
  assert.equal(address('Clamd.Example:3310'), { host: 'clamd.example', port: 3310 })
  assert.equal(address('[::1]:3310'), { host: '::1', port: 3310 })
  assert.equal(address('/run/clamav/clamd.ctl'), { path: '/run/clamav/clamd.ctl' })
  assert.is(address(''), null)
  assert.is(address(null), null)
})

test('filter address: anything else is refused', () => {
  for (const raw of [
    'localhost',
    'localhost:',
    ':783',
    'host:0',
    'host:65536',
    'host:x',
    '::1:783',
    'a b:1',
    783,
    {},
  ])
    assert.is(
      faultOf(() => address(raw)),
      'must be host:port or the absolute path of a socket',
      String(raw),
    )
})

test('filter URL: host, port and optional path', () => {
  assert.is(url('http://127.0.0.1:11333'), 'http://127.0.0.1:11333')
  assert.is(url(' https://filters.example/rspamd/ '), 'https://filters.example/rspamd')
  assert.is(url(''), null)
  assert.is(
    faultOf(() => url('127.0.0.1:11333')),
    'must be http://host:port',
  )
  assert.is(
    faultOf(() => url('ftp://x')),
    'must be http://host:port',
  )
  assert.is(
    faultOf(() => url('http://a:b@x')),
    'must not contain a user name or password',
  )
  assert.is(
    faultOf(() => url('http://x/?a')),
    'must not contain a query or a fragment',
  )
})

test.run()
