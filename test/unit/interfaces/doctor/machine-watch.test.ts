import * as assert from 'uvu/assert'
import { bad, type DoctorFinding, good, unknownFinding } from '../../../../src/interfaces/doctor/finding.ts'
import { MachineWatch } from '../../../../src/interfaces/doctor/machine-watch.ts'
import type { Log } from '../../../../src/lib/log.ts'
import { insertRows } from '../../../kit/database.ts'
import { mailbox, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('doctor: the machine watch')
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const FULL = bad('failed', 'disk_space', '/data', 'No space is left.', 'Free some.')
const ENOUGH = good('disk_space', '/data', 'There is room.')

/** A watch over a disk of which the test says what it is like, in an installation with one operator. */
async function open(t: TestContext, from = 'notices@provider.example') {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock, accept, preparation } = post
  const operator = post.account('Operator')
  const addOperator = (email: string) =>
    insertRows(store, 'users', [
      {
        ...{ id: newId(clock.now()), account_id: operator, email, password_hash: 'none' },
        ...{ operator: 1, created_at: clock.now() },
      },
    ])
  addOperator('root@ops.example')
  const logged: { event: string }[] = []
  const write = (fields: { event: string }) => logged.push(fields)
  const log = { warn: write, info: write } as unknown as Log
  const disk: { findings: DoctorFinding[]; checks: number } = { findings: [ENOUGH], checks: 0 }
  const examine = async () => {
    disk.checks++
    return disk.findings
  }
  const checks = [{ check: 'disk_space', alert: 'disk-space' as const, everyMs: MINUTE_MS, examine }]
  const options = { db: store.db, run: store.run, checks, from: mailbox(from) }
  const start = () => new MachineWatch({ ...options, accept, preparation, clock, log })
  let watch = start()
  return {
    ...{ clock, disk, operator, addOperator },
    silence: (over: { provider: string; until: number }) =>
      store.run('silenceAlerts', {
        ...{ kind: 'disk-space', sourceIp: '', createdBy: 'root@ops.example', createdAt: clock.now() },
        ...over,
      }),
    unsilence: (over: { provider: string }) =>
      store.run('unsilenceAlerts', { kind: 'disk-space', sourceIp: '', now: clock.now(), ...over }),
    verify: (name: string) => post.domain(operator, name),
    restart() {
      watch = start()
    },
    /** A round of the watch, a minute after the last one, with what the disk is like now. */
    async next(...findings: DoctorFinding[]) {
      disk.findings = findings
      clock.advance(MINUTE_MS)
      for await (const _ of watch.sweep()) await Promise.resolve()
    },
    alerts: () => store.rows('select kind, provider, reply, ended_at from operator_alerts order by hour'),
    mails: () =>
      store.rows<{ sender: string; to_list: string; subject: string }>(
        'select sender, to_list, subject from emails order by id',
      ),
    events: () => logged.splice(0).map(({ event }) => event),
  }
}

test('an alert lasts from the first bad finding to the first good one', async t => {
  const { next, alerts, clock, events } = await open(t)
  await next(ENOUGH)
  assert.equal(alerts(), [])
  await next(FULL)
  await next(FULL)
  const lasting = { kind: 'disk-space', provider: '/data', reply: 'No space is left.', ended_at: null }
  assert.equal(alerts(), [lasting])
  await next(unknownFinding('disk_space', '/data', 'It cannot be read.'))
  assert.equal(alerts(), [lasting], 'what is not known changes nothing')
  await next(ENOUGH)
  assert.equal(alerts(), [{ ...lasting, ended_at: clock.now() }])
  assert.equal(events(), ['machine_alert_raised', 'operator_mail_not_possible', 'machine_alert_ended'])
})

test('a condition that comes back within the hour lasts again, and is there after a restart', async t => {
  const { next, alerts, restart, events } = await open(t)
  await next(FULL)
  await next(ENOUGH)
  await next(FULL)
  events()
  restart()
  await next(FULL)
  assert.is(alerts().length, 1)
  assert.is((alerts()[0] as { ended_at: number | null }).ended_at, null)
  assert.not(events().includes('machine_alert_raised'), 'it has lasted since before the restart')
})

test('of two disks, the alert of the one that has room again ends', async t => {
  const { next, alerts } = await open(t)
  const other = { ...FULL, subject: '/database' }
  await next(FULL, other)
  await next({ ...ENOUGH }, other)
  const open_ = (alerts() as { provider: string; ended_at: number | null }[]).filter(
    ({ ended_at }) => ended_at === null,
  )
  assert.equal(
    open_.map(({ provider }) => provider),
    ['/database'],
  )
})

test('operators get one email a day while it lasts, also over restarts', async t => {
  const { next, mails, clock, verify, restart } = await open(t)
  verify('provider.example')
  await next(FULL)
  await next(FULL)
  restart()
  await next(FULL)
  assert.is(mails().length, 1)
  assert.match(mails()[0]!.sender, 'notices@provider.example')
  assert.match(mails()[0]!.to_list, 'root@ops.example')
  assert.is(mails()[0]!.subject, 'Mailhorn needs attention: No space is left')
  clock.advance(DAY_MS)
  await next(FULL)
  assert.is(mails().length, 2)
})

test('a silenced alert is stored without an email, and mailed once the silence is over', async t => {
  const { next, mails, clock, verify, alerts, silence, unsilence } = await open(t)
  verify('provider.example')
  await silence({ provider: '/data', until: clock.now() + 10 * MINUTE_MS })
  await next(FULL)
  assert.is(alerts().length, 1)
  assert.equal(mails(), [])
  await unsilence({ provider: '/data' })
  await silence({ provider: '', until: clock.now() + 2 * MINUTE_MS })
  await next(FULL)
  assert.equal(mails(), [], 'all of the kind are silenced')
  await next(FULL)
  assert.is(mails().length, 1, 'the silence is over')
})

test('the silence of another disk does not keep the email from being sent', async t => {
  const { next, mails, clock, verify, silence } = await open(t)
  verify('provider.example')
  await silence({ provider: '/other', until: clock.now() + 10 * MINUTE_MS })
  await next(FULL)
  assert.is(mails().length, 1)
})

test('an operator whose address is not valid is told of in the log once a day, and the others are mailed', async t => {
  const { next, mails, verify, addOperator, events } = await open(t)
  verify('provider.example')
  addOperator('no address')
  await next(FULL)
  await next(FULL)
  assert.is(mails().length, 1)
  assert.equal(events(), ['machine_alert_raised', 'operator_mail_refused'])
})

test('without a verified sender domain, the email comes from a verified domain of an operator', async t => {
  const { next, mails, verify } = await open(t, 'mailhorn@mailhorn.test')
  verify('ops.example')
  await next(FULL)
  assert.match(mails()[0]!.sender, 'mailhorn@ops.example')
})

test('a check runs no more often than its interval', async t => {
  const { next, clock, disk } = await open(t)
  await next(ENOUGH)
  clock.advance(-MINUTE_MS + 1)
  await next(ENOUGH)
  assert.is(disk.checks, 1)
})

test.run()
