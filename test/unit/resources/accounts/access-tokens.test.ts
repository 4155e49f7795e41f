import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { createIdSource, type Id, idText } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { networks } from '../../../../src/lib/networks.ts'
import {
  createAccessTokens,
  obstacleTo,
  type TokenChoice,
} from '../../../../src/resources/accounts/access-tokens.ts'
import { KEYS_DELETED } from '../../../../src/resources/accounts/api-key-rows.ts'
import { createCheckedToken, createToken } from '../../../../src/resources/accounts/tokens.ts'
import { createRecentEmails } from '../../../../src/store/model/recent.ts'
import { openWriting } from '../../../../src/store/opening/dialect.ts'
import { commands } from '../../../../src/workers/commands.ts'
import { insertRows, isOnPostgres } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore, STORE_EPOCH } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('accounts/access-tokens')

const CHOICE: TokenChoice = {
  name: 'Deployment',
  scopes: ['domains:write', 'webhooks:read'],
  operator: false,
  networks: null,
  expiresAt: null,
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const log = createLog('silent')
  const lookUps: string[] = []
  const find: typeof store.find = (table, keys, columns) => {
    lookUps.push(table)
    return store.find(table, keys, columns)
  }
  const tokens = createAccessTokens({ ...store, find, clock: post.clock, newId, log, prefix: 'mh_' })
  store.on(KEYS_DELETED, tokens.forget)
  const addUser = (accountId: Id, operator: 0 | 1) => {
    const id = newId(1)
    const row = { id, account_id: accountId, email: `${idText(id)}@here.example`, password_hash: 'none' }
    insertRows(store, 'users', [{ ...row, operator, created_at: 1 }])
    return id
  }
  return { ...store, ...post, tokens, addUser, lookUps }
}

test('access token: it is shown once; hash and first characters are stored', async t => {
  const { tokens, account, rows } = await open(t)
  const { token, view } = await tokens.create(account(), null, CHOICE)
  assert.match(token, /^mh_[0-9A-Za-z]{46}$/)
  const [row] = rows<Record<string, unknown>>('select * from access_tokens')
  assert.equal(row!.token_hash, createHash('sha256').update(token).digest())
  assert.is(row!.token_start, token.slice(0, 8))
  for (const value of Object.values(row!)) assert.not(String(value).includes(token))
  assert.equal(idText(row!.id as Uint8Array), idText(view.id))
})

test('access token: it is found with its scopes, networks and expiry', async t => {
  const { tokens, account } = await open(t)
  const accountId = account()
  const entries = ['192.0.2.0/24', '2001:db8::/32']
  const { token, view } = await tokens.create(accountId, null, { ...CHOICE, networks: entries, expiresAt: 7 })
  const found = (await tokens.find(token))!
  assert.equal([idText(found.id), idText(found.accountId)], [idText(view.id), idText(accountId)])
  assert.equal([found.scopes, found.networkEntries, found.expiresAt], [CHOICE.scopes, entries, 7])
  assert.ok(found.networks!.contains('192.0.2.9'))
  assert.not(found.networks!.contains('192.0.3.9'))
})

test('access token: a wrong checksum is refused without a look-up', async t => {
  const { tokens, account, lookUps } = await open(t)
  const { token } = await tokens.create(account(), null, CHOICE)
  for (const text of [
    '',
    'mh_',
    token.slice(0, -1),
    `${token}x`,
    token.toLowerCase(),
    `mh_${'x'.repeat(46)}`,
  ])
    assert.is(await tokens.find(text), undefined, text)
  assert.equal(lookUps, [])
  assert.is(await tokens.find(createCheckedToken('mh_')), undefined)
  assert.equal(lookUps, ['accessTokens'])
})

test('access token: one with a former prefix is still accepted, an API key is not meant', async t => {
  const { tokens, account, ...store } = await open(t)
  const { token } = await tokens.create(account(), null, CHOICE)
  const later = createAccessTokens({ ...store, newId, log: createLog('silent'), prefix: 're_full_' })
  assert.ok(later.isMeant(token))
  assert.ok(await later.find(token))
  for (const [text, isMeant] of [
    ['re_full_', true],
    [createCheckedToken('re_full_'), true],
    [createToken('re_'), false],
    [`mh_${'x'.repeat(46)}`, false],
    ['', false],
  ] as const)
    assert.is(later.isMeant(text), isMeant, text)
})

test('access token: an account lists, renames and deletes its own tokens only', async t => {
  const { tokens, account } = await open(t)
  const [one, other] = [account('One'), account('Other')]
  const { token, view } = await tokens.create(one, null, CHOICE)
  await tokens.create(one, null, { ...CHOICE, name: 'second' })
  await tokens.create(other, null, { ...CHOICE, name: 'foreign' })
  const names = async () => (await tokens.list(one)).map(({ name }) => name)
  assert.equal(await names(), ['second', 'Deployment'])
  assert.is(await tokens.get(other, view.id), undefined)
  assert.is(await tokens.rename(other, view.id, 'stolen'), false)
  assert.is(await tokens.delete(other, view.id), false)
  assert.is(await tokens.rename(one, view.id, 'renamed'), true)
  assert.equal(await names(), ['second', 'renamed'])
  assert.ok(await tokens.find(token))
  assert.is(await tokens.exists(view.id), true)
  assert.is(await tokens.delete(one, view.id), true)
  assert.is(await tokens.find(token), undefined)
  assert.is(await tokens.exists(view.id), false)
  assert.is(await tokens.delete(one, view.id), false)
})

test('access token: operator rights count only while the creator has them', async t => {
  const { tokens, account, addUser, change } = await open(t)
  const accountId = account()
  const userId = addUser(accountId, 1)
  const granted = { ...CHOICE, operator: true }
  const { token, view } = await tokens.create(accountId, userId, granted)
  const plain = await tokens.create(accountId, userId, CHOICE)
  const rights = async () => [
    (await tokens.find(token))!.operator,
    (await tokens.get(accountId, view.id))!.operator,
    (await tokens.find(plain.token))!.operator,
  ]
  assert.equal(await rights(), [true, true, false])
  change('update users set operator = 0')
  assert.equal(await rights(), [false, false, false])
  change('update users set operator = 1')
  assert.equal(await rights(), [true, true, false])
  change('delete from users')
  assert.equal(await rights(), [false, false, false])
})

test('access token: operator rights from the command line need no creator', async t => {
  const { tokens, account } = await open(t)
  const accountId = account()
  const { token, view } = await tokens.create(accountId, null, { ...CHOICE, operator: true })
  assert.is((await tokens.find(token))!.operator, true)
  assert.is((await tokens.get(accountId, view.id))!.operator, true)
})

test('access token: a scope of another version grants nothing', async t => {
  const { tokens, account, change } = await open(t)
  const { token } = await tokens.create(account(), null, CHOICE)
  change('update access_tokens set scopes = ?', '["domains:read","calendars:write"]')
  assert.equal((await tokens.find(token))!.scopes, ['domains:read'])
})

test('access token: the last use is recorded within a minute, and when the service stops', async t => {
  const { tokens, account, clock, rows } = await open(t)
  const { view } = await tokens.create(account(), null, CHOICE)
  const lastUsedAt = () => rows<{ at: number | null }>('select last_used_at as at from access_tokens')[0]!.at
  tokens.noteUse(view.id)
  assert.is(lastUsedAt(), null)
  clock.advance(60_000)
  await until(() => lastUsedAt() !== null)
  assert.is(lastUsedAt(), clock.now())
  clock.advance(5_000)
  tokens.noteUse(view.id)
  await tokens.close()
  assert.is(lastUsedAt(), clock.now())
  assert.is(clock.timerCount, 0)
})

if (isOnPostgres)
  test('access token: revoked by one process, it is forgotten by the others', async t => {
    const { tokens, account, location } = await open(t)
    const { token, view } = await tokens.create(account(), null, CHOICE)
    assert.ok(await tokens.find(token))
    const options = { commands, recent: createRecentEmails(), newId: createIdSource() }
    const other = await t.using(openWriting(location, options, STORE_EPOCH))
    const heard: string[] = []
    other.onHeard(announcements => heard.push(...announcements.map(({ topic }) => topic)))
    await tokens.delete(view.accountId, view.id)
    await until(() => heard.includes(KEYS_DELETED))
  })

const OFFICE = networks(['192.0.2.0/24', '2001:db8::1'])
for (const [what, token, address, now, expected] of [
  ['without limits', { expiresAt: null, networks: null }, '198.51.100.1', 1_000, undefined],
  ['before its expiry', { expiresAt: 1_001, networks: null }, '198.51.100.1', 1_000, undefined],
  ['at its expiry', { expiresAt: 1_000, networks: null }, '198.51.100.1', 1_000, 'expired'],
  ['in its IPv4 network', { expiresAt: null, networks: OFFICE }, '192.0.2.77', 1_000, undefined],
  [
    'in it over a dual-stack socket',
    { expiresAt: null, networks: OFFICE },
    '::ffff:192.0.2.77',
    1_000,
    undefined,
  ],
  ['at its IPv6 address', { expiresAt: null, networks: OFFICE }, '2001:db8::1', 1_000, undefined],
  ['at another IPv6 address', { expiresAt: null, networks: OFFICE }, '2001:db8::2', 1_000, 'elsewhere'],
  ['outside its networks', { expiresAt: null, networks: OFFICE }, '192.0.3.1', 1_000, 'elsewhere'],
  ['at an unknown address', { expiresAt: null, networks: OFFICE }, '', 1_000, 'elsewhere'],
  ['outside and expired', { expiresAt: 1, networks: OFFICE }, '192.0.3.1', 1_000, 'expired'],
] as const)
  test(`obstacle: a token ${what}: ${expected ?? 'none'}`, () => {
    assert.is(obstacleTo(token, { address, now })?.kind, expected)
  })

test.run()
