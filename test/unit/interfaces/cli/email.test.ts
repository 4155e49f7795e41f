import * as assert from 'uvu/assert'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import { wireId } from '../../../../src/lib/ids.ts'
import type { HostAttempt } from '../../../../src/pipeline/delivery/outcome/host-attempt.ts'
import type { PathState } from '../../../../src/pipeline/queue/paths.ts'
import { packRecord } from '../../../../src/resources/emails/attempt-record.ts'
import { finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('cli: an email')

const TRIALS: HostAttempt[] = [
  {
    ...{
      host: 'mx1.there.test',
      ip: '192.0.2.7',
      source: '198.51.100.1',
      phase: 'connect',
      reply: 'refused',
    },
    ...{ tls: null, tlsFallback: null, policy: 'none', phases: [['connect', 12, null]] },
  },
  {
    ...{ host: 'mx2.there.test', ip: '192.0.2.8', source: '198.51.100.1', phase: 'rcpt', tlsFallback: null },
    reply: '451 4.7.1 \x1b[31mlater',
    tls: { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', verified: false, reason: 'self-signed' },
    policy: 'none',
    phases: [
      ['connect', 3, '220 mx2.there.test'],
      ['rcpt', 40, '451 4.7.1 \x1b[31mlater'],
    ],
  },
]

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const machine = { isDiskFull: false, paths: new Map<string, PathState[]>() }
  const runLine = async (...args: string[]) => {
    let [out, err] = ['', '']
    const unused = () => assert.unreachable() as never
    const code = await runProgram(args, {
      version: '1.2.3',
      openInstallation: async () => ({
        ...{ db: store.db, clock: post.clock, change: unused, close: async () => {} },
        pathsTo: async () => machine.paths,
        isDiskFull: async () => machine.isDiskFull,
      }),
      ...{ checkSources: unused, zoneRecords: unused, sourceSettings: unused, examine: unused },
      ...{ examineHost: unused, interfaceAddresses: unused, ask: unused, say: unused, pause: unused },
      backupSettings: unused,
      importSettings: unused,
      readInput: unused,
      out: text => {
        out += text
      },
      err: text => {
        err += text
      },
    })
    return { code, out, err }
  }
  /** An email to two recipients: the first was deferred, the second has it. */
  const sendOne = async () => {
    const emailId = await post.send(accountId, { to: ['a@there.test', 'b@far.test'] })
    const [first] = await post.claim(accountId, 'there.test')
    const [second] = await post.claim(accountId, 'far.test')
    post.clock.advance(60_000)
    const now = post.clock.now()
    await store.run(
      'finish',
      finishFor(first!, now, {
        ...{ status: 'delivery_delayed', outcome: 'deferred', nextAt: now + 5 * 60_000 },
        record: {
          ...{ reply: '451 4.7.1 \x1b[31mlater', mxHost: 'mx2.there.test', brokeOff: null },
          packed: packRecord({
            ...{
              phase: 'rcpt',
              reply: '451 4.7.1 \x1b[31mlater',
              mxHost: 'mx2.there.test',
              mxIp: '192.0.2.8',
            },
            ...{ tls: 'TLSv1.3', transcript: JSON.stringify(TRIALS) },
          }),
        },
      }),
    )
    await store.run('finish', finishFor(second!, now))
    return emailId
  }
  return { ...store, ...post, accountId, runLine, sendOne, machine }
}

test('email show: a full disk and the limits of a destination are named as by the API', async t => {
  const { runLine, sendOne, machine, clock, change } = await open(t)
  const id = wireId('eml', await sendOne())
  const codeOf = async () => {
    const [first] = JSON.parse((await runLine('email', id, '--json')).out).recipients
    return first.explanation.code
  }
  change("insert or ignore into domain_destinations values ('there.test', 'mx2.there.test', ?)", clock.now())
  machine.paths.set('mx2.there.test', [
    {
      ...{ sourceIps: [], window: 3, underWay: 3, claimed: 0, perSecond: null },
      ...{ openBreaker: null, isHalfOpen: false, isSpent: false },
    },
  ])
  clock.advance(5 * 60_000)
  assert.is(await codeOf(), 'connection_limit')
  machine.isDiskFull = true
  assert.is(await codeOf(), 'storage_full')
  assert.match((await runLine('email', id)).out, /Waiting: the disk of this server is full\./)
})

test('email show: every attempt is shown, also in regions without feedback', async t => {
  const { runLine, sendOne, change, accountId, clock } = await open(t)
  const emailId = await sendOne()
  change("update emails set feedback = 0, status = 'sent'")
  const { code, out } = await runLine('email', wireId('eml', emailId))
  assert.is(code, 0)
  const at = (ms: number) => new Date(clock.now() + ms).toISOString()
  assert.equal(out.trimEnd().split('\n'), [
    wireId('eml', emailId),
    'From       Sender <sender@here.test>',
    'To         a@there.test, b@far.test',
    'Subject    Hello',
    'Status     sent',
    `Account    Main (${wireId('acc', accountId)})`,
    `Created    ${at(-60_000)}`,
    '',
    `a@there.test (to): delivery_delayed, 1 attempt, next attempt in 5 min, at ${at(5 * 60_000)}`,
    '  mx2.there.test deferred the message without a known reason.',
    '  Nothing to do: it is retried until 2026-11-23 13:00 UTC.',
    `  Attempt 1, ${at(-100)}: deferred in 100 ms at rcpt: 451 4.7.1 [31mlater`,
    '    mx1.there.test [192.0.2.7] from 198.51.100.1, no TLS, policy none',
    '      connect        12 ms  refused',
    '    mx2.there.test [192.0.2.8] from 198.51.100.1, TLSv1.3 TLS_AES_256_GCM_SHA384 not verified (self-signed), policy none',
    '      connect         3 ms  220 mx2.there.test',
    '      rcpt           40 ms  451 4.7.1 [31mlater',
    '',
    'b@far.test (to): delivered, 1 attempt',
    `  Attempt 1, ${at(-100)}: delivered in 100 ms by mx.there.test [192.0.2.1] at final-dot: 250 taken`,
  ])
  assert.not.match(out, /\x1b/)

  const json = JSON.parse((await runLine('email', 'show', wireId('eml', emailId), '--json')).out)
  assert.equal(
    [json.id, json.account_id, json.status],
    [wireId('eml', emailId), wireId('acc', accountId), 'sent'],
  )
  const [first, second] = json.recipients
  assert.equal(
    [first.status, first.state, first.attempts, first.next_attempt_at],
    ['delivery_delayed', 'waiting', 1, at(5 * 60_000)],
  )
  assert.equal([second.status, second.state, second.next_attempt_at], ['delivered', 'done', null])
  const [{ hosts, ...attempt }] = first.transcripts
  assert.equal([attempt.outcome, attempt.phase, attempt.mx_host], ['deferred', 'rcpt', 'mx2.there.test'])
  assert.equal(
    hosts.map(({ source_ip, tls, phases }: Record<string, unknown>) => [source_ip, tls, phases]),
    [
      ['198.51.100.1', null, [{ phase: 'connect', ms: 12, reply: null }]],
      [
        '198.51.100.1',
        TRIALS[1]!.tls,
        [
          { phase: 'connect', ms: 3, reply: '220 mx2.there.test' },
          { phase: 'rcpt', ms: 40, reply: '451 4.7.1 \x1b[31mlater' },
        ],
      ],
    ],
  )
})

test('email show: held, in progress and scheduled deliveries are labelled', async t => {
  const { runLine, send, claim, run, accountId, clock } = await open(t)
  const holdId = newId(clock.now())
  const emailId = await send(accountId, { to: ['a@there.test', 'b@far.test', 'c@near.test'] })
  const later = await send(accountId, { to: ['d@there.test'], scheduledAt: clock.now() + 3_600_000 })
  await claim(accountId, 'near.test')
  await run('putHold', {
    ...{ domain: 'far.test', accountId: null, broadcastId: null, emailId: null },
    ...{ id: holdId, reason: null, origin: 'operator', createdAt: clock.now(), releasedAt: null },
  })
  const { out } = await runLine('email', wireId('eml', emailId))
  assert.match(out, /^a@there\.test \(to\): queued, 0 attempts, will be tried next$/m)
  assert.match(out, /^b@far\.test \(to\): queued, 0 attempts, held$/m)
  assert.match(out, /^c@near\.test \(to\): queued, 1 attempt, in progress$/m)
  const scheduled = await runLine('email', wireId('eml', later))
  assert.match(
    scheduled.out,
    /^Status +scheduled\n[\s\S]*^Scheduled +20[\s\S]*^d@there\.test .*, scheduled$/m,
  )
})

test('email show: an unknown email is an error, an invalid id a usage error', async t => {
  const { runLine } = await open(t)
  const unknown = wireId('eml', newId(1))
  assert.equal(await runLine('email', unknown), {
    code: 1,
    out: '',
    err: `mailhorn: Email ${unknown} not found.\n`,
  })
  const wrong = await runLine('email', 'acc_1')
  assert.equal([wrong.code, wrong.out], [2, ''])
  assert.match(wrong.err, /"acc_1" is not an email ID; it must begin with eml_/)
  assert.is((await runLine('email')).code, 2)
})

test.run()
