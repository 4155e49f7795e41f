import * as assert from 'uvu/assert'
import { bad, type DoctorFinding, good, unknownFinding } from '../../../../src/interfaces/doctor/finding.ts'
import { MachineWatch } from '../../../../src/interfaces/doctor/machine-watch.ts'
import type { Log } from '../../../../src/lib/log.ts'
import { createAlertFallback } from '../../../../src/pipeline/alerts/fallback.ts'
import type { RelayedMail } from '../../../../src/pipeline/alerts/relay.ts'
import type { ChannelAnswer } from '../../../../src/pipeline/alerts/webhook.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { createQueueAdmin } from '../../../../src/pipeline/queue/queue-admin.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { insertRows } from '../../../kit/database.ts'
import { endings, finishFor, mailbox, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('doctor: the machine watch')
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const FULL = bad('failed', 'disk_space', '/data', 'No space is left.', 'Free some.')
const ENOUGH = good('disk_space', '/data', 'There is room.')

interface Installation {
  /** Sender of the notices. */
  from?: string
  /** Answers of the smart host of alerts; without any, there is none. */
  relay?: ChannelAnswer[]
}

const NOTICES = 'notices@provider.example'
const TAKEN: ChannelAnswer = { isTaken: true, answer: '250 ok' }
const REFUSED: ChannelAnswer = { isTaken: false, answer: '451 later' }

/** A watch over a disk of which the test says what it is like, in an installation with one operator. */
async function open(t: TestContext, { from = NOTICES, relay }: Installation = {}) {
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
  const relayed: RelayedMail[] = []
  const answers = relay ?? []
  const queueAdmin = createQueueAdmin({ db: store.db, run: store.run, clock, newId })
  const startFallback = () =>
    createAlertFallback({
      ...{ mailHost: 'mail.provider.example', afterMs: 15 * MINUTE_MS, db: store.db, queueAdmin, clock, log },
      relay: {
        async send(mail) {
          relayed.push(mail)
          const answer = answers.shift()
          assert.ok(answer, 'another mail through the smart host')
          return answer!
        },
      },
    })
  let isDiskFull = false
  const run = ((name, input) =>
    isDiskFull
      ? Promise.reject(new StorageUnavailable('the disk is full'))
      : store.run(name, input)) as typeof store.run
  const options = { db: store.db, run, checks, from: mailbox(from) }
  const start = () =>
    new MachineWatch({
      ...{ ...options, accept, preparation, clock, log },
      fallback: relay && startFallback(),
    })
  let watch = start()
  return {
    ...{ clock, disk, operator, addOperator, relayed },
    fill() {
      isDiskFull = true
    },
    /** The delivery of the alert, as it is now. */
    delivery: () => store.rows<{ status: string; state: number }>('select status, state from deliveries')[0],
    /** Has the alert delivered to the operator, or ends the attempt in another way. */
    async deliver(ending: Partial<Finish> = {}) {
      const [delivery] = await post.claim(operator, 'ops.example')
      const at = clock.now()
      await store.run('finish', finishFor(delivery!, at, ending))
    },
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
  const { next, mails, verify } = await open(t, { from: 'mailhorn@mailhorn.test' })
  verify('ops.example')
  await next(FULL)
  assert.match(mails()[0]!.sender, 'mailhorn@ops.example')
})

test('an email that is not delivered in time goes through the smart host, once, and leaves the queue', async t => {
  const { next, relayed, verify, clock, delivery, restart, events } = await open(t, {
    relay: [REFUSED, TAKEN],
  })
  verify('provider.example')
  await next(FULL)
  for (let minute = 0; minute < 13; minute++) await next(FULL)
  assert.equal(relayed, [], 'the queue has 15 minutes')
  clock.advance(MINUTE_MS)
  await next(FULL)
  assert.is(relayed.length, 1)
  await next(FULL)
  assert.is(relayed.length, 1, 'the smart host has refused it, and is asked again in five minutes')
  assert.is(delivery()!.status, 'queued')
  clock.advance(4 * MINUTE_MS)
  await next(FULL)
  assert.is(relayed.length, 2)
  const [first, second] = relayed
  assert.equal(
    [first!.to.address, first!.subject, first!.text.slice(0, 25)],
    [...['root@ops.example', 'Mailhorn needs attention: No space is left', 'No space is left. (/data)']],
  )
  assert.match(first!.messageId, /^<[0-9a-f]{32}@mail\.provider\.example>$/)
  assert.is(second!.messageId, first!.messageId)
  assert.is(delivery()!.status, 'canceled')
  restart()
  await next(FULL)
  await next(FULL)
  assert.is(relayed.length, 2)
  assert.equal(
    events().filter(event => event.startsWith('operator_mail')),
    ['operator_mail_relay_failed', 'operator_mail_relayed'],
  )
})

test('an email that bounces, or was tried in vain for 15 minutes, goes through the smart host', async t => {
  const bounced = await open(t, { relay: [TAKEN] })
  bounced.verify('provider.example')
  await bounced.next(FULL)
  await bounced.deliver(endings.bounced())
  await bounced.next(FULL)
  assert.is(bounced.relayed.length, 1)

  const tried = await open(t, { relay: [TAKEN] })
  tried.verify('provider.example')
  await tried.next(FULL)
  await tried.deliver(endings.deferred(tried.clock.now(), 60 * MINUTE_MS))
  await tried.next(FULL)
  assert.equal(tried.relayed, [])
  tried.clock.advance(14 * MINUTE_MS)
  await tried.next(FULL)
  assert.is(tried.relayed.length, 1)
  tried.restart()
  await tried.next(FULL)
  await tried.next(FULL)
  assert.is(tried.relayed.length, 1)
})

test('an email that is delivered does not go through the smart host', async t => {
  const { next, relayed, verify, clock, deliver } = await open(t, { relay: [] })
  verify('provider.example')
  await next(FULL)
  await deliver()
  clock.advance(60 * MINUTE_MS)
  await next(FULL)
  assert.equal(relayed, [])
})

async function assertNotStored(round: Promise<void>) {
  const error = await round.catch((fault: unknown) => fault)
  assert.instance(error, StorageUnavailable)
}

test('without a sender domain, and with a disk on which nothing can be stored, the smart host is used at once', async t => {
  const { next, relayed, fill, alerts, mails } = await open(t, { relay: [TAKEN, TAKEN] })
  await next(FULL)
  await next(FULL)
  assert.equal([relayed.length, mails().length, alerts().length], [1, 0, 1])
  fill()
  const other = { ...FULL, subject: '/other' }
  await assertNotStored(next(other))
  await assertNotStored(next(other))
  assert.match(relayed[1]!.text, '/other')
  assert.is(relayed.length, 2)
})

test('a check runs no more often than its interval', async t => {
  const { next, clock, disk } = await open(t)
  await next(ENOUGH)
  clock.advance(-MINUTE_MS + 1)
  await next(ENOUGH)
  assert.is(disk.checks, 1)
})

test.run()
