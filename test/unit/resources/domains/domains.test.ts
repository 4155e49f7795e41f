import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import type { DomainChanges } from '../../../../src/resources/domains/commands.ts'
import { dnsRecordsOf } from '../../../../src/resources/domains/dns-records.ts'
import type { DomainWithKeys } from '../../../../src/resources/domains/domain-rows.ts'
import {
  createDomains,
  type Domains,
  dkimContext,
  type GenerateKey,
} from '../../../../src/resources/domains/domains.ts'
import { readyKeys } from '../../../kit/dkim-keys.ts'
import { NO_LINK_HOSTS, testInquiries } from '../../../kit/inquiries.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

const test = suite('domains/domains')
const HOUR_MS = 3_600_000
const secrets = createSecretKeys(Buffer.alloc(32, 1))

async function open(
  t: TestContext,
  mailHost = 'mailhorn.test',
  silenceMs?: number,
  more: { pendingMax?: number; generateKey?: GenerateKey } = {},
) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const zone = await t.using(startZone(''))
  const inquiries = await t.using(testInquiries([zone.server], silenceMs))
  const domains = createDomains({
    ...NO_LINK_HOSTS,
    ...store,
    clock: post.clock,
    newId,
    secrets,
    generateKey: readyKeys(),
    mailHost,
    inquiries,
    ...more,
  })
  const publish = (domain: DomainWithKeys, only: (record: string) => boolean = () => true) => {
    for (const { record, type, host, value, priority } of dnsRecordsOf(domain, mailHost))
      if (only(record))
        zone.add(`${host} ${type} ${type === 'MX' ? priority : ''} ${type === 'TXT' ? `"${value}"` : value}`)
  }
  const events = () =>
    store
      .rows<{ type: string; data: string }>('select type, data from events order by id')
      .map(({ type }) => type)
  return { ...store, ...post, zone, domains, publish, events, accountId: post.account() }
}

async function created(domains: Domains, accountId: Id, name = 'here.test') {
  const domain = await domains.create(accountId, name, 'us-west-2')
  if (typeof domain === 'string') throw new Error(domain)
  return domain
}

const activeSlots = ({ keys }: DomainWithKeys) =>
  keys.filter(({ activeFrom }) => activeFrom !== null).map(({ slot }) => slot)

test('create domain: it is pending with three published keys', async t => {
  const { domains, accountId, events, clock } = await open(t)
  const domain = await created(domains, accountId)
  assert.equal([domain.status, domain.createdAt, domain.verifiedAt], ['pending', clock.now(), null])
  assert.equal(
    domain.keys.map(({ slot, algorithm }) => `${slot} ${algorithm}`),
    ['1 rsa-sha256', '2 rsa-sha256', '3 ed25519-sha256'],
  )
  assert.equal(activeSlots(domain), [])
  assert.match(domain.verificationToken, /^[a-z2-7]{32}$/)
  const tokens = [domain.verificationToken, ...domain.keys.map(({ token }) => token)]
  assert.is(new Set(tokens).size, 4)
  assert.equal(events(), ['domain.created'])
})

test('create domain: concurrent requests respect the limit of pending domains', async t => {
  let keysMade = 0
  const make = readyKeys()
  const generateKey: GenerateKey = algorithm => {
    keysMade++
    return make(algorithm)
  }
  const { domains, accountId, account } = await open(t, 'mailhorn.test', undefined, {
    pendingMax: 2,
    generateKey,
  })
  const names = Array.from({ length: 10 }, (_, at) => `d${at}.test`)
  const results = await Promise.all(names.map(name => domains.create(accountId, name, 'us-west-2')))
  assert.is(results.filter(result => result === 'too-many').length, 8)
  assert.is(await domains.create(accountId, 'd0.test', 'us-west-2'), 'exists')
  assert.is(keysMade, 6)
  await created(domains, account(), 'd0.test')
  assert.is(keysMade, 9, 'each account has its own number')
})

test('create domain: verified and deleted domains do not count as pending', async t => {
  const { domains, accountId, change } = await open(t, 'mailhorn.test', undefined, { pendingMax: 1 })
  const first = await created(domains, accountId, 'first.test')
  for (const [status, result] of [
    ['failed', 'too-many'],
    ['pending', 'too-many'],
  ] as const) {
    change('update domains set status = ?', status)
    assert.is(await domains.create(accountId, 'second.test', 'us-west-2'), result, status)
  }
  change('update domains set status = ?', 'temporary_failure')
  const second = await created(domains, accountId, 'second.test')
  assert.is(await domains.create(accountId, 'third.test', 'us-west-2'), 'too-many')
  assert.ok(await domains.delete(accountId, second.id))
  await created(domains, accountId, 'third.test')
  assert.is((await domains.find(accountId, first.id))!.status, 'temporary_failure')
})

test('DKIM keys: private keys are sealed to their selector', async t => {
  const { domains, accountId, rows } = await open(t)
  await created(domains, accountId)
  const stored = rows<{ token: string; private_key: Buffer }>(
    'select token, private_key from dkim_keys order by slot',
  )
  for (const [i, { token, private_key: box }] of stored.entries()) {
    assert.is(secrets.open(box, dkimContext(token))[0], 0x30)
    assert.throws(() => secrets.open(box, dkimContext(stored[(i + 1) % 3]!.token)))
  }
})

test('DKIM keys: private keys are never returned', async t => {
  const { domains, accountId } = await open(t)
  const { id } = await created(domains, accountId)
  const found = await domains.find(accountId, id)
  const { rows } = await domains.list(accountId, { limit: 10, offset: 0, cursor: null })
  for (const domain of [found!, rows[0]!])
    for (const key of domain.keys) assert.not(Object.keys(key).includes('privateKey'))
})

test('create domain: a name is unique per account', async t => {
  const { domains, accountId, account, rows, events } = await open(t)
  await created(domains, accountId)
  assert.is(await domains.create(accountId, 'here.test', 'eu-west-1'), 'exists')
  await created(domains, account('Other'))
  assert.is(rows('select * from domains').length, 2)
  assert.is(rows('select * from dkim_keys').length, 6)
  assert.equal(events(), ['domain.created', 'domain.created'])
})

test('create domain: two concurrent requests create one domain', async t => {
  const { domains, accountId, rows } = await open(t)
  const results = await Promise.all([1, 2, 3].map(() => domains.create(accountId, 'here.test', 'us-west-2')))
  assert.is(results.filter(result => result === 'exists').length, 2)
  assert.is(rows('select * from domains').length, 1)
})

test('create domain: a name verified elsewhere is refused, its subdomain is not', async t => {
  const { domains, accountId, account, domain } = await open(t)
  domain(account('Other'), 'here.test', { status: 'temporary_failure' })
  assert.is(await domains.create(accountId, 'here.test', 'us-west-2'), 'verified-elsewhere')
  await created(domains, accountId, 'sub.here.test')
})

test('change domain: a setting with another value is recorded once, one that keeps its value is not', async t => {
  const { domains, accountId, account, events } = await open(t)
  const { id } = await created(domains, accountId)
  const recorded = async (changes: DomainChanges, of = accountId) => {
    const before = events().length
    const changed = await domains.change(of, id, changes)
    return [
      changed && Object.keys(changes).map(key => changed[key as keyof DomainChanges]),
      events().slice(before),
    ]
  }
  assert.equal(await recorded({ openTracking: 1 }), [[1], ['domain.updated']])
  assert.equal(await recorded({ openTracking: 1 }), [[1], []])
  assert.equal(await recorded({ openTracking: 1, clickTracking: 1, receiving: 1 }), [
    [1, 1, 1],
    ['domain.updated'],
  ])
  assert.equal(await recorded({}), [[], []])
  assert.equal(await recorded({ openTracking: 0 }, account('Other')), [undefined, []])
  assert.equal(await recorded({ openTracking: 1 }), [[1], []], 'another account has changed nothing')
})

test('verification: correct records verify the domain and activate its keys', async t => {
  const { domains, accountId, publish, events, clock } = await open(t)
  const domain = await created(domains, accountId)
  publish(domain)
  clock.advance(1_000)
  const { domain: verified, checks } = (await domains.verify(accountId, domain.id))!
  assert.equal(
    [verified.status, verified.verifiedAt, verified.lastCheckedAt],
    ['verified', clock.now(), clock.now()],
  )
  assert.equal(activeSlots(verified), [1, 3])
  assert.equal(JSON.parse(verified.checks!), checks)
  assert.equal(events(), ['domain.created', 'domain.updated', 'domain.verified'])
  clock.advance(HOUR_MS)
  const again = (await domains.verify(accountId, domain.id))!.domain
  assert.is(again.keys[0]!.activeFrom, clock.now() - HOUR_MS)
  assert.is(again.verifiedAt, clock.now() - HOUR_MS)
  assert.equal(events(), ['domain.created', 'domain.updated', 'domain.verified'])
})

test('verification: ownership and the first DKIM record suffice; an invisible key stays inactive', async t => {
  const { domains, accountId, publish, zone } = await open(t)
  const domain = await created(domains, accountId)
  publish(domain, record => ['Verification', 'DKIM 1'].includes(record))
  const first = (await domains.verify(accountId, domain.id))!.domain
  assert.equal([first.status, ...activeSlots(first)], ['verified', 1])
  publish(domain, record => record === 'DKIM 3')
  assert.ok(zone)
  const second = (await domains.verify(accountId, domain.id))!.domain
  assert.equal(activeSlots(second), [1, 3])
})

test('verification: without ownership or the first DKIM record the domain stays pending', async t => {
  for (const missing of ['Verification', 'DKIM 1']) {
    const { domains, accountId, publish } = await open(t)
    const domain = await created(domains, accountId)
    publish(domain, record => record !== missing)
    const checked = (await domains.verify(accountId, domain.id))!.domain
    assert.equal([checked.status, ...activeSlots(checked)], ['pending'], missing)
  }
})

test('verification: with a public provider zone the CNAMEs must lead to the keys', async t => {
  const { domains, accountId, publish, zone } = await open(t, 'mail.provider.example.com')
  const domain = await created(domains, accountId)
  publish(domain)
  assert.is((await domains.verify(accountId, domain.id))!.domain.status, 'pending')
  for (const { token, publicKey } of domain.keys)
    zone.add(`${token}.dkim.mail.provider.example.com TXT "v=DKIM1; p=${publicKey}"`)
  assert.is((await domains.verify(accountId, domain.id))!.domain.status, 'verified')
})

test('verification: of two accounts the first to verify a name gets it', async t => {
  const { domains, accountId, account, publish, rows } = await open(t)
  const other = account('Other')
  const [mine, theirs] = [await created(domains, accountId), await created(domains, other)]
  publish(mine)
  publish(theirs)
  const results = await Promise.all([domains.verify(accountId, mine.id), domains.verify(other, theirs.id)])
  assert.equal(results.map(result => result!.domain.status).sort(), ['pending', 'verified'])
  assert.equal(rows('select status from domains order by status'), [
    { status: 'pending' },
    { status: 'verified' },
  ])
})

test('verification: after its deletion another account can verify the name', async t => {
  const { domains, accountId, account, publish } = await open(t)
  const other = account('Other')
  const [mine, theirs] = [await created(domains, accountId), await created(domains, other)]
  publish(mine)
  publish(theirs)
  await domains.verify(accountId, mine.id)
  assert.is((await domains.verify(other, theirs.id))!.domain.status, 'pending')
  assert.is(await domains.delete(accountId, mine.id), true)
  assert.is((await domains.verify(other, theirs.id))!.domain.status, 'verified')
})

test('verification: missing records cause temporary_failure, then failed, and recovery', async t => {
  const { domains, accountId, publish, zone, clock, events } = await open(t)
  const domain = await created(domains, accountId)
  publish(domain)
  const status = async () => (await domains.verify(accountId, domain.id))!.domain.status
  assert.is(await status(), 'verified')
  zone.set('')
  assert.is(await status(), 'temporary_failure')
  clock.advance(72 * HOUR_MS)
  assert.is(await status(), 'failed')
  publish(domain)
  assert.is(await status(), 'verified')
  const [updated, verified] = ['domain.updated', 'domain.verified']
  assert.equal(events(), ['domain.created', updated, verified, updated, updated, updated, verified])
})

test('verification: a negative result is confirmed; lost answers change nothing', async t => {
  const { domains, accountId, publish, zone, rows } = await open(t, undefined, 300)
  const domain = await created(domains, accountId)
  publish(domain)
  const status = async () => (await domains.verify(accountId, domain.id))!.domain.status
  assert.is(await status(), 'verified')
  for (const trouble of ['SERVFAIL', 'TIMEOUT', 'REFUSED']) {
    zone.set(`*.test ${trouble}`)
    const { domain: remaining, checks } = (await domains.verify(accountId, domain.id))!
    assert.equal([remaining.status, checks.ownership.status], ['verified', 'verified'], trouble)
  }
  zone.set('')
  zone.queries.splice(0)
  assert.is(await status(), 'temporary_failure')
  assert.is(zone.queries.filter(({ name }) => name === '_svc.here.test').length, 2)
  assert.not.equal(rows('select failing_since from domains'), [{ failing_since: null }])
})

test('verification: concurrent requests share a check', async t => {
  const { domains, accountId, publish, zone } = await open(t)
  const domain = await created(domains, accountId)
  publish(domain)
  const answers = await Promise.all([1, 2, 3, 4].map(() => domains.verify(accountId, domain.id)))
  assert.ok(answers.every(answer => answer!.domain.status === 'verified'))
  assert.is(zone.queries.filter(({ name }) => name === '_svc.here.test').length, 1)
})

test('verification: a name verified elsewhere is reported', async t => {
  const { domains, accountId, account, publish } = await open(t)
  const other = account('Other')
  const [mine, theirs] = [await created(domains, accountId), await created(domains, other)]
  publish(mine)
  publish(theirs)
  await domains.verify(accountId, mine.id)
  const { domain, checks } = (await domains.verify(other, theirs.id))!
  assert.equal([domain.status, checks.ownership.problems[0]!.code], ['pending', 'verified_elsewhere'])
})

test('delete domain: keys are deleted, an event is recorded, other accounts are refused', async t => {
  const { domains, accountId, account, rows, events } = await open(t)
  const domain = await created(domains, accountId)
  const other = account('Other')
  assert.is(await domains.delete(other, domain.id), false)
  assert.is(await domains.find(other, domain.id), undefined)
  assert.is(await domains.verify(other, domain.id), undefined)
  assert.is(await domains.delete(accountId, domain.id), true)
  assert.is(await domains.delete(accountId, domain.id), false)
  assert.equal([rows('select * from domains'), rows('select * from dkim_keys')], [[], []])
  assert.equal(events(), ['domain.created', 'domain.deleted'])
  const [{ data }] = rows<{ data: string }>("select data from events where type = 'domain.deleted'") as [
    { data: string },
  ]
  const told = JSON.parse(data)
  assert.equal(
    [told.name, told.status, told.verified_at, told.selectors.length],
    ['here.test', 'pending', null, 3],
  )
})

test('domain events: each setting is told as it was set, and no other', async t => {
  const { domains, accountId, rows } = await open(t)
  const { id } = await created(domains, accountId)
  const none: DomainChanges = { openTracking: 0, clickTracking: 0, sending: 0, receiving: 0 }
  const told = async (changes: DomainChanges) => {
    await domains.change(accountId, id, { ...none, ...changes })
    const data = JSON.parse(rows<{ data: string }>('select data from events order by id').at(-1)!.data)
    return [data.open_tracking, data.click_tracking, data.sending, data.receiving]
  }
  assert.equal(await told({ openTracking: 1 }), [true, false, false, false])
  assert.equal(await told({ clickTracking: 1 }), [false, true, false, false])
  assert.equal(await told({ sending: 1 }), [false, false, true, false])
  assert.equal(await told({ receiving: 1 }), [false, false, false, true])
})

test('delete domain: a check in progress does not restore it', async t => {
  const { domains, accountId, publish, rows } = await open(t)
  const domain = await created(domains, accountId)
  publish(domain)
  const checking = domains.verify(accountId, domain.id)
  await domains.delete(accountId, domain.id)
  assert.is(await checking, undefined)
  assert.equal(rows('select * from domains'), [])
})

test('list domains: pages, newest first, with keys', async t => {
  const { domains, accountId, account, clock } = await open(t)
  await created(domains, account('Other'), 'foreign.test')
  for (const name of ['a.test', 'b.test', 'c.test']) {
    clock.advance(1)
    await created(domains, accountId, name)
  }
  const page = async (limit: number, offset: number) => {
    const { total, rows } = await domains.list(accountId, { limit, offset, cursor: null })
    assert.ok(
      rows.every(
        ({ id, keys }) => keys.length === 3 && keys.every(key => Buffer.from(key.domainId).equals(id)),
      ),
    )
    return [total, ...rows.map(({ name }) => name)]
  }
  assert.equal(await page(2, 0), [3, 'c.test', 'b.test'])
  assert.equal(await page(2, 2), [3, 'a.test'])
  assert.equal(await page(2, 4), [3])
})

test.run()
