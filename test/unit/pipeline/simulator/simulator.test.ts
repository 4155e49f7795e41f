import * as assert from 'uvu/assert'
import { finishOf } from '../../../../src/pipeline/delivery/outcome/finish.ts'
import { resultOfSimulation } from '../../../../src/pipeline/delivery/outcome/result-without-host.ts'
import { recordFollowUps, simulate } from '../../../../src/pipeline/simulator/simulate.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { finishFor, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('simulator')

/** For each local part: outcome, class, reply, and what the recipient does afterwards. */
const TABLE: [localPart: string, verdict: string, reply: string, sequel: string[]][] = [
  ['delivered', 'delivered', '250 2.0.0', []],
  ['complained', 'delivered', '250 2.0.0', ['complained']],
  ['opened', 'delivered', '250 2.0.0', ['opened']],
  ['clicked', 'delivered', '250 2.0.0', ['opened', 'clicked']],
  ['delayed', 'deferred', '451 4.7.1', []],
  ['bounced', 'bounced invalid-recipient', '550 5.1.1', []],
  ['soft-bounced', 'bounced mailbox-full', '552 5.2.2', []],
  ['suppressed', 'suppressed', '550 5.7.1', []],
  ['failed', 'failed', '554 5.0.0', []],
  ['nobody-we-know', 'bounced invalid-recipient', '550 5.1.1', []],
  ['toString', 'bounced invalid-recipient', '550 5.1.1', []],
]

function verdictOf(address: string, attempt = 1) {
  const { outcome, class: bounceClass, reply, followedBy } = simulate({ address, attempt })
  return {
    verdict: bounceClass === 'unknown' ? outcome : `${outcome} ${bounceClass}`,
    reply: `${reply.code} ${reply.enhanced}`,
    sequel: followedBy,
  }
}

for (const [localPart, verdict, reply, sequel] of TABLE)
  test(`simulator: ${localPart}@ is ${[verdict, ...sequel].join(', then ')}`, () => {
    for (const spelling of [localPart, `${localPart}+label`, `${localPart}+a+b.c`])
      assert.equal(verdictOf(`${spelling}@simulator.test`), { verdict, reply, sequel })
    assert.is(verdictOf(`${localPart.toUpperCase()}@simulator.test`).verdict, verdict)
  })

test('simulator: delayed@ is deferred once for two seconds, then delivered', () => {
  assert.is(simulate({ address: 'delayed@simulator.test', attempt: 1 }).retryAfterMs, 2_000)
  assert.equal(verdictOf('delayed+1@simulator.test', 2), {
    verdict: 'delivered',
    reply: '250 2.0.0',
    sequel: [],
  })
  assert.is(simulate({ address: 'delayed@simulator.test', attempt: 9 }).retryAfterMs, undefined)
})

const delivery = (localPart: string, attempt = 1): ClaimedDelivery => ({
  emailId: newId(Date.UTC(2026, 10, 21)),
  ordinal: 0,
  accountId: newId(1),
  address: `${localPart}@simulator.test`,
  domain: 'simulator.test',
  class: DELIVERY_CLASS.transactional,
  simulated: 1,
  attempt,
  expiresAt: Date.UTC(2026, 10, 23),
})

test('simulator: a result has the format of a real attempt, without hosts', () => {
  assert.equal(resultOfSimulation(simulate(delivery('delivered'))), {
    kind: 'delivered',
    class: 'unknown',
    phase: 'final-dot',
    reply: { code: 250, enhanced: '2.0.0', text: 'accepted by the simulator' },
    text: '250 2.0.0 accepted by the simulator',
    hostAttempts: [],
    simulated: true,
  })
  assert.is(resultOfSimulation(simulate(delivery('bounced'))).phase, 'rcpt')
  assert.is(resultOfSimulation(simulate(delivery('delayed'))).retryAfterMs, 2_000)
})

test('simulator: statuses, events and bounce types are recorded, and no address is suppressed', () => {
  const at = Date.UTC(2026, 10, 21)
  const facts = { startedAt: at, finishedAt: at, message: null, destination: null }
  const recorded = ['delivered', 'bounced', 'soft-bounced', 'suppressed', 'failed', 'delayed'].map(
    localPart => {
      const claimed = delivery(localPart)
      const result = resultOfSimulation(simulate(claimed))
      const { status, event, suppress } = finishOf(claimed, result, facts, () => 0.5)
      const bounce = event.data.bounce as { type: string; subtype: string } | undefined
      return [status, event.type, bounce && `${bounce.type} ${bounce.subtype}`, suppress]
        .filter(Boolean)
        .join(' ')
    },
  )
  assert.equal(recorded, [
    'delivered email.delivered',
    'bounced email.bounced Permanent NoEmail',
    'bounced email.bounced Transient MailboxFull',
    'suppressed email.suppressed',
    'failed email.failed',
    'delivery_delayed email.delivery_delayed',
  ])
})

async function openDelivered(t: TestContext, localPart: string) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  await post.send(accountId, { to: [`${localPart}@simulator.test`] })
  const [claimed] = await post.claim(accountId, 'simulator.test')
  await store.run('finish', finishFor(claimed!, post.clock.now()))
  post.clock.advance(1)
  const sequel = (ending: { kind: string }) => recordFollowUps(store.run, claimed!, ending, post.clock.now())
  const events = () =>
    store
      .rows<{ type: string }>('select type from events where created_at = ? order by id', post.clock.now())
      .map(({ type }) => type)
  return { ...store, ...post, sequel, events }
}

test('simulator: complained@ complains after delivery and is not suppressed', async t => {
  const { sequel, events, rows } = await openDelivered(t, 'complained')
  await sequel({ kind: 'delivered' })
  assert.equal(events(), ['email.complained'])
  assert.equal(rows('select status from emails'), [{ status: 'complained' }])
  assert.equal(rows('select * from suppressions'), [])
})

test('simulator: clicked@ opens once and clicks once', async t => {
  const { sequel, events, rows } = await openDelivered(t, 'clicked+x')
  await sequel({ kind: 'delivered' })
  assert.equal(events(), ['email.opened', 'email.clicked'])
  assert.equal(rows('select status, open_count, click_count from emails'), [
    { status: 'delivered', open_count: 1, click_count: 1 },
  ])
  const [click] = rows<{ data: string }>("select data from events where type = 'email.clicked'")
  assert.equal(JSON.parse(click!.data), {
    click: { link: 'https://simulator.test/', ip_address: '192.0.2.1', user_agent: 'Simulator' },
  })
})

test('simulator: no event follows a failed delivery', async t => {
  const { sequel, events } = await openDelivered(t, 'complained')
  await sequel({ kind: 'deferred' })
  await sequel({ kind: 'bounced' })
  assert.equal(events(), [])
})

test.run()
