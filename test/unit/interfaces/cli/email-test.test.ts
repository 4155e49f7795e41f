import * as assert from 'uvu/assert'
import { OperationRefused } from '../../../../src/interfaces/cli/control/operation.ts'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import type { DoctorReport, FindingStatus } from '../../../../src/interfaces/doctor/finding.ts'
import { wireId } from '../../../../src/lib/ids.ts'
import { packRecord } from '../../../../src/resources/emails/attempt-record.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { finishFor, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('cli: the first email')
const TO = 'a@there.test'
const MISSING = [{ host: '_svc.here.test', advice: 'Add a TXT record at _svc.here.test.' }]

const reportOf = (status: FindingStatus): DoctorReport => ({
  ...{ status, checked_at: '2026-11-21T13:00:00.000Z', took_ms: 1 },
  findings: [{ check: 'ports', subject: null, status, message: 'The port is taken.', advice: 'Free it.' }],
})

interface Scene {
  /** Reports of the doctor, the last of which stays. */
  reports?: FindingStatus[]
  /** Number of times that records are missing before the email is sent. */
  missingTimes?: number
  fails?: Error
  /** Results of the attempts, each of which comes during a pause. */
  results?: ('delivered' | 'deferred' | 'bounced')[]
}

/** Types `mailhorn email test`; the service finishes an attempt whenever the program pauses. */
async function typeTest(t: TestContext, args: string[], scene: Scene) {
  const { reports = [], missingTimes = 0, fails, results = [] } = scene
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const left = { reports: [...reports], missingTimes, results: [...results], attempts: 0 }
  const asked: unknown[] = []
  const said: string[] = []
  let [out, err, sentCount] = ['', '', 0]

  const change = async (name: string, input: unknown) => {
    asked.push({ name, input })
    if (fails) throw fails
    const facts = { from: 'mailhorn@here.test', domain: 'here.test' }
    if (left.missingTimes-- > 0) return { ...facts, id: null, missing: MISSING }
    sentCount++
    return { ...facts, id: wireId('eml', await post.send(accountId, { to: [TO] })), missing: [] }
  }
  const attempt = async () => {
    const result = left.results.shift()
    post.clock.advance(600_000)
    if (result === undefined) return
    const deliveryClass = left.attempts++ === 0 ? DELIVERY_CLASS.transactional : DELIVERY_CLASS.retry
    const [claimed] = await post.claim(accountId, 'there.test', { class: deliveryClass })
    const now = post.clock.now()
    const reply = { delivered: '250 taken', deferred: '451 later', bounced: '550 no' }[result]
    await store.run(
      'finish',
      finishFor(claimed!, now, {
        ...(result === 'deferred' && { status: 'delivery_delayed', nextAt: now + 300_000 }),
        ...(result === 'bounced' && { status: 'bounced' }),
        outcome: result,
        record: {
          ...{ reply, mxHost: 'mx.there.test', brokeOff: null },
          packed: packRecord({
            phase: 'rcpt',
            reply,
            mxHost: 'mx.there.test',
            mxIp: '192.0.2.8',
            tls: null,
            transcript: null,
          }),
        },
      }),
    )
  }
  const unused = () => assert.unreachable() as never
  const code = await runProgram(['email', 'test', ...args], {
    version: '1.2.3',
    openInstallation: async () => ({
      ...{ db: store.db, clock: post.clock, change: change as never, close: async () => {} },
      ...{ pathsTo: async () => new Map(), isDiskFull: async () => false },
    }),
    ...{ checkSources: unused, zoneRecords: unused, sourceSettings: unused, examineHost: unused },
    ...{ interfaceAddresses: unused, ask: unused, backupSettings: unused, importSettings: unused },
    readInput: unused,
    examine: async () => reportOf(left.reports.length > 1 ? left.reports.shift()! : left.reports[0]!),
    say: text => void said.push(text),
    pause: async () => void (sentCount > 0 && (await attempt())),
    out: text => {
      out += text
    },
    err: text => {
      err += text
    },
  })
  return { code, out, err, said, asked, sentCount }
}

test('email test --wait: the checks, the records and the replies are waited for, and one email is sent', async t => {
  const { code, out, said, asked, sentCount } = await typeTest(t, [TO, '--wait'], {
    reports: ['failed', 'failed', 'ok'],
    missingTimes: 2,
    results: ['deferred', 'delivered'],
  })
  assert.is(code, 0)
  assert.match(out, /^a@there\.test \(to\): delivered, 2 attempts\n(?:.*\n)*.*: 250 taken$/m)
  assert.equal([asked.length, sentCount], [3, 1])
  const [first, ...more] = said.map(text => text.replaceAll(/eml_[\w-]+/g, 'eml_1'))
  assert.match(first!, /^Waiting until these checks pass:\nFAILED .* The port is taken\.\n +Free it\.\n$/)
  assert.equal(more.slice(0, 2), [
    'Waiting, because DNS records of here.test are not found yet:\n  _svc.here.test: Add a TXT record at _svc.here.test.',
    'Sent eml_1 from mailhorn@here.test.',
  ])
  assert.match(more[2]!, /^a@there\.test: mx\.there\.test deferred .* Next attempt at 2026-11-/)
  assert.is(more.length, 3)
})

test('email test: without --wait nothing is checked, and the first reply ends it', async t => {
  const { code, out, asked } = await typeTest(t, [TO, '--from', 'ann@here.test'], { results: ['deferred'] })
  assert.is(code, 1)
  assert.match(out, /^a@there\.test \(to\): delivery_delayed, 1 attempt, next attempt in 5 min/m)
  assert.equal(asked, [
    {
      name: 'email.test',
      input: { to: [TO], from: 'ann@here.test', account_id: null, all_records: false },
    },
  ])
})

test('email test: without a reply it ends after a minute, and says what the email waits for', async t => {
  const { code, out } = await typeTest(t, [TO], {})
  assert.is(code, 1)
  assert.match(out, /^a@there\.test \(to\): queued, 0 attempts/m)
})

test('email test: a refusal of the MX host is the exit code, and is shown', async t => {
  const { code, out } = await typeTest(t, [TO], { results: ['bounced'] })
  assert.is(code, 1)
  assert.match(out, /^a@there\.test \(to\): bounced, 1 attempt\n(?:.*\n)*.*: 550 no$/m)
})

test('email test: missing records and a stopped service are errors that say what to do', async t => {
  const missing = await typeTest(t, [TO], { missingTimes: 1 })
  assert.equal([missing.code, missing.sentCount], [1, 0])
  assert.match(
    missing.err,
    /nothing was sent, because DNS records of here\.test .*\n {2}_svc\.here\.test: Add a TXT/,
  )
  const stopped = await typeTest(t, [TO], { fails: new OperationRefused('The service is not running.') })
  assert.equal([stopped.code, stopped.err], [1, 'mailhorn: The service is not running.\n'])
  assert.is((await typeTest(t, [], {})).code, 2)
})

test.run()
