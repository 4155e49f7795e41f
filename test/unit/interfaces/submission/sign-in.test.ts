import * as assert from 'uvu/assert'
import { createSignIn } from '../../../../src/interfaces/submission/sign-in.ts'
import { type Id, idText, wireId } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createMetrics } from '../../../../src/lib/metrics.ts'
import { networks } from '../../../../src/lib/networks.ts'
import type { TokenHolder } from '../../../../src/resources/accounts/access-token-rows.ts'
import { createSignInReport } from '../../../../src/resources/accounts/sign-in-report.ts'
import { createManualClock } from '../../../kit/manual-clock.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/sign-in')

const id = new Uint8Array(16).fill(7)
const other = new Uint8Array(16).fill(8)
const accountId = new Uint8Array(16).fill(9)
const HERE = '192.0.2.1'
const tokenId = new Uint8Array(16).fill(6)
const TOKEN = {
  ...{
    id: tokenId,
    accountId,
    userId: null,
    name: 'CI',
    operator: false,
    networkEntries: null,
    networks: null,
  },
  scopes: ['emails:send'] as TokenHolder['scopes'],
  expiresAt: null as number | null,
}

function open(token: TokenHolder = TOKEN) {
  const clock = createManualClock()
  const requests: string[] = []
  const find = async (token: string) => {
    requests.push(token)
    return token === 're_good' ? { id, accountId, domain: 'here.example' } : undefined
  }
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: line => void lines.push(JSON.parse(line)) })
  const report = createSignInReport({ metrics: createMetrics(), log, clock }, 'smtp')
  const apiKeys = { find } as Parameters<typeof createSignIn>[0]['apiKeys']
  const used: string[] = []
  const accessTokens = {
    isMeant: (text: string) => text.startsWith('mh_'),
    find: async (text: string) => (text === 'mh_good' ? token : undefined),
    noteUse: (id: Id) => void used.push(idText(id)),
  }
  return { signIn: createSignIn({ apiKeys, accessTokens, clock, report }), clock, requests, used, lines }
}

const sender = { accountId, apiKeyId: id, domain: 'here.example' }
const credential = wireId('key', id)

for (const name of ['resend', 'mailhorn', 'RESEND', wireId('key', id)])
  test(`an API key is the password of ${name}`, async () => {
    assert.equal(await open().signIn(HERE, name, 're_good'), { sender, credential })
  })

for (const name of ['resend', 'mailhorn', wireId('tok', tokenId)])
  test(`an access token that may send is the password of ${name}`, async () => {
    const { signIn, used } = open()
    const expected = { accountId, apiKeyId: tokenId, domain: null }
    assert.equal(await signIn(HERE, name, 'mh_good'), {
      sender: expected,
      credential: wireId('tok', tokenId),
    })
    assert.equal(used, [idText(tokenId)])
  })

for (const [what, token, expected] of [
  ['full access', { scopes: ['full'] }, 'right'],
  ['the scope emails:write', { scopes: ['emails:write'] }, 'right'],
  ['other scopes', { scopes: ['emails:read', 'broadcasts:write'] }, 'wrong'],
  ['its own network', { networks: networks(['192.0.2.0/24']) }, 'right'],
  ['another network', { networks: networks(['198.51.100.0/24']) }, 'wrong'],
  ['an expiry in the past', { expiresAt: 0 }, 'wrong'],
  ['an expiry in the future', { expiresAt: Number.MAX_SAFE_INTEGER }, 'right'],
] as const)
  test(`an access token with ${what} is ${expected}`, async () => {
    const { signIn, used } = open({ ...TOKEN, ...token })
    const result = await signIn(HERE, 'resend', 'mh_good')
    assert.is(typeof result === 'object' ? 'right' : result, expected)
    assert.is(used.length, expected === 'right' ? 1 : 0)
  })

test('an access token that is unknown, or named by the id of another, is wrong', async () => {
  assert.is(await open().signIn(HERE, 'resend', 'mh_bad'), 'wrong')
  assert.is(await open().signIn(HERE, wireId('tok', other), 'mh_good'), 'wrong')
})

for (const [what, name, password] of [
  ['another password', 'resend', 're_bad'],
  ['another name', 'ann', 're_good'],
  ['the id of another key', wireId('key', other), 're_good'],
  ['no name', '', 're_good'],
] as const)
  test(`${what} is wrong`, async () => {
    assert.is(await open().signIn(HERE, name, password), 'wrong')
  })

test('after five wrong ones an address is not heard for a minute, others are', async () => {
  const { signIn, clock, requests } = open()
  for (let i = 0; i < 5; i++) assert.is(await signIn(HERE, 'resend', `re_${i}`), 'wrong')
  assert.is(await signIn(HERE, 'resend', 're_good'), 'too-many')
  assert.is(requests.length, 5)
  assert.equal(await signIn('192.0.2.2', 'resend', 're_good'), { sender, credential })
  await clock.advance(60_000)
  assert.equal(await signIn(HERE, 'resend', 're_good'), { sender, credential })
})

test('a program with an old key does not stop those beside it whose key has been right', async () => {
  const { signIn } = open()
  await signIn(HERE, 'resend', 're_good')
  for (let i = 0; i < 8; i++) await signIn(HERE, 'resend', 're_old')
  assert.is(await signIn(HERE, 'resend', 're_old'), 'too-many')
  assert.equal(await signIn(HERE, 'resend', 're_good'), { sender, credential })
})

test('a key that is named is not heard after ten wrong ones, from wherever they come', async () => {
  const { signIn, clock, requests } = open()
  const name = wireId('key', id)
  await signIn('192.0.2.9', name, 're_good')
  for (let i = 0; i < 10; i++) assert.is(await signIn(`198.51.100.${i}`, name, 're_bad'), 'wrong')
  const askedBefore = requests.length
  assert.is(await signIn('198.51.100.77', name.toUpperCase().replace('KEY_', 'key_'), 're_bad'), 'too-many')
  assert.is(requests.length, askedBefore)
  assert.equal(await signIn('192.0.2.9', name, 're_good'), { sender, credential })
  assert.equal(await signIn('198.51.100.77', 'resend', 're_good'), { sender, credential })
  await clock.advance(60_000)
  assert.equal(await signIn('198.51.100.78', name, 're_good'), { sender, credential })
})

test('27 addresses of one IPv6 /64 have the five wrong ones of one client, under whatever user names', async () => {
  const { signIn, lines } = open()
  const message: unknown[] = []
  for (let i = 1; i <= 27; i++)
    message.push(
      await signIn(`2001:db8::${i.toString(16)}`, ['resend', 'Mailhorn', `user${i}`][i % 3]!, 're_bad'),
    )
  assert.equal(message, [...Array(5).fill('wrong'), ...Array(22).fill('too-many')])
  assert.is(await signIn('2001:db8:0:ff::1', 'resend', 're_good'), 'too-many')
  assert.equal(await signIn('2001:db8:0:100::1', 'resend', 're_good'), { sender, credential })
  assert.equal(
    lines.map(({ event, protocol, address }) => [event, protocol, address]),
    [['sign_in_throttled', 'smtp', '2001:db8::6']],
  )
})

test('more than four /56 of one /48 are one client', async () => {
  const { signIn } = open()
  const at = (i: number, password: string) =>
    signIn(`2001:db8:0:${(i * 256).toString(16)}::1`, 'resend', password)
  for (let i = 0; i < 5; i++) assert.is(await at(i, 're_bad'), 'wrong')
  assert.is(await at(6, 're_good'), 'too-many')
})

test('one network has 20 wrong ones over all keys that it names', async () => {
  const { signIn } = open()
  const named = (i: number) => wireId('key', new Uint8Array(16).fill(100 + i))
  for (let i = 0; i < 20; i++) assert.is(await signIn(HERE, named(i), 're_bad'), 'wrong')
  assert.is(await signIn(HERE, named(20), 're_bad'), 'too-many')
})

test('a key is known in the network in which it was right', async () => {
  const { signIn } = open()
  await signIn('2001:db8::1', 'resend', 're_good')
  for (let i = 0; i < 8; i++) await signIn('2001:db8::2', 'resend', 're_old')
  assert.equal(await signIn('2001:db8::3', 'resend', 're_good'), { sender, credential })
})

test('wrong passwords sent at once are no more than those in a row', async () => {
  const { signIn } = open()
  const message = await Promise.all(Array.from({ length: 30 }, (_, i) => signIn(HERE, 'resend', `re_${i}`)))
  assert.is(message.filter(one => one === 'wrong').length, 5)
})

test.run()
