import * as assert from 'uvu/assert'
import type { CheckedSource, SourceSettings } from '../../../../src/interfaces/cli/command.ts'
import { OperationFailed, OperationRefused } from '../../../../src/interfaces/cli/control/operation.ts'
import { carryOut } from '../../../../src/interfaces/cli/control/operations.ts'
import { CommandError, duration, printable, table } from '../../../../src/interfaces/cli/control/result.ts'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import type { DoctorReport } from '../../../../src/interfaces/doctor/finding.ts'
import { wireId } from '../../../../src/lib/ids.ts'
import { StartFault } from '../../../../src/lib/start-fault.ts'
import { type PathState, pathView } from '../../../../src/pipeline/queue/paths.ts'
import { RecordFault } from '../../../../src/protocols/dns/record-text.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const NO_SETTINGS: SourceSettings = {
  sourceIps: [],
  localName: 'here.test',
  plan: { caps: [], starts: new Map() },
}

const test = suite('cli')

interface Asked {
  name: string
  input: unknown
}

const SOUND: DoctorReport = {
  status: 'ok',
  checked_at: '2026-11-21T13:00:00.000Z',
  took_ms: 1_234,
  findings: [{ check: 'clock', subject: null, status: 'ok', message: 'The clock is right.', advice: null }],
}

const NO_MAIL = { domain: null, account_id: null, broadcast_id: null, email_id: null }

/** The program over a real database, whose changes are only noted, or fail as the test wants. */
const PATH: PathState = {
  sourceIps: ['192.0.2.1'],
  window: 20,
  underWay: 3,
  claimed: 2,
  perSecond: 5,
  openBreaker: { until: Date.UTC(2026, 0, 1), reason: '421 \x1b[2Jbusy' },
  isHalfOpen: false,
  isSpent: false,
}

async function open(
  t: TestContext,
  {
    fails,
    input = '',
    sources = [],
    settings = {},
    report = SOUND,
    earlier = [],
    zoneFault,
  }: {
    fails?: Error
    input?: string
    sources?: CheckedSource[]
    settings?: Partial<SourceSettings>
    report?: DoctorReport
    /** Reports that come before it. */
    earlier?: DoctorReport[]
    /** Error in the configured records. */
    zoneFault?: Error
  } = {},
) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const requests: Asked[] = []
  const folders: (string | undefined)[] = []
  const later = [...earlier]
  const said: string[] = []
  const pauses: number[] = []
  const examined: { hasDatabase: boolean; dataDir: string | undefined }[] = []
  const outputs: Record<string, unknown> = {
    'user.create': {
      id: 'usr_1',
      address: 'a@b.c',
      operator: false,
      account_id: 'acc_1',
      password: 'secret',
    },
    'user.reset_password': { address: 'a@b.c', password: null, ended_sessions: 1 },
    'key.create': { id: 'key_1', name: 'n', account_id: 'acc_1', domain: null, token: 're_secret' },
    'key.delete': { id: 'key_1' },
    'token.create': { id: 'tok_1', token: 'mh_secret' },
    'token.delete': { id: 'tok_1' },
    'queue.steer': { deliveries: 2, has_more: false },
    'queue.hold': { id: 'hld_1', is_new: true },
    'queue.release': { id: 'hld_1' },
    'destination.resume': { destination: 'mx.there.test' },
    'domain.rotate_keys': { id: 'dom_1', name: 'here.test', account_id: 'acc_1', requested_at: 'then' },
  }
  const run = async (...args: string[]) => {
    let [out, err] = ['', '']
    const code = await runProgram(args, {
      version: '1.2.3',
      async openInstallation(dataDir) {
        folders.push(dataDir)
        if (dataDir === '/nothing') throw new CommandError('there is no database')
        const change = async (name: string, value: unknown) => {
          requests.push({ name, input: value })
          if (fails) throw fails
          return outputs[name]
        }
        const pathsTo = async (destinations: readonly string[]) =>
          new Map(destinations.filter(name => name === 'mx.there.test').map(name => [name, [PATH]]))
        const parts = { db: store.db, clock: post.clock, change: change as never, pathsTo }
        return { ...parts, isDiskFull: async () => false, close: async () => {} }
      },
      checkSources: async () => sources,
      zoneRecords() {
        if (zoneFault) throw zoneFault
        return {
          mailHost: 'mail.here.test',
          records: [
            { name: 'mail.here.test', ttlSeconds: 3_600, type: 'A', address: '192.0.2.1' },
            { name: '_dmarc.mail.here.test', ttlSeconds: 3_600, type: 'TXT', text: 'v=DMARC1; p=reject' },
          ],
        }
      },
      sourceSettings: () => ({ ...NO_SETTINGS, ...settings }),
      backupSettings: () => assert.unreachable() as never,
      importSettings: () => assert.unreachable() as never,
      examine: async (db, dataDir) => {
        examined.push({ hasDatabase: db !== null, dataDir })
        return later.shift() ?? report
      },
      examineHost: () => assert.unreachable() as never,
      interfaceAddresses: () => assert.unreachable() as never,
      ask: () => assert.unreachable() as never,
      say: text => void said.push(text),
      pause: async ms => void pauses.push(ms),
      readInput: async () => input,
      out: text => {
        out += text
      },
      err: text => {
        err += text
      },
    })
    return { code, out, err }
  }
  return { ...store, ...post, accountId, requests, folders, runLine: run, examined, said, pauses }
}

test('help: every command is listed and described', async t => {
  const { runLine, folders } = await open(t)
  for (const args of [['help'], ['--help'], ['-h']]) {
    const { code, out } = await runLine(...args)
    assert.is(code, 0)
    for (const name of [
      'user list',
      'user create',
      'key delete',
      'queue show',
      'queue retry',
      'serve',
      'version',
    ])
      assert.ok(out.includes(name), name)
  }
  for (const args of [
    ['help', 'user', 'create'],
    ['user', 'create', '--help'],
    ['user', 'create', '-h', 'x', 'y'],
  ]) {
    const { code, out } = await runLine(...args)
    assert.is(code, 0)
    assert.match(out, /Usage: mailhorn user create <address>/)
    assert.match(out, /--password-stdin/)
  }
  for (const args of [
    ['help', 'serve'],
    ['serve', '--help'],
  ])
    assert.match((await runLine(...args)).out, /^Usage: mailhorn serve/)
  const family = await runLine('help', 'user')
  assert.match(family.out, /user list[\s\S]+user create[\s\S]+user password/)
  assert.equal(folders, [])
})

/** The commands in the overview, with the usage that their help says. */
async function usages(runLine: (...args: string[]) => Promise<{ out: string }>) {
  const { out } = await runLine('help')
  const names = [...out.matchAll(/^ {2}(\w+(?: \w+)?) {2,}\S/gm)].map(([, name]) => name!)
  return Promise.all(
    names
      .filter(name => !['serve', 'version'].includes(name))
      .map(async name => {
        const help = (await runLine('help', ...name.split(' '))).out
        const usage = help.split('\n')[0]!.slice(`Usage: mailhorn ${name}`.length)
        const options = [...usage.matchAll(/--[a-z-]+/g)].map(([option]) => option)
        const words = usage.replace(/\[--[^\]]*\]|--[a-z-]+ <[^>]*>/g, '')
        const mandatory = words.replace(/\[[^\]]*\]/g, '')
        // alternatives, such as domains or --all
        const required = mandatory.includes('|') ? 0 : (mandatory.match(/<[^>]*>/g)?.length ?? 0)
        const max = /…/.test(words) ? undefined : required + (words.match(/\[[^\]]*\]/g)?.length ?? 0)
        return { name, help, options, required, max }
      }),
  )
}

test('usage: each command wants as many arguments as its usage says', async t => {
  const { runLine, folders } = await open(t)
  const commands = await usages(runLine)
  assert.ok(commands.length > 40)
  for (const { name, required, max } of commands) {
    const line = (count: number) => runLine(...name.split(' '), ...Array<string>(count).fill('x'))
    if (required > 0) {
      const { code, err } = await line(required - 1)
      assert.is(code, 2, name)
      assert.match(err, 'missing argument', name)
    }
    if (max === undefined) continue
    const { code, err } = await line(max + 1)
    assert.is(code, 2, name)
    // a second word may be no argument, but the name of another command of the family
    assert.match(err, /unexpected argument "x"|unknown subcommand "x"/, name)
  }
  assert.equal(folders, [])
})

test('usage: each option of a usage exists, and is described', async t => {
  const { runLine } = await open(t)
  for (const { name, help, options } of await usages(runLine))
    for (const option of options) {
      // the help of a line with options that do not exist is an error
      const { code } = await runLine(
        ...name.split(' '),
        option,
        ...(isFlag(help, option) ? [] : ['x']),
        '--help',
      )
      assert.is(code, 0, `${name} ${option}`)
      assert.ok(help.split('\n').slice(1).join('\n').includes(option), `${name} ${option}`)
    }
})

function isFlag(help: string, option: string): boolean {
  return !new RegExp(`${option} [<a-z]`).test(help.split('\n')[0]!)
}

test('version: it is printed', async t => {
  const { runLine } = await open(t)
  assert.equal(await runLine('version'), { code: 0, out: '1.2.3\n', err: '' })
  assert.equal(await runLine('--version'), { code: 0, out: '1.2.3\n', err: '' })
})

for (const [args, says] of [
  [[], /no command given/],
  [['usr'], /unknown command "usr"/],
  [['help', 'usr'], /unknown command "usr"/],
  [['user'], /user requires a subcommand[\s\S]+user create/],
  [
    ['user', 'drop'],
    /unknown subcommand "drop" of user; known are list, create, password\. See mailhorn help user/,
  ],
  [['help', 'user', 'drop'], /unknown subcommand "drop" of user/],
  [['user', '--json'], /user requires a subcommand/],
  [['user', 'create'], /missing argument[\s\S]+Usage: mailhorn user create/],
  [['user', 'create', 'a@b.c', 'd@e.f'], /unexpected argument "d@e\.f"/],
  [['user', 'create', 'a@b.c', '--operater'], /Unknown option '--operater'/],
  [['user', 'create', 'a@b.c', '--account'], /argument missing/],
  [['user', 'create', 'a@b.c', '--account', 'x', '--new-account', 'y'], /cannot be combined/],
  [['user', 'create', 'a@b.c', '--operator=yes'], /does not take an argument/],
  [['user', 'list', 'x'], /unexpected argument "x"/],
  [['queue', 'x'], /unknown subcommand "x" of queue; known are show, retry, /],
  [['domains', 'remove', 'a.test'], /unknown subcommand "remove" of domains; known are .*ban/],
  [['queue', '--limit', '0'], /--limit/],
  [['queue', '--limit', '1e3'], /--limit/],
  [['queue', 'retry'], /specify the domains/],
  [['queue', 'retry', '--all', 'there.test'], /specify the domains/],
  [['queue', 'retry', 'no domain'], /"no domain" is not a valid domain/],
  [['queue', 'retry', 'there.test', '--account', 'acc_1'], /specify the domains/],
  [['queue', 'hold'], /specify --domain/],
  [['queue', 'hold', 'there.test'], /unexpected argument "there\.test"/],
  [['queue', 'release', '--reason', 'x'], /Unknown option '--reason'/],
  [['queue', 'cancel'], /specify --domain/],
  [['destinations', '--day', '2026-13-01'], /--day must be a date/],
  [['destinations', '--day', '2026-02-30'], /--day must be a date/],
  [['destinations', '--day', 'today'], /--day/],
  [['destinations', 'resume'], /missing argument/],
  [['key', 'create'], /missing argument/],
  [['key', 'delete', 'a', 'b'], /unexpected argument "b"/],
  [['token', 'create', 'CI'], /--scopes is required/],
] as const)
  test(`"${args.join(' ')}" is a usage error, and nothing is opened`, async t => {
    const { runLine, folders } = await open(t)
    const { code, out, err } = await runLine(...args)
    assert.equal([code, out], [2, ''])
    assert.match(err, /^mailhorn: /)
    assert.match(err, says)
    assert.equal(folders, [])
  })

for (const [args, name, input] of [
  [
    ['user', 'create', 'a@b.c'],
    'user.create',
    { address: 'a@b.c', operator: false, account_id: null, new_account: null, password: null },
  ],
  [
    ['user', 'create', '--operator', 'a@b.c', '--account', 'acc_1', '--password-stdin'],
    'user.create',
    { address: 'a@b.c', operator: true, account_id: 'acc_1', new_account: null, password: 'from input' },
  ],
  [
    ['user', 'create', 'a@b.c', '--new-account', 'Two words'],
    'user.create',
    { address: 'a@b.c', operator: false, account_id: null, new_account: 'Two words', password: null },
  ],
  [['user', 'password', 'a@b.c'], 'user.reset_password', { address: 'a@b.c', password: null }],
  [['key', 'create', 'CI key'], 'key.create', { name: 'CI key', account_id: null, domain: null }],
  [
    ['key', 'create', 'CI', '--account=acc_1', '--domain=here.test'],
    'key.create',
    { name: 'CI', account_id: 'acc_1', domain: 'here.test' },
  ],
  [['key', 'delete', 'key_1'], 'key.delete', { id: 'key_1' }],
  [
    ['token', 'create', 'CI', '--scopes', 'full'],
    'token.create',
    { token: { name: 'CI', scopes: ['full'], operator: false }, account_id: null },
  ],
  [
    [
      ...['token', 'create', 'CI', '--scopes', 'domains:read, emails:send', '--operator', '--account=acc_1'],
      ...['--expires-in', '90d', '--networks', '192.0.2.0/24,::1'],
    ],
    'token.create',
    {
      token: {
        ...{ name: 'CI', scopes: ['domains:read', 'emails:send'], operator: true },
        ...{ expires_in: '90d', networks: ['192.0.2.0/24', '::1'] },
      },
      account_id: 'acc_1',
    },
  ],
  [
    ['token', 'create', 'CI', '--scopes=', '--networks=', '--expires-in='],
    'token.create',
    {
      token: { name: 'CI', scopes: [], operator: false, expires_in: '', networks: [] },
      account_id: null,
    },
  ],
  [['token', 'delete', 'tok_1'], 'token.delete', { id: 'tok_1' }],
  [
    ['queue', 'retry', 'bücher.test'],
    'queue.steer',
    { what: 'retry', mail: { ...NO_MAIL, domain: 'xn--bcher-kva.test' } },
  ],
  [['queue', 'retry', '--all'], 'queue.steer', { what: 'retry', mail: null }],
  [
    ['queue', 'retry', '--account', 'acc_1'],
    'queue.steer',
    { what: 'retry', mail: { ...NO_MAIL, account_id: 'acc_1' } },
  ],
  [
    ['queue', 'hold', '--domain', 'there.test', '--reason', 'spam run'],
    'queue.hold',
    { mail: { ...NO_MAIL, domain: 'there.test' }, reason: 'spam run' },
  ],
  [['queue', 'release', '--email', 'eml_1'], 'queue.release', { mail: { ...NO_MAIL, email_id: 'eml_1' } }],
  [
    ['queue', 'cancel', '--broadcast', 'brd_1'],
    'queue.steer',
    { what: 'cancel', mail: { ...NO_MAIL, broadcast_id: 'brd_1' } },
  ],
  [['destinations', 'resume', 'mx.there.test'], 'destination.resume', { destination: 'mx.there.test' }],
] as const)
  test(`"${args.join(' ')}" is ${name}`, async t => {
    const { runLine, requests } = await open(t, { input: 'from input\r\nsecond line\n' })
    const { code, err } = await runLine(...args)
    assert.equal([code, err], [0, ''])
    assert.equal(requests, [{ name, input }])
  })

test('output: results are text, and JSON with --json', async t => {
  const { runLine } = await open(t)
  assert.match(
    (await runLine('user', 'create', 'a@b.c')).out,
    /User a@b\.c was created\.\nPassword.*: secret\n/,
  )
  assert.is(JSON.parse((await runLine('user', 'create', 'a@b.c', '--json')).out).password, 'secret')
  assert.is(
    (await runLine('user', 'password', 'a@b.c')).out,
    'The password of a@b.c was reset; 1 session was ended.\n',
  )
  assert.match(
    (await runLine('token', 'create', 'n', '--scopes=full')).out,
    /^tok_1\nAccess token.*: mh_secret\n$/,
  )
  assert.match((await runLine('key', 'create', 'n')).out, /^key_1\nAPI key.*: re_secret\n$/)
  assert.equal(JSON.parse((await runLine('key', 'delete', 'key_1', '--json')).out), {
    id: 'key_1',
    deleted: true,
  })
  assert.is(
    (await runLine('queue', 'retry', 'there.test')).out,
    '2 deferred deliveries will be tried next. Holds and paused destinations still apply.\n',
  )
})

test('--password-stdin: empty input is refused', async t => {
  const { runLine, requests } = await open(t, { input: '\n' })
  const { code, err } = await runLine('user', 'password', 'a@b.c', '--password-stdin')
  assert.is(code, 1)
  assert.match(err, /contains no password/)
  assert.equal(requests, [])
})

for (const [fails, says] of [
  [new OperationRefused('There is no user a@b.c.'), /^mailhorn: There is no user a@b\.c\.\n$/],
  [new OperationFailed('The service ended.'), /^mailhorn: The service ended\.\n$/],
  [new CommandError('it is in use'), /^mailhorn: it is in use\n$/],
  [new TypeError('a bug'), /^mailhorn: TypeError: a bug\n +at /],
] as const)
  test(`exit code: ${fails.message} gives 1`, async t => {
    const { runLine } = await open(t, { fails })
    const { code, out, err } = await runLine('user', 'password', 'a@b.c')
    assert.equal([code, out], [1, ''])
    assert.match(err, says)
  })

test('--data-dir: it selects the data folder', async t => {
  const { runLine, folders } = await open(t)
  await runLine('user', 'list')
  await runLine('user', 'list', '--data-dir', 'some/where')
  assert.equal(folders, [undefined, 'some/where'])
})

test('global options may stand before the command, as help shows them', async t => {
  const { runLine, folders } = await open(t)
  const { code } = await runLine('--data-dir', 'some/where', 'user', 'list')
  const json = await runLine('--json', '--data-dir=elsewhere', 'user', 'list')
  const both = await runLine('--data-dir', 'before', 'user', 'list', '--json')
  assert.equal([code, json.code, both.code], [0, 0, 0])
  assert.equal(folders, ['some/where', 'elsewhere', 'before'])
  assert.ok(JSON.parse(json.out))
  assert.is((await runLine('--data-dir')).code, 2)
  assert.is((await runLine('--json')).code, 2)
})

test('user list, key list, token list: users, keys and tokens are listed', async t => {
  const { runLine, run, db, clock, change } = await open(t)
  const passwords = { hash: async () => 'hash', verify: async () => true }
  const parts = {
    db,
    run,
    clock,
    newId,
    passwords,
    apiKeyPrefix: 're_',
    accessTokenPrefix: 'mh_',
    mailHost: 'mail.provider.example',
    pathsTo: async () => new Map(),
    sender: null,
    examine: null,
  }
  const user = { operator: true, account_id: null, new_account: null, password: null }
  await carryOut(parts, 'user.create', { ...user, address: 'ann@here.test' })
  await carryOut(parts, 'key.create', { name: 'CI', account_id: null, domain: null })
  const token = { name: 'Robot', scopes: ['domains:read', 'emails:send'], expires_in: 60 }
  await carryOut(parts, 'token.create', { token, account_id: null })
  change('update accounts set name = ?', 'Main\x1b[31m')
  const users = JSON.parse((await runLine('user', 'list', '--json')).out).users
  assert.equal(
    users.map((shown: { address: string; operator: boolean; account: string }) => [
      shown.address,
      shown.operator,
      shown.account,
    ]),
    [['ann@here.test', true, 'Main\x1b[31m']],
  )
  assert.match(
    (await runLine('user', 'list')).out,
    /^ADDRESS +OPERATOR .*\nann@here\.test +yes +Main \[31m +acc_/,
  )
  const { out } = await runLine('key', 'list')
  assert.match(out, /CI +re_\w{5} +Main \[31m +all +never/)
  assert.not.match(out, /\x1b/)
  const [key] = JSON.parse((await runLine('key', 'list', '--json')).out).keys
  assert.equal([key.name, key.domain, key.last_used_at], ['CI', null, null])
  const tokens = await runLine('token', 'list')
  assert.match(
    tokens.out,
    /Robot +mh_\w{5} +Main \[31m +domains:read,emails:send +no +2026-11-21T13:01 +never\n/,
  )
  assert.not.match(tokens.out, /\x1b/)
  const [robot] = JSON.parse((await runLine('token', 'list', '--json')).out).tokens
  assert.equal([robot.scopes, robot.networks, robot.last_used_at], [token.scopes, null, null])
  for (const table of ['access_tokens', 'api_keys'])
    change(`update ${table} set last_used_at = ?`, Date.UTC(2026, 10, 20, 9, 5))
  assert.match((await runLine('token', 'list')).out, / 2026-11-20T09:05\n/)
  assert.match((await runLine('key', 'list')).out, / 2026-11-20T09:05\n/)
})

test('queue show: domains are sorted by size, and remote text is one line', async t => {
  const { runLine, send, domain, accountId, clock, change, run } = await open(t)
  domain(accountId, 'here.test')
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@far.test'] })
  const set = (values: string, address: string) =>
    change(`update deliveries set ${values} where address = ?`, address)
  const next = clock.now() + 4 * 3_600_000
  set(
    `class = 2, next_at = ${next}, last_reply = '451 4.7.1 \x1b[31mbusy\r\nnow', last_mx_host = 'mx.there.test'`,
    'a@there.test',
  )
  set('state = 1', 'c@far.test')
  const holdId = newId(clock.now())
  clock.advance(3 * 3_600_000)
  const { out } = await runLine('queue')
  assert.equal(out.split('\n').slice(0, 3), [
    'DOMAIN      QUEUED  DEFERRED  IN PROGRESS  HELD  OLDEST  NEXT  REASON',
    'there.test       1         1            0     0  3 h     now   mx.there.test deferred the message without a known reason.',
    'far.test         0         0            1     0  3 h     –',
  ])
  assert.match(out, /1 queued, 1 deferred, 1 in progress, 0 held, for 2 domains\./)
  const limited = await runLine('queue', 'show', '--limit', '1')
  assert.match(limited.out, /Showing 1 to 1 of 2; use --offset 1 to show more/)
  assert.not.match(limited.out, /far\.test/)
  const json = JSON.parse((await runLine('queue', '--json')).out)
  assert.equal([json.fresh, json.deferred, json.under_way, json.domain_count], [1, 1, 1, 2])
  assert.equal(json.domains[0], {
    domain: 'there.test',
    fresh: 1,
    deferred: 1,
    under_way: 0,
    held: 0,
    oldest_at: new Date(clock.now() - 3 * 3_600_000).toISOString(),
    next_at: new Date(clock.now() - 3 * 3_600_000).toISOString(),
    last_reply: 'mx.there.test: 451 4.7.1 \x1b[31mbusy\r\nnow',
    explanation: {
      code: 'deferred',
      summary: 'mx.there.test deferred the message without a known reason.',
      action: 'Nothing to do: it is retried until 2026-11-23 13:00 UTC.',
      next_attempt_at: new Date(next).toISOString(),
    },
  })
  const held = { domain: 'there.test', accountId: null, broadcastId: null, emailId: null }
  await run('putHold', {
    ...held,
    id: holdId,
    reason: null,
    origin: 'operator',
    createdAt: clock.now(),
    releasedAt: null,
  })
  assert.match(
    (await runLine('queue')).out,
    /there\.test +0 +0 +0 +2 +3 h +– +mx\.[\s\S]* 2 held, for 2 domains\./,
  )
  const [there] = JSON.parse((await runLine('queue', '--json')).out).domains
  assert.equal([there.fresh, there.deferred, there.held, there.next_at], [0, 0, 2, null])
})

test('queue show: an empty queue is reported', async t => {
  const { runLine } = await open(t)
  assert.is((await runLine('queue')).out, 'The queue is empty.\n')
})

test('queue retry: all domains that are named are retried, and their deliveries are added up', async t => {
  const { runLine, requests } = await open(t)
  const { out } = await runLine('queue', 'retry', 'There.TEST', 'far.test')
  assert.equal(
    requests.map(({ input }) => input),
    ['there.test', 'far.test'].map(domain => ({ what: 'retry', mail: { ...NO_MAIL, domain } })),
  )
  assert.match(out, /^4 deferred deliveries /)
})

test('queue ages, queue destinations: deliveries are shown by age, held ones separately', async t => {
  const { runLine, send, domain, accountId, clock, run, change } = await open(t)
  domain(accountId, 'here.test')
  await send(accountId, { to: ['a@there.test', 'b@there.test', 'c@far.test'] })
  const held = { domain: 'far.test', accountId: null, broadcastId: null, emailId: null }
  const [id, createdAt] = [newId(clock.now()), clock.now()]
  await run('putHold', {
    ...held,
    id,
    origin: 'operator',
    reason: 'a \x1b[31mreason',
    createdAt,
    releasedAt: null,
  })
  change("insert into domain_destinations values ('there.test', 'mx.there.test', 0)")
  clock.advance(7 * 60_000)
  const { out } = await runLine('queue', 'ages')
  assert.equal(
    out.split('\n').map(line => line.split(/ +/).slice(0, 6).join(' ')),
    ['DOMAIN TOTAL HELD 5 10 20', 'there.test 2 0 0 2 0', 'far.test 1 1 0 1 0', ''],
  )
  const byDestination = await runLine('queue', 'destinations')
  assert.match(byDestination.out, /^DESTINATION [\s\S]+mx\.there\.test +2[\s\S]+\(unknown\) +1/)
  assert.match((await runLine('queue', 'holds')).out, /far\.test +7 min +a \[31mreason/)
  const [hold] = JSON.parse((await runLine('queue', 'holds', '--json')).out)
  assert.equal([hold.id, hold.domain, hold.account_id], [wireId('hld', id), 'far.test', null])
})

test('destinations show: results and replies are shown', async t => {
  const { runLine, change, clock } = await open(t)
  assert.match((await runLine('destinations')).out, /No deliveries on that day/)
  const day = new Date(clock.now()).toISOString().slice(0, 10)
  change(
    'insert into counters values (?, ?, ?, 3)',
    new Uint8Array(16),
    'destination.deferred.rate-limited mx.there.test',
    day,
  )
  change(
    'insert into destination_replies values (?, ?, ?, ?, ?, ?, 3, 0)',
    ...[day, 'mx.there.test', '421 slow #', '421 slow\x1b down', 'deferred', 'rate-limited'],
  )
  assert.match(
    (await runLine('destinations', '--day', day)).out,
    /mx\.there\.test +0 +3 +0 +0 +421 slow down/,
  )
  const [destination] = JSON.parse((await runLine('destinations', '--json')).out)
  assert.equal(
    [destination.destination, destination.deferred_by_class, destination.replies[0].count],
    ['mx.there.test', { 'rate-limited': 3 }, 3],
  )
  assert.equal(destination.paths, [pathView(PATH)])
  assert.match(
    (await runLine('destinations')).out,
    /Current delivery state:\nDESTINATION.*\nmx\.there\.test +192\.0\.2\.1 +3 +20 +5\/s +paused until 2026-01-01T00:00:00\.000Z: 421 \[2Jbusy/,
  )
})

test('table: columns are aligned, numbers on the right', () => {
  assert.is(
    table(
      ['A', 'COUNT', 'C'],
      [
        ['long name', 5, ''],
        ['b', 12_345, 'x'],
      ],
    ),
    'A          COUNT  C\nlong name      5\nb          12345  x',
  )
})

for (const [ms, text] of [
  [-5, '0 s'],
  [0, '0 s'],
  [59_000, '59 s'],
  [60_000, '1 min'],
  [90_000, '2 min'],
  [3_599_000, '60 min'],
  [3_600_000, '1 h'],
  [5_400_000, '2 h'],
  [47 * 3_600_000, '47 h'],
  [48 * 3_600_000 - 1_000, '48 h'],
  [48 * 3_600_000, '2 d'],
  [60 * 3_600_000, '3 d'],
] as const)
  test(`duration: ${ms} ms is ${text}`, () => {
    assert.is(duration(ms), text)
  })

test('printable: control characters become a space', () => {
  assert.is(printable('a\r\n\x1b[2Jb\u202ec\u2028d'), 'a [2Jb c d')
})

test('source show: addresses are shown with their reverse DNS problems', async t => {
  const sources = [
    { address: '192.0.2.1', name: 'mail1.here.test', faults: [] },
    { address: '192.0.2.2', name: 'mail2.here.test', faults: ['192.0.2.2 is named a\u001b[2J.test'] },
  ]
  const { runLine: run } = await open(t, { sources })
  const shown = await run('source')
  assert.is(
    shown.out,
    '192.0.2.1 mail1.here.test: ok\n192.0.2.2 mail2.here.test: failed\n  192.0.2.2 is named a [2J.test\n',
  )
  assert.equal(JSON.parse((await run('source', '--json')).out), sources)
  assert.match((await (await open(t)).runLine('source')).out, 'delivery.source_ips is not set')
})

test('dns records: a wrong record of the configuration is named without a trace, before the database is opened', async t => {
  const { runLine, folders } = await open(t, { zoneFault: new RecordFault('form a loop of aliases') })
  const { code, out, err } = await runLine('dns', 'records')
  assert.equal([code, out], [1, ''])
  assert.is(err, 'mailhorn: the configuration is wrong: dns.records form a loop of aliases\n')
  assert.equal(folders, [])
})

test('an error that nobody foresaw is printed with its trace, one from the start by its message', async t => {
  for (const [zoneFault, pattern] of [
    [new TypeError('unforeseen'), /^mailhorn: TypeError: unforeseen\n +at /],
    [new StartFault('the key is missing'), /^mailhorn: the key is missing\n$/],
    [
      Object.assign(new Error('the key is missing'), { code: 'START_FAULT' }),
      /^mailhorn: the key is missing\n$/,
    ],
  ] as const) {
    const { runLine } = await open(t, { zoneFault })
    const { code, err } = await runLine('dns', 'records')
    assert.is(code, 1)
    assert.match(err, pattern)
  }
})

test('dns records: the zone is printed as a zone file, keys of domains last', async t => {
  const { runLine, change, domain, accountId } = await open(t)
  domain(accountId, 'here.test')
  const key = (id: number, token: string, revokedAt: string) =>
    change(
      'insert into dkim_keys (id, domain_id, slot, token, algorithm, public_key, private_key, created_at, revoked_at) ' +
        `select ?, id, ?, ?, 'rsa-sha256', 'AAAA', ?, 0, ${revokedAt} from domains`,
      Buffer.alloc(16, id),
      id,
      token,
      Buffer.alloc(0),
    )
  key(1, 'abc', 'null')
  key(2, 'def', '1')
  const { out } = await runLine('dns', 'records')
  assert.equal(out.trim().split('\n'), [
    'mail.here.test. 3600 IN A 192.0.2.1',
    '_dmarc.mail.here.test. 3600 IN TXT "v=DMARC1; p=reject"',
    'abc.dkim.mail.here.test. 300 IN TXT "v=DKIM1; k=rsa; p=AAAA"',
    'def.dkim.mail.here.test. 300 IN TXT "v=DKIM1; k=rsa; p="',
  ])
  const { zone, records } = JSON.parse((await runLine('dns', 'records', '--json')).out)
  assert.equal([zone, records.length], ['mail.here.test', 4])
  assert.equal(records[0], { name: 'mail.here.test', type: 'A', ttl: 3_600, value: '192.0.2.1' })
})

test('domains rotate: a rotation is requested', async t => {
  const { runLine, requests } = await open(t)
  const { code, out } = await runLine('domains', 'rotate', 'here.test')
  assert.equal([code, out], [0, 'Key rotation of here.test was requested.\n'])
  await runLine('domains', 'rotate', 'here.test', '--account', 'acc_1')
  assert.equal(
    requests.map(({ name, input }) => [name, input]),
    [
      ['domain.rotate_keys', { name: 'here.test', account_id: null }],
      ['domain.rotate_keys', { name: 'here.test', account_id: 'acc_1' }],
    ],
  )
  assert.is((await runLine('domains', 'rotate')).code, 2)
})

test('source warmup: progress and messages of today are shown', async t => {
  const addresses = ['192.0.2.1', '192.0.2.2']
  const {
    runLine: run,
    run: command,
    clock,
  } = await open(t, {
    settings: {
      sourceIps: addresses.map(address => ({ address, name: null })),
      plan: { caps: [50, 100, 200], starts: new Map([['192.0.2.2', Date.UTC(2026, 10, 20)]]) },
    },
  })
  const today = { address: '192.0.2.2', day: '2026-11-21', max: 100 }
  await command('grantWarmup', { ...today, provider: 'google', wanted: 70 })
  await command('grantWarmup', { ...today, provider: 'other', wanted: 5 })
  await command('putDestinationState', {
    ...{ destination: 'mx.down.test', source: '192.0.2.1', pausedUntil: clock.now() + 60_000 },
    ...{ pauseMs: 60_000, reason: 'no answer', changedAt: clock.now() },
  })
  const { out } = await run('source', 'warmup')
  assert.equal(out.split('\n').slice(0, 3), [
    'ADDRESS    DAY   CAP  SENT TODAY          PAUSED DESTINATIONS',
    '192.0.2.1  warm                                             1',
    '192.0.2.2  2     100  google 70, other 5                    0',
  ])
  const [warm, cold] = JSON.parse((await run('source', 'warmup', '--json')).out)
  assert.equal(
    [warm.warmup, warm.rests[0].destination, warm.rests[0].reason],
    [null, 'mx.down.test', 'no answer'],
  )
  assert.equal(cold.warmup, {
    day: 2,
    cap: 100,
    sent: [
      { provider: 'google', count: 70 },
      { provider: 'other', count: 5 },
    ],
  })
  assert.match((await (await open(t)).runLine('source', 'warmup')).out, 'delivery.source_ips is not set')
})

test('doctor: findings are printed, and the exit code is 1 after a failure', async t => {
  const failed = {
    check: 'outbound_port',
    subject: 'mx.there.test',
    status: 'failed' as const,
    message: 'It is \x1b[31mclosed.',
    advice: 'Open it.',
  }
  const sound = await open(t)
  const well = await sound.runLine('doctor')
  assert.equal(
    [well.code, well.out],
    [0, 'ok       clock  The clock is right.\n\n1 ok, 0 warnings, 0 failed, 0 unknown, in 1.2 s\n'],
  )
  const ill = await open(t, { report: { ...SOUND, status: 'failed', findings: [...SOUND.findings, failed] } })
  const told = await ill.runLine('doctor')
  assert.is(told.code, 1)
  assert.match(told.out, /^FAILED {3}outbound_port {2}mx\.there\.test: It is \[31mclosed\.\n {24}Open it\.$/m)
  const asJson = await ill.runLine('doctor', 'show', '--json')
  assert.equal([asJson.code, JSON.parse(asJson.out).findings[1]], [1, failed])
  const warned = await open(t, { report: { ...SOUND, status: 'warning' } })
  assert.is((await warned.runLine('doctor')).code, 0)
})

test('doctor --wait: the checks are repeated until none fails, and what fails is printed once', async t => {
  const failing = (check: string): DoctorReport => ({
    ...SOUND,
    status: 'failed',
    findings: [{ check, subject: null, status: 'failed', message: `${check} is wrong.`, advice: 'Mend it.' }],
  })
  const earlier = [failing('ports'), failing('ports'), failing('clock')]
  const { runLine, said, pauses } = await open(t, { earlier })
  const { code, out } = await runLine('doctor', '--wait')
  assert.equal([code, pauses], [0, [10_000, 10_000, 10_000]])
  assert.match(out, /The clock is right\./)
  assert.equal(
    said.map(text => text.split('\n').map(line => line.trim())),
    [
      ['Waiting until these checks pass:', 'FAILED   ports  ports is wrong.', 'Mend it.', ''],
      ['Waiting until these checks pass:', 'FAILED   clock  clock is wrong.', 'Mend it.', ''],
    ],
  )
  const once = await open(t, { earlier })
  assert.is((await once.runLine('doctor')).code, 1)
  assert.equal(once.said, [])
})

test('doctor: it works before the first start', async t => {
  const { runLine: run, examined } = await open(t)
  assert.is((await run('doctor', '--data-dir', '/nothing')).code, 0)
  await run('doctor')
  assert.equal(examined, [
    { hasDatabase: false, dataDir: '/nothing' },
    { hasDatabase: true, dataDir: undefined },
  ])
})

test.run()
