import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { askService, NOT_RUNNING } from '../../../../../src/interfaces/cli/control/client.ts'
import {
  type OperationContext,
  OperationFailed,
  OperationRefused,
} from '../../../../../src/interfaces/cli/control/operation.ts'
import { carryOut } from '../../../../../src/interfaces/cli/control/operations.ts'
import { startControlServer } from '../../../../../src/interfaces/cli/control/server.ts'
import { examineService } from '../../../../../src/interfaces/cli/installation.ts'
import type { DoctorReport } from '../../../../../src/interfaces/doctor/finding.ts'
import { parseWireId, wireId } from '../../../../../src/lib/ids.ts'
import { createLog } from '../../../../../src/lib/log.ts'
import type { PathState } from '../../../../../src/pipeline/queue/paths.ts'
import { hashToken } from '../../../../../src/resources/accounts/tokens.ts'
import { newId, postOver } from '../../../../kit/mail.ts'
import { settled } from '../../../../kit/manual-clock.ts'
import { quickPasswords } from '../../../../kit/quick-passwords.ts'
import { openLocalStore, tempFolder } from '../../../../kit/store.ts'
import { suite, type TestContext } from '../../../../kit/suite.ts'
import { until } from '../../../../kit/until.ts'

const test = suite('control')
const silent = createLog('silent')

const PATH: PathState = {
  sourceIps: ['192.0.2.1'],
  window: 20,
  underWay: 3,
  claimed: 2,
  perSecond: 5,
  openBreaker: { until: Date.UTC(2026, 0, 1), reason: '421 busy' },
  isHalfOpen: false,
  isSpent: false,
}

const REPORT: DoctorReport = {
  ...{ status: 'ok', checked_at: '2026-11-21T13:00:00.000Z', took_ms: 1 },
  findings: [{ check: 'clock', subject: null, status: 'ok', message: 'The clock is right.', advice: null }],
}

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { db, run } = store
  const parts: OperationContext = {
    db,
    run,
    clock: post.clock,
    newId,
    passwords: quickPasswords(),
    apiKeyPrefix: 're_',
    accessTokenPrefix: 'mh_',
    mailHost: 'mail.provider.example',
    pathsTo: async destinations =>
      new Map(
        destinations
          .filter(destination => destination === 'mx.there.test')
          .map(destination => [destination, [PATH]]),
      ),
    sender: null,
    examine: async () => REPORT,
  }
  const refusal = async (name: string, input: unknown) => {
    const error = await carryOut(parts, name, input).then(
      () => undefined,
      reason => reason,
    )
    if (!(error instanceof OperationRefused)) throw new Error(`not refused: ${error}`)
    return error.message
  }
  // biome-ignore lint/suspicious/noExplicitAny: tests look into outputs of every shape
  const done = (name: string, input: unknown): Promise<any> => carryOut(parts, name, input)
  return { ...store, ...post, parts, done, refusal }
}

test('control: the delivery state of destinations is plain JSON', async t => {
  const { done } = await open(t)
  const input = { destinations: ['mx.there.test', 'mx.unknown.test'] }
  const output = await done('destination.paths', input)
  assert.equal(JSON.parse(JSON.stringify(output)), [['mx.there.test', [PATH]]])
})

const NEW_USER = {
  address: 'Ann@Here.Example',
  operator: false,
  account_id: null,
  new_account: null,
  password: null,
}

test('user.create: the user is created in the only account, with a generated password', async t => {
  const { done, account, rows, parts } = await open(t)
  const accountId = account()
  const made = await done('user.create', NEW_USER)
  assert.equal(
    [made.address, made.operator, made.account_id],
    ['ann@here.example', false, wireId('acc', accountId)],
  )
  const [user] = rows<{ id: Uint8Array; email: string; password_hash: string; operator: number }>(
    'select * from users',
  )
  assert.equal([user!.email, user!.operator], ['ann@here.example', 0])
  assert.equal(Buffer.from(user!.id), Buffer.from(parseWireId('usr', made.id)!))
  assert.ok(await parts.passwords.verify(made.password, user!.password_hash))
})

test('user.create: a given password is not returned', async t => {
  const { done, account, rows, parts } = await open(t)
  account()
  const made = await done('user.create', { ...NEW_USER, operator: true, password: 'a long password' })
  assert.is(made.password, null)
  const [user] = rows<{ password_hash: string; operator: number }>('select * from users')
  assert.is(user!.operator, 1)
  assert.ok(await parts.passwords.verify('a long password', user!.password_hash))
})

test('user.create: the user is created in the named account or a new one', async t => {
  const { done, account, rows, refusal } = await open(t)
  const [first] = [account('First'), account('Second')]
  assert.match(await refusal('user.create', NEW_USER), /more than one account/)
  const made = await done('user.create', { ...NEW_USER, account_id: wireId('acc', first!) })
  assert.is(made.account_id, wireId('acc', first!))
  const own = await done('user.create', { ...NEW_USER, address: 'bob@here.example', new_account: 'Third' })
  assert.equal(rows("select name, plan from accounts where name = 'Third'"), [
    { name: 'Third', plan: 'scale' },
  ])
  assert.is.not(own.account_id, made.account_id)
})

for (const [what, input, says] of [
  ['an address that is none', { address: 'ann' }, /The address/],
  ['an address with a line break', { address: 'ann\r\n@here.example' }, /The address/],
  ['a short password', { password: 'short' }, /at least 8/],
  ['an account that is not there', { account_id: wireId('acc', newId(1)) }, /Account acc_\S+ not found/],
  ['an account id that is none', { account_id: 'main' }, /Account main not found/],
  ['an account without a name', { new_account: '' }, /new_account/],
  ['an account whose name breaks the line', { new_account: 'a\nb' }, /new_account/],
  ['an operator of another kind', { operator: 'yes' }, /operator/],
] as const)
  test(`user.create: ${what} creates neither user nor account`, async t => {
    const { refusal, account, rows } = await open(t)
    account()
    assert.match(await refusal('user.create', { ...NEW_USER, ...input }), says)
    assert.equal([rows('select * from users').length, rows('select * from accounts').length], [0, 1])
  })

test('user.create: a duplicate address is refused in any case, without a new account', async t => {
  const { done, refusal, account, rows } = await open(t)
  account()
  await done('user.create', NEW_USER)
  const again = { ...NEW_USER, address: 'ANN@here.example', new_account: 'Another' }
  assert.match(await refusal('user.create', again), /already/)
  assert.equal([rows('select * from users').length, rows('select * from accounts').length], [1, 1])
})

test('account.delete: an account is deleted once, and not that of an operator', async t => {
  const { done, refusal, account } = await open(t)
  const [of, other] = [account('Of operators'), account('Other')].map(id => wireId('acc', id!))
  await done('user.create', { ...NEW_USER, operator: true, account_id: of })
  assert.match(await refusal('account.delete', { account_id: of }), /has an operator/)
  assert.equal(await done('account.delete', { account_id: other }), { account_id: other })
  assert.match(await refusal('account.delete', { account_id: other }), /Account acc_\S+ not found/)
})

test('user.reset_password: all sessions of the user end, and no others', async t => {
  const { done, refusal, account, rows, run, parts } = await open(t)
  account()
  const ann = await done('user.create', NEW_USER)
  const bob = await done('user.create', { ...NEW_USER, address: 'bob@here.example' })
  for (const { id } of [ann, ann, bob]) {
    const userId = parseWireId('usr', id)!
    const [{ hash }] = rows('select password_hash as hash from users where id = ?', userId) as [
      { hash: string },
    ]
    const session = {
      id: newId(1),
      userId,
      tokenHash: hashToken(`${Math.random()}`),
      createdAt: 1,
      lastSeenAt: 1,
    }
    await run('createSession', {
      session: { ...session, kind: 'bearer' },
      passwordHash: hash,
      networkHash: null,
      seen: [],
    })
  }
  const reset = await done('user.reset_password', { address: 'Ann@here.example', password: null })
  assert.equal([reset.address, reset.ended_sessions], ['ann@here.example', 2])
  const [{ hash }] = rows<{ hash: string }>(
    "select password_hash as hash from users where email = 'ann@here.example'",
  ) as [{ hash: string }]
  assert.ok(await parts.passwords.verify(reset.password, hash))
  assert.is(rows('select * from sessions').length, 1)
  assert.match(
    await refusal('user.reset_password', { address: 'c@here.example', password: null }),
    /User c@here\.example not found/,
  )
})

test('key.create: the key of an account or of one of its domains authenticates', async t => {
  const { done, refusal, account, domain, rows } = await open(t)
  const accountId = account()
  const domainId = domain(accountId, 'here.test')
  const key = { name: 'CI', account_id: null, domain: null }
  const made = await done('key.create', key)
  const bound = await done('key.create', { ...key, domain: 'HERE.test' })
  const stored = rows<{ token_hash: Uint8Array; domain_id: Uint8Array | null }>(
    'select * from api_keys order by id',
  )
  assert.equal(
    stored.map(({ token_hash }) => Buffer.from(token_hash).toString('hex')),
    [made, bound].map(({ token }) => Buffer.from(hashToken(token)).toString('hex')),
  )
  assert.equal([stored[0]!.domain_id, Buffer.from(stored[1]!.domain_id!)], [null, Buffer.from(domainId)])
  assert.match(await refusal('key.create', { ...key, domain: 'there.test' }), /no domain there\.test/)
  assert.match(await refusal('key.create', { ...key, name: '' }), /name/)
  assert.match(await refusal('key.create', { ...key, name: 'x'.repeat(51) }), /name/)
})

test('token.create: the token has its limits, and operator rights only if they are granted', async t => {
  const { done, account, rows } = await open(t)
  account()
  const token = { name: 'CI', scopes: ['domains:write'], operator: false }
  const plain = await done('token.create', { token, account_id: null })
  const limited = { ...token, operator: true, expires_in: '1 day', networks: ['192.0.2.0/24'] }
  const { id, token: text, ...made } = await done('token.create', { token: limited, account_id: null })
  assert.match(text, /^mh_[0-9A-Za-z]{46}$/)
  assert.equal([plain.operator, plain.expires_at, plain.networks], [false, null, null])
  assert.equal([made.operator, made.networks, made.scopes], [true, ['192.0.2.0/24'], ['domains:write']])
  const [, row] = rows<Record<string, unknown>>('select * from access_tokens order by id')
  assert.is(new Date(row!.expires_at as number).toISOString(), made.expires_at)
  assert.equal(row!.token_hash, Buffer.from(hashToken(text)))
  assert.equal([row!.user_id, wireId('tok', row!.id as Uint8Array)], [null, id])
})

for (const [fields, says] of [
  [{ name: '' }, /`name`/],
  [{ scopes: [] }, /Missing `scopes` field/],
  [{ scopes: ['all'] }, /Each of `scopes` must be one of full, .*"all"/],
  [{ networks: [] }, /`networks` must not be empty/],
  [{ expires_in: '' }, /`expires_in` must not be empty/],
] as const)
  test(`token.create: ${JSON.stringify(fields)} is refused`, async t => {
    const { refusal, account, rows } = await open(t)
    account()
    const token = { name: 'CI', scopes: ['full'], ...fields }
    assert.match(await refusal('token.create', { token, account_id: null }), says)
    assert.equal(rows('select * from access_tokens'), [])
  })

test('token.delete: a token of any account is deleted and dropped from caches', async t => {
  const { done, refusal, account, rows, announced } = await open(t)
  account()
  const token = { name: 'CI', scopes: ['full'] }
  const { id } = await done('token.create', { token, account_id: null })
  assert.equal(await done('token.delete', { id }), { id })
  assert.equal(rows('select * from access_tokens'), [])
  assert.is(announced('keys deleted').length, 1)
  for (const gone of [id, 'tok_x', wireId('key', newId(1))])
    assert.match(await refusal('token.delete', { id: gone }), /Access token \S+ not found/)
})

test('key.delete: a key of any account is deleted and dropped from caches', async t => {
  const { done, refusal, account, rows, announced } = await open(t)
  account()
  const { id } = await done('key.create', { name: 'CI', account_id: null, domain: null })
  assert.equal(await done('key.delete', { id }), { id })
  assert.equal(rows('select * from api_keys'), [])
  assert.is(announced('keys deleted').length, 1)
  for (const gone of [id, 'key_x', wireId('dom', newId(1))])
    assert.match(await refusal('key.delete', { id: gone }), /API key \S+ not found/)
})

test('queue.steer: all deferred deliveries of a domain are due, or those of all', async t => {
  const { done, refusal, account, domain, send, change, rows, clock } = await open(t)
  const accountId = account()
  domain(accountId, 'here.test')
  const to = Array.from({ length: 50 }, (_, i) => `a${i}@there.test`)
  for (let i = 0; i < 25; i++) await send(accountId, { to })
  await send(accountId, { to: ['a@far.test', 'b@near.test'] })
  change('update deliveries set class = 2, next_at = next_at + 1000')
  const none = { domain: null, account_id: null, broadcast_id: null, email_id: null }
  const retried = async (mail: unknown) => (await done('queue.steer', { what: 'retry', mail })).deliveries
  assert.is(await retried({ ...none, domain: 'there.test' }), 1_250)
  assert.is(await retried({ ...none, domain: 'nowhere.test' }), 0)
  const waiting = () => rows('select domain from deliveries where next_at > ? order by domain', clock.now())
  assert.equal(waiting(), [{ domain: 'far.test' }, { domain: 'near.test' }])
  assert.is(await retried(null), 2)
  assert.equal(waiting(), [])
  assert.match(await refusal('queue.steer', { what: 'cancel', mail: null }), /Specify a domain/)
})

test('queue operations: mail is held, released and canceled by selection; an unknown name is refused', async t => {
  const { done, refusal, account, domain, send, rows } = await open(t)
  const accountId = account()
  domain(accountId, 'here.test')
  const emailId = await send(accountId, { to: ['a@there.test'] })
  const none = { domain: null, account_id: null, broadcast_id: null, email_id: null }
  const mail = { ...none, account_id: wireId('acc', accountId), domain: 'There.Test' }
  assert.is((await done('queue.hold', { mail, reason: 'why' })).is_new, true)
  assert.is((await done('queue.hold', { mail, reason: null })).is_new, false)
  assert.equal(rows('select domain, reason from queue_holds'), [{ domain: 'there.test', reason: 'why' }])
  assert.match(
    await refusal('queue.release', { mail: { ...none, domain: 'there.test' } }),
    /no hold with exactly this selection/,
  )
  await done('queue.release', { mail })
  const named = { ...none, email_id: wireId('eml', emailId) }
  assert.equal(await done('queue.steer', { what: 'cancel', mail: named }), { deliveries: 1, has_more: false })
  const unknown = wireId('eml', newId(1))
  for (const [wrong, says] of [
    [none, /Specify a domain/],
    [{ ...none, domain: 'no domain' }, /not a valid domain/],
    [{ ...none, account_id: 'acc_x' }, /must begin with acc_/],
    [{ ...none, email_id: unknown }, /There is no email eml_/],
    [{ ...none, broadcast_id: wireId('brd', newId(1)) }, /There is no broadcast brd_/],
  ] as const)
    assert.match(await refusal('queue.steer', { what: 'retry', mail: wrong }), says)
  assert.match(await refusal('destination.resume', { destination: 'mx.there.test' }), /is not paused/)
})

test('domain.ban: a domain is banned once, and not that of the service; lifting a ban that is not there is refused', async t => {
  const { done, refusal, rows } = await open(t)
  const ban = { domain: 'Bad.Test', reason: 'phishing' }
  assert.equal(await done('domain.ban', ban), { domain: 'bad.test', is_new: true })
  assert.is((await done('domain.ban', ban)).is_new, false)
  assert.equal(rows('select sender_domain, reason from queue_holds'), [
    { sender_domain: 'bad.test', reason: 'phishing' },
  ])
  for (const domain of ['mail.provider.example', 'provider.example'])
    assert.match(await refusal('domain.ban', { domain, reason: null }), /sends its own email from mail\.prov/)
  assert.match(await refusal('domain.ban', { domain: 'no domain', reason: null }), /not a valid domain/)
  assert.match(await refusal('domain.unban', { domain: 'news.bad.test' }), /news\.bad\.test is not banned/)
  assert.equal(await done('domain.unban', { domain: 'bad.test' }), { domain: 'bad.test' })
})

for (const [name, input] of [
  ['user.drop', {}],
  ['__proto__', {}],
  ['constructor', {}],
  ['', {}],
  ['queue.steer', null],
  ['queue.steer', { what: 'drop', mail: null }],
  ['destination.paths', { destinations: Array(1_001).fill('x') }],
  ['key.delete', { id: 5 }],
] as const)
  test(`${name} with ${JSON.stringify(input).slice(0, 30)} is refused`, async t => {
    const { refusal } = await open(t)
    assert.ok((await refusal(name, input)).length > 0)
  })

/** A service that has nothing but its control socket. */
async function serve(t: TestContext, change: Partial<OperationContext> = {}) {
  const opened = await open(t)
  opened.account()
  const folder = await t.using(tempFolder())
  const server = await startControlServer({
    folder: folder.path,
    context: { ...opened.parts, ...change },
    log: silent,
  })
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= server.close()
    return closing
  }
  t.after(close)
  return { ...opened, folder: folder.path, socket: join(folder.path, 'control.sock'), close }
}

async function errorOf(asking: Promise<unknown>): Promise<Error> {
  return asking.then(
    () => new Error('it was done'),
    (error: Error) => error,
  )
}

/** Writes the bytes and returns the reply. */
async function raw(path: string, bytes: string): Promise<string> {
  const socket = connect(path)
  socket.on('error', () => {})
  socket.end(bytes)
  const chunks = await socket.toArray().catch(() => [])
  return Buffer.concat(chunks).toString()
}

test('control socket: the service executes or refuses an operation', async t => {
  const { folder, rows } = await serve(t)
  const made = (await askService(folder, 'key.create', { name: 'CI', account_id: null, domain: null })) as {
    id: string
  }
  assert.is(rows('select * from api_keys').length, 1)
  assert.equal(await askService(folder, 'key.delete', { id: made.id }), { id: made.id })
  const refused = await errorOf(askService(folder, 'key.delete', { id: made.id }))
  assert.instance(refused, OperationRefused)
  assert.match(refused.message, /API key \S+ not found/)
})

test('control socket: an error in the service is reported as a failure', async t => {
  const { folder } = await serve(t, {
    run: async () => {
      throw new Error('disk full')
    },
  })
  const failed = await errorOf(
    askService(folder, 'key.create', { name: 'CI', account_id: null, domain: null }),
  )
  assert.instance(failed, OperationFailed)
  assert.match(failed.message, /disk full/)
})

test('control socket: only its owner can use it, and it is removed at the stop', async t => {
  const { socket, close, folder } = await serve(t)
  assert.is(statSync(socket).mode & 0o777, 0o600)
  await close()
  assert.not(existsSync(socket))
  assert.is(await askService(folder, 'key.delete', { id: 'x' }), NOT_RUNNING)
})

test('control socket: a stale socket is replaced', async t => {
  const folder = await t.using(tempFolder())
  writeFileSync(join(folder.path, 'control.sock'), '')
  assert.is(await askService(folder.path, 'key.delete', { id: 'x' }), NOT_RUNNING)
  const { parts } = await open(t)
  const server = await startControlServer({ folder: folder.path, context: parts, log: silent })
  t.after(() => server.close())
  assert.instance(await errorOf(askService(folder.path, 'key.delete', { id: 'x' })), OperationRefused)
})

test('control socket: a path that is too long starts the service without a socket', async t => {
  const { path } = await t.using(tempFolder())
  const folder = join(path, 'x'.repeat(120))
  mkdirSync(folder)
  const { parts } = await open(t)
  const server = await startControlServer({ folder, context: parts, log: silent })
  assert.is(await askService(folder, 'key.delete', { id: 'x' }), NOT_RUNNING)
  await server.close()
})

for (const [what, bytes] of [
  ['nothing', ''],
  ['half a line', '{"operation":"key.delete"'],
  ['more than a line can hold', `${'x'.repeat(1_100_000)}\n`],
] as const)
  test(`control socket: ${what} is not answered, and the next one is`, async t => {
    const { socket, folder } = await serve(t)
    assert.is(await raw(socket, bytes), '')
    assert.instance(await errorOf(askService(folder, 'key.delete', { id: 'x' })), OperationRefused)
  })

test('control socket: of ten times the connections, 16 are open, for ten seconds if they say nothing', async t => {
  const { socket, folder, clock } = await serve(t)
  const clients = await Promise.all(
    Array.from({ length: 160 }, async () => {
      const client = connect(socket)
      t.after(() => client.destroy())
      client.on('error', () => {}).resume()
      await new Promise(resolve => client.once('connect', resolve).once('close', resolve))
      return client
    }),
  )
  const openCount = () => clients.filter(client => !client.destroyed && !client.readableEnded).length
  await until(() => openCount() <= 16)
  await until(() => clock.timerCount === 16)
  assert.is(openCount(), 16)
  clock.advance(10_000)
  await until(() => openCount() === 0)
  assert.instance(await errorOf(askService(folder, 'key.delete', { id: 'x' })), OperationRefused)
})

test('control socket: of ten times the longest request, little more than 1 MB is read', async t => {
  const { socket } = await serve(t)
  const client = connect(socket)
  t.after(() => client.destroy())
  client.on('error', () => {})
  let sent = 0
  const piece = Buffer.alloc(64 * 1024, 'x')
  while (!client.destroyed && sent < 10 * 1024 * 1024) {
    await new Promise<void>(resolve => client.write(piece, () => resolve()))
    sent += piece.length
  }
  assert.ok(sent < 3 * 1024 * 1024, `${sent} bytes were sent`)
})

test('control socket: a reply that nobody reads is dropped after ten seconds, and does not delay the stop', async t => {
  const destinations = Array.from({ length: 1_000 }, (_, i) => `mx${i}.there.test`)
  const pathsTo = async () =>
    new Map(destinations.map(destination => [destination, Array<PathState>(10).fill(PATH)]))
  const { socket, clock, close } = await serve(t, { pathsTo })
  const client = connect(socket)
  t.after(() => client.destroy())
  client.on('error', () => {}).pause()
  client.write(`${JSON.stringify({ operation: 'destination.paths', input: { destinations } })}\n`)
  let isClosed = false
  await until(() => clock.timerCount === 1)
  for (let i = 0; i < 20; i++) await settled()
  assert.is(clock.timerCount, 1)
  const closing = close().then(() => {
    isClosed = true
  })
  await settled()
  assert.not(isClosed)
  clock.advance(10_000)
  await closing
})

for (const line of ['no json', '5', 'null', '[]', '{}', '{"operation":5}', '{"operation":"key.delete"}'])
  test(`${line} is refused`, async t => {
    const { socket } = await serve(t)
    assert.match(await raw(socket, `${line}\n`), /^\{"refused":".+"\}\n$/)
  })

test('control socket: closing waits for operations in progress and accepts no more', async t => {
  let go: (() => void) | undefined
  const { promise: requests, resolve: hear } = Promise.withResolvers<void>()
  const { folder, socket, close } = await serve(t, {
    run: () =>
      new Promise(resolve => {
        go = () => resolve(true as never)
        hear()
      }),
  })
  const answer = askService(folder, 'key.create', { name: 'CI', account_id: null, domain: null })
  await requests
  const closed = close()
  await until(() => !existsSync(socket))
  assert.is(await askService(folder, 'key.delete', { id: 'x' }), NOT_RUNNING)
  go!()
  assert.match(((await answer) as { token: string }).token, /^re_/)
  await closed
})

test('control socket: a client may disconnect before the reply', async t => {
  let go: (() => void) | undefined
  const { promise: requests, resolve: hear } = Promise.withResolvers<void>()
  const { socket, close } = await serve(t, {
    run: () =>
      new Promise(resolve => {
        go = () => resolve(true as never)
        hear()
      }),
  })
  const client = connect(socket)
  client.write('{"operation":"key.create","input":{"name":"a","account_id":null,"domain":null}}\n')
  await requests
  client.destroy()
  go!()
  await close()
})

for (const [what, leaves] of [
  ['closes the connection within its request', (client: Socket) => void client.destroy()],
  [
    'sends two requests and leaves',
    (client: Socket) => client.write('"}\n{"operation":"x"}\n', () => client.destroy()),
  ],
] as const)
  test(`control socket: a client ${what}; the next one is served, and the service can stop`, async t => {
    const { socket, folder, close } = await serve(t)
    const client = connect(socket)
    client.on('error', () => {})
    await once(client, 'connect')
    await new Promise<void>(resolve => client.write('{"operation":"key.del', () => resolve()))
    leaves(client)
    await once(client, 'close')
    assert.instance(await errorOf(askService(folder, 'key.delete', { id: 'x' })), OperationRefused)
    await close()
  })

test('control socket: a client leaves within a reply that it does not read; the service can stop', async t => {
  const { promise: requests, resolve: hear } = Promise.withResolvers<void>()
  const paths = Array.from({ length: 20_000 }, () => PATH)
  const { socket, folder, close } = await serve(t, {
    async pathsTo(destinations) {
      hear()
      return new Map(destinations.map(destination => [destination, paths]))
    },
  })
  const client = connect(socket)
  client.on('error', () => {})
  client.write('{"operation":"destination.paths","input":{"destinations":["mx.there.test"]}}\n')
  await requests
  await once(client, 'readable')
  client.destroy()
  assert.instance(await errorOf(askService(folder, 'key.delete', { id: 'x' })), OperationRefused)
  await close()
})

test('control socket: a service that stops before its reply is reported', async t => {
  const { path } = await t.using(tempFolder())
  const { createServer } = await import('node:net')
  const server = createServer(socket => socket.once('data', () => socket.destroy()))
  await new Promise<void>(resolve => server.listen(join(path, 'control.sock'), resolve))
  t.after(() => server.close())
  const failed = await errorOf(askService(path, 'key.delete', { id: 'x' }))
  assert.instance(failed, OperationFailed)
  assert.match(failed.message, /stopped before it responded/)
})

test('doctor.run: the running service makes the checks; without it, nobody does', async t => {
  const { folder, close } = await serve(t, {})
  assert.equal(await examineService(folder), REPORT)
  await close()
  assert.is(await examineService(folder), null)
})

test('doctor.run: a service of an older version is not asked', async t => {
  const { path } = await t.using(tempFolder())
  const { createServer } = await import('node:net')
  const older = createServer(socket => socket.once('data', () => socket.end('{"refused":"The service …"}\n')))
  await new Promise<void>(resolve => older.listen(join(path, 'control.sock'), resolve))
  t.after(() => older.close())
  assert.is(await examineService(path), null)
})

test('domain.rotate_keys: the verified domain is chosen among equal names', async t => {
  const { done, refusal, account, domain, change, rows } = await open(t)
  const [one, other] = [account('One'), account('Other')]
  domain(one, 'here.test', { status: 'pending' })
  domain(other, 'here.test')
  const input = { name: 'Here.Test', account_id: null }
  assert.match(await refusal('domain.rotate_keys', input), /Here\.Test has no active DKIM key yet/)
  change(
    'insert into dkim_keys (id, domain_id, slot, token, algorithm, public_key, private_key, created_at, active_from) ' +
      "select ?, id, 1, 'abc', 'rsa-sha256', 'AAAA', ?, 0, 1 from domains where account_id = ?",
    Buffer.alloc(16, 1),
    Buffer.alloc(1),
    other,
  )
  const wanted = await done('domain.rotate_keys', input)
  assert.equal([wanted.name, wanted.account_id], ['here.test', wireId('acc', other)])
  assert.is(rows('select * from key_rotations').length, 1)
  assert.match(
    await refusal('domain.rotate_keys', { ...input, account_id: wireId('acc', one) }),
    /no active DKIM key yet/,
  )
  assert.match(
    await refusal('domain.rotate_keys', { name: 'there.test', account_id: null }),
    /Domain there\.test not found/,
  )
  assert.match(await refusal('domain.rotate_keys', { name: 'a b', account_id: null }), /Domain a b not found/)
})

test.run()
