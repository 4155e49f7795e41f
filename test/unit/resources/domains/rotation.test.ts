import * as assert from 'uvu/assert'
import { type Id, idKey } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import { createSecretKeys } from '../../../../src/lib/secret-keys.ts'
import type { Resolver } from '../../../../src/protocols/dns/resolver.ts'
import {
  DKIM_KEYS_CHANGED,
  type DkimKeyFacts,
  findDomain,
  findKeyFacts,
  findPublishedKey,
  findSigningKeys,
  findWantedRotation,
} from '../../../../src/resources/domains/domain-rows.ts'
import { createDomains, dkimContext } from '../../../../src/resources/domains/domains.ts'
import { keyState } from '../../../../src/resources/domains/key-life.ts'
import { keyText } from '../../../../src/resources/domains/key-text.ts'
import { rotateKeys } from '../../../../src/resources/domains/rotation.ts'
import { readyKeys } from '../../../kit/dkim-keys.ts'
import { NO_LINK_HOSTS, testInquiries } from '../../../kit/inquiries.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { createRandom } from '../../../kit/random.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('domains/rotation')
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MAIL_HOST = 'mail.provider.example.com'
const secrets = createSecretKeys(Buffer.alloc(32, 1))

/** A verified domain, resolvers that see what is published, unless told otherwise, and the job. */
async function open(t: TestContext, { rotateAfterDays = 180 as number | null } = {}) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const ready = readyKeys()
  let made = 0
  const generateKey: typeof ready = async algorithm => ({
    ...(await ready(algorithm)),
    publicKey: `KEY${++made}`,
  })
  const accountId = post.account()
  const domains = createDomains({
    ...NO_LINK_HOSTS,
    ...{ ...store, clock, newId, secrets, generateKey },
    mailHost: MAIL_HOST,
    inquiries: testInquiries(),
  })
  const sight = { one: 'open', other: 'open' } as Record<
    'one' | 'other',
    'open' | 'blind' | 'away' | 'deceived'
  >
  const resolverOf = (who: 'one' | 'other') => ({
    server: who,
    resolver: {
      async txt(host: string) {
        const key = await findPublishedKey(store.find, host.split('.')[0]!)
        if (sight[who] === 'away') return { kind: 'failure', reason: 'away' }
        if (sight[who] === 'deceived') return { kind: 'found', records: ['v=DKIM1; k=rsa; p=KEY'] }
        if (!key || sight[who] === 'blind') return { kind: 'no-domain' }
        return { kind: 'found', records: [keyText(key)] }
      },
    } as Pick<Resolver, 'txt'> as Resolver,
  })
  const logged: { event: string; domain: string; selector: string; key: string }[] = []
  const options = {
    ...{ ...store, clock, newId, secrets, generateKey },
    log: createLog('info', { write: line => void logged.push(JSON.parse(line)) }),
    mailHost: MAIL_HOST,
    laboratory: false,
    resolvers: [resolverOf('one'), resolverOf('other')],
    rotateAfterMs: rotateAfterDays === null ? null : rotateAfterDays * DAY_MS,
    shownForMs: 120 * DAY_MS,
  }
  const round = async (run = store.run) => {
    for await (const _ of rotateKeys({ ...options, run })) void _
  }
  const verified = async (name: string) => {
    const domain = await domains.create(accountId, name, 'us-west-2')
    if (typeof domain === 'string') throw new Error(domain)
    const { id } = domain
    const check = { accountId, id, at: clock.now(), visibleSlots: [1, 2, 3], checks: '{}' }
    return (await store.run('recordDomainCheck', { ...check, outcome: 'good' }))!.domain
  }
  const keysOf = async (id: Id) => (await findDomain(store.db, accountId, id))!.keys
  const states = async (id: Id) =>
    (await keysOf(id)).map(key => `${key.slot} ${keyState(key)} ${key.publicKey}`)
  return { ...store, ...post, domains, accountId, sight, round, verified, keysOf, states, logged }
}

test('DKIM rotation: keys rotate on schedule and selectors keep their tokens', async t => {
  const { verified, round, states, clock, keysOf } = await open(t)
  const { id, keys: first } = await verified('here.test')
  const after = async (ms: number) => {
    clock.advance(ms)
    await round()
    return states(id)
  }
  assert.equal(await after(180 * DAY_MS - 1), ['1 signing KEY1', '2 published KEY2', '3 signing KEY3'])
  assert.equal(await after(1), ['1 retired KEY1', '2 signing KEY2', '3 retired KEY3'])
  assert.equal(await after(7 * DAY_MS), ['1 retired KEY1', '2 signing KEY2', '3 retired KEY3'])
  assert.equal(await after(HOUR_MS), ['1 revoked KEY1', '2 signing KEY2', '3 revoked KEY3'])
  assert.equal(await after(DAY_MS), ['1 published KEY4', '2 signing KEY2', '3 published KEY5'])
  assert.equal(await after(2 * DAY_MS - 1), ['1 published KEY4', '2 signing KEY2', '3 published KEY5'])
  assert.equal(await after(1), ['1 published KEY4', '2 signing KEY2', '3 signing KEY5'])
  assert.equal(await after(180 * DAY_MS - 10 * DAY_MS - HOUR_MS), [
    '1 signing KEY4',
    '2 retired KEY2',
    '3 retired KEY5',
  ])
  assert.equal(
    (await keysOf(id)).map(({ token }) => token),
    first.map(({ token }) => token),
  )
})

test('DKIM rotation: every change of a key is announced, so that no thread signs with the former ones', async t => {
  const { verified, round, states, clock, announced } = await open(t)
  const { id } = await verified('here.test')
  let before = (await states(id)).join()
  const changed: boolean[] = []
  for (const ms of [180 * DAY_MS, 7 * DAY_MS + HOUR_MS, DAY_MS, 2 * DAY_MS, 1]) {
    const announcements = announced(DKIM_KEYS_CHANGED).length
    clock.advance(ms)
    await round()
    const after = (await states(id)).join()
    assert.is(announced(DKIM_KEYS_CHANGED).length > announcements, after !== before, `${before} -> ${after}`)
    changed.push(after !== before)
    before = after
  }
  assert.equal(changed, [true, true, true, true, false])
})

test('DKIM rotation: the log names each step of a key', async t => {
  const { verified, round, clock, keysOf, logged } = await open(t)
  const { id, name } = await verified('here.test')
  for (const ms of [180 * DAY_MS, 7 * DAY_MS + HOUR_MS, DAY_MS]) {
    clock.advance(ms)
    await round()
  }
  const keys = await keysOf(id)
  const steps = logged.map(({ event, domain, selector }) => {
    assert.is(domain, name)
    return `${event} ${keys.find(({ token }) => token === selector)?.slot}`
  })
  assert.equal(steps.sort(), [
    'dkim_key_activated 2',
    'dkim_key_published 1',
    'dkim_key_published 3',
    'dkim_key_revoked 1',
    'dkim_key_revoked 3',
  ])
})

test('DKIM rotation: a requested rotation happens once', async t => {
  const { verified, round, states, clock, run, rows } = await open(t, { rotateAfterDays: null })
  const { id } = await verified('here.test')
  clock.advance(2 * DAY_MS)
  await round()
  assert.equal(await states(id), ['1 signing KEY1', '2 published KEY2', '3 signing KEY3'])
  const wantedAt = clock.now()
  assert.is(await run('wantRotation', { domainId: id, at: wantedAt }), wantedAt)
  assert.is(await run('wantRotation', { domainId: id, at: wantedAt + 5 }), wantedAt)
  await round()
  assert.equal(await states(id), ['1 retired KEY1', '2 signing KEY2', '3 retired KEY3'])
  assert.equal(rows('select * from key_rotations'), [])
  clock.advance(365 * DAY_MS)
  for (let i = 0; i < 5; i++) await round()
  assert.match((await states(id))[1]!, /2 signing KEY2/)
})

test('DKIM rotation: a request needs an existing domain with an active key', async t => {
  const { domains, accountId, run, clock, verified } = await open(t)
  const pending = await domains.create(accountId, 'new.test', 'us-west-2')
  if (typeof pending === 'string') throw new Error(pending)
  assert.is(await run('wantRotation', { domainId: pending.id, at: clock.now() }), undefined)
  const { id } = await verified('here.test')
  await run('wantRotation', { domainId: id, at: clock.now() })
  await domains.delete(accountId, id)
  assert.is(await run('wantRotation', { domainId: id, at: clock.now() }), undefined)
})

test('DKIM rotation: an invisible key is not activated', async t => {
  const { verified, round, states, clock, sight } = await open(t)
  const { id } = await verified('here.test')
  clock.advance(180 * DAY_MS)
  for (const [one, other, isUsed] of [
    ['blind', 'blind', false],
    ['open', 'blind', false],
    ['away', 'away', false],
    ['away', 'blind', false],
    ['deceived', 'deceived', false],
    ['open', 'deceived', false],
    ['open', 'away', true],
  ] as const) {
    Object.assign(sight, { one, other })
    await round()
    assert.is((await states(id))[1]!.includes('signing'), isUsed, `${one} ${other}`)
  }
})

test('DKIM rotation: a private key is kept as long as its mail is shown', async t => {
  const { verified, round, clock, rows } = await open(t)
  await verified('here.test')
  clock.advance(180 * DAY_MS)
  await round()
  const stored = () =>
    rows<{ slot: number; token: string; private_key: Uint8Array }>(
      'select slot, token, private_key from dkim_keys order by slot',
    )
  const retired = stored()
  clock.advance(8 * DAY_MS)
  await round()
  clock.advance(DAY_MS)
  await round()
  const former = () =>
    rows<{ private_key: Uint8Array | null }>(
      'select private_key from former_dkim_keys order by retired_at, id',
    )
  const secretsOf = (keys: readonly { private_key: Uint8Array | null }[]) =>
    keys.map(key => key.private_key && Buffer.from(key.private_key).toString('hex')).sort()
  assert.equal(secretsOf(former()), secretsOf([retired[0]!, retired[2]!]))
  clock.advance(111 * DAY_MS)
  await round()
  assert.is(
    former().every(key => key.private_key !== null),
    true,
  )
  clock.advance(DAY_MS)
  await round()
  assert.equal(secretsOf(former()), [null, null])
  for (const { token, private_key: box } of stored())
    assert.is(secrets.open(box, dkimContext(token))[0], 0x30)
})

test('DKIM rotation: a domain check does not activate a new key early', async t => {
  const { verified, round, states, clock, run, accountId } = await open(t)
  const { id } = await verified('here.test')
  clock.advance(180 * DAY_MS)
  await round()
  clock.advance(8 * DAY_MS)
  await round()
  clock.advance(DAY_MS)
  await round()
  const check = { accountId, id, at: clock.now(), visibleSlots: [1, 2, 3], checks: '{}' }
  await run('recordDomainCheck', { ...check, outcome: 'good' })
  assert.equal(await states(id), ['1 published KEY4', '2 signing KEY2', '3 published KEY5'])
})

test('DKIM rotation: deleting a domain deletes former keys and requests', async t => {
  const { verified, round, clock, domains, accountId, run, rows } = await open(t)
  const { id } = await verified('here.test')
  for (const ms of [180 * DAY_MS, 8 * DAY_MS, DAY_MS]) {
    clock.advance(ms)
    await round()
  }
  await run('wantRotation', { domainId: id, at: clock.now() })
  assert.is(rows('select * from former_dkim_keys').length, 2)
  await domains.delete(accountId, id)
  for (const table of ['dkim_keys', 'former_dkim_keys', 'key_rotations'])
    assert.equal(rows(`select * from ${table}`), [])
})

test('DKIM rotation: all pages of domains are processed', async t => {
  const { verified, round, clock, rows } = await open(t)
  for (let i = 0; i < 205; i++) await verified(`d${i}.test`)
  clock.advance(180 * DAY_MS)
  await round()
  assert.is(rows('select * from dkim_keys where slot = 2 and active_from is not null').length, 205)
})

test('DKIM rotation: killed in any step, one RSA key signs that was public for 48 h', async t => {
  const seed = Number(process.env.FUZZ_SEED ?? 20_261_121)
  const random = createRandom(seed)
  const { verified, round, clock, run, db, sight, keysOf } = await open(t, { rotateAfterDays: 12 })
  const { id } = await verified('here.test')
  /** A store whose caller dies before or after the commit. */
  const deadly: typeof run = async (name, input) => {
    if (random.next() < 0.15) throw new Error('killed before the commit')
    const output = await run(name, input)
    if (random.next() < 0.15) throw new Error('killed after the commit')
    return output
  }
  const publishedSince = new Map<string, { publicKey: string; at: number }>()
  const lastUse = new Map<string, { key: DkimKeyFacts; at: number }>()

  for (let step = 0; step < 400; step++) {
    clock.advance(random.below(28 * HOUR_MS))
    const now = clock.now()
    for (const who of ['one', 'other'] as const)
      sight[who] = random.of(['open', 'open', 'open', 'blind', 'away'])
    if (random.next() < 0.02) await run('wantRotation', { domainId: id, at: now })
    await round(deadly).catch(error => assert.match(error.message, /^killed/))

    const what = `seed ${seed}, step ${step}`
    const signing = await findSigningKeys(db, id)
    assert.is(signing.filter(({ algorithm }) => algorithm === 'rsa-sha256').length, 1, what)
    const keys = await keysOf(id)
    assert.is(keys.length, 3, what)
    for (const { token, publicKey, revokedAt } of keys) {
      const shown = revokedAt === null ? publicKey : ''
      if (publishedSince.get(token)?.publicKey !== shown)
        publishedSince.set(token, { publicKey: shown, at: now })
    }
    for (const key of signing) {
      assert.ok(key.privateKey.length > 0, what)
      const since = publishedSince.get(key.token)!
      assert.is(since.publicKey, key.publicKey, what)
      assert.ok(key.activeFrom === key.createdAt || key.activeFrom! - key.createdAt >= 2 * DAY_MS, what)
      lastUse.set(idKey(key.id), { key, at: now })
    }
    for (const { key, at } of lastUse.values()) {
      if (now - at <= 7 * DAY_MS) assert.is(publishedSince.get(key.token)!.publicKey, key.publicKey, what)
      const facts = await findKeyFacts(db, key.id)
      assert.equal([facts?.token, facts?.publicKey], [key.token, key.publicKey], what)
    }
  }
  assert.ok(lastUse.size > 20, `${lastUse.size} keys have signed`)
})

test('DKIM rotation: the keys that sign, and a request, are those of one domain', async t => {
  const { verified, run, db, clock } = await open(t)
  const [here, there] = [await verified('here.test'), await verified('there.test')]
  for (const { id, keys } of [here, there]) {
    const signing = await findSigningKeys(db, id)
    assert.equal(
      signing.map(({ token }) => token),
      [keys[0]!.token, keys[2]!.token],
    )
  }
  await run('wantRotation', { domainId: here.id, at: clock.now() })
  assert.equal(
    [await findWantedRotation(db, here.id), await findWantedRotation(db, there.id)],
    [clock.now(), null],
  )
})

test.run()
