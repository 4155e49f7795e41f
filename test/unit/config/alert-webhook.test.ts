import * as assert from 'uvu/assert'
import { alertWebhookUrl, signingSecret } from '../../../src/config/checked-settings.ts'
import { SettingFault } from '../../../src/config/setting.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('config/alert-webhook')
const url = alertWebhookUrl('A webhook.').read
const secret = signingSecret('A secret.').read

function faultOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    assert.instance(error, SettingFault)
    return (error as Error).message
  }
  return assert.unreachable() as never
}

test('URL of the webhook: https, also at private hosts, or http on this host', () => {
  for (const good of [
    'https://hooks.slack.com/services/T0/B0/x',
    'https://mattermost/hooks/x',
    'https://10.0.0.5:8443/hooks/x',
    'http://127.0.0.1:8065/hooks/x',
    'http://[::1]:8065/',
  ])
    assert.is(url(good), good)
  assert.is(url(''), null)
  for (const [bad, fault] of [
    ['hooks.slack.com', 'must be an absolute URL'],
    ['http://hooks.example.com/x', 'must begin with https://'],
    ['ftp://hooks.example.com/x', 'must begin with https://'],
    ['https://ann:secret@hooks.example.com/x', 'must not contain a user name or a password'],
    ['https://hooks.example.com:25/x', 'must not use port 25'],
  ] as const)
    assert.is(
      faultOf(() => url(bad)),
      fault,
      bad,
    )
})

test('signing secret: whsec_ and at least 24 bytes', () => {
  const of = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
  assert.is(secret(of(24)), of(24))
  assert.is(secret(of(32)), of(32))
  assert.is(secret(''), null)
  for (const bad of [of(23), of(32).slice('whsec_'.length), `${of(32)}!`, 'whsec_', `x${of(32)}`])
    assert.is(
      faultOf(() => secret(bad)),
      'must be whsec_ and the base64 of at least 24 bytes',
      bad,
    )
})

test.run()
