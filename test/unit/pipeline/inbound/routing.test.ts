import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createLog } from '../../../../src/lib/log.ts'
import type { Accept } from '../../../../src/pipeline/accept/accept.ts'
import { createPreparation } from '../../../../src/pipeline/accept/prepare.ts'
import type { Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import { createAccountRoutes } from '../../../../src/pipeline/inbound/account-routes.ts'
import { NOT_JUDGED } from '../../../../src/pipeline/inbound/message-verdicts.ts'
import { createRouting } from '../../../../src/pipeline/inbound/routing.ts'
import { unlistedSmallInbound } from '../../../../src/resources/emails/inbound-rows.ts'
import { StorageUnavailable } from '../../../../src/store/model/command.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('inbound/routing')
const FOUND = { mail: null, verdicts: NOT_JUDGED }

type Answer = Awaited<ReturnType<Accept['send']>>

/** A received message for three recipients, and the routing of its account, which forwards two of them. */
async function open(t: TestContext, answers: (Answer | Error)[]) {
  const store = await t.using(openLocalStore())
  const { account, domain, clock } = postOver(store)
  const accountId = account('plain')
  domain(accountId, 'here.test')
  const routes = createAccountRoutes({ db: store.db, clock })
  const add = async (pattern: string, forwardTo: string) => {
    const terms = { pattern, action: 'forward', webhookId: null, forwardTo } as const
    const made = { accountId, id: newId(clock.now()), terms, position: null, at: clock.now() }
    assert.ok(Array.isArray(await store.run('createInboundRoute', made)))
  }
  await add('a@here.test', 'Team@there.test')
  await add('b@here.test', 'team@there.test')
  await store.run('storeInbound', {
    messages: [{ accountId, domainId: newId(1), recipients: ['a@here.test', 'B@here.test', 'c@here.test'] }],
    ...{ sender: 'ann@there.test', clientIp: '192.0.2.1', helo: null, tls: null, sizeBytes: 30 },
    blob: await store.blobs.stage(Buffer.from('From: ann@there.test\r\n\r\nHello\r\n')),
    ...{ source: null, at: clock.now() },
  })
  const [row] = await unlistedSmallInbound(store.db, 1)
  const sent: Parameters<Accept['send']>[] = []
  const accept: Accept = {
    async send(...request) {
      sent.push(request)
      const answer = answers.shift() ?? answers.at(-1)!
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const routing = createRouting({
    ...{ routes, accept, db: store.db, blobs: store.blobs, mailHost: 'mailhorn.test' },
    preparation: createPreparation({ findTemplate: async () => undefined, blobs: store.blobs }),
    log: createLog('silent'),
  })
  return { ...store, accountId, row: row!, routes, routing, sent }
}

const accepted = (id: Id): Answer => ({ ids: [id], leftOut: [] })

test('a message that is routed again is sent with the same idempotency key', async t => {
  const id = newId(1)
  const { routing, row, sent } = await open(t, [accepted(id), accepted(id)])
  const matched = await routing.match(row)
  await routing.apply(row, matched!, FOUND)
  const { decisions, isForSubscribers } = await routing.apply(row, matched!, FOUND)
  assert.equal(
    decisions.map(({ recipient, forwarded }) => [recipient, forwarded]),
    [
      ['a@here.test', { emailId: id }],
      ['B@here.test', { emailId: id }],
    ],
  )
  assert.is(isForSubscribers, true)
  // one email for both recipients, each time
  assert.is(sent.length, 2)
  const [[, , first], [, , second]] = sent as [(typeof sent)[0], (typeof sent)[0]]
  assert.ok(first !== null)
  assert.equal(first, second)
})

for (const answer of [
  { refused: 'busy', message: 'Try again.' },
  { refused: 'idempotency_running', message: 'Try again.' },
  new StorageUnavailable('full'),
] as (Refusal | Error)[])
  test(`a refusal that passes is retried: ${'refused' in answer ? answer.refused : answer.message}`, async t => {
    const { routing, row } = await open(t, [answer])
    const matched = await routing.match(row)
    const error = await routing.apply(row, matched!, FOUND).catch((thrown: unknown) => thrown)
    assert.instance(error, StorageUnavailable)
  })

for (const [answer, fault] of [
  [{ refused: 'daily_quota', message: 'The quota is used up.' }, 'The quota is used up.'],
  [new Error('bug'), 'An internal error occurred. The operator finds it in the log of the service.'],
] as [Refusal | Error, string][])
  test(`a failure that lasts is the outcome: ${fault}`, async t => {
    const { routing, row } = await open(t, [answer])
    const { decisions } = await routing.apply(row, (await routing.match(row))!, FOUND)
    assert.equal(
      decisions.map(({ forwarded }) => forwarded),
      [{ fault }, { fault }],
    )
  })

test('routes are looked up once for many messages, and again after a change', async t => {
  const { routing, routes, row, accountId, run } = await open(t, [])
  const [first] = await routes.of(accountId)
  assert.is(await routes.of(accountId), await routes.of(accountId))
  await run('deleteInboundRoute', { accountId, id: first!.id })
  routes.forget([accountId])
  assert.equal(
    (await routing.match(row))!.matches.map(({ recipient }) => recipient),
    ['B@here.test'],
  )
})

test('nothing is decided about a message that no route matches', async t => {
  const { routing, row } = await open(t, [])
  assert.is(await routing.match({ ...row, recipients: '["c@here.test"]' }), null)
  assert.is(await routing.match({ ...row, accountId: newId(2) }), null)
})

test.run()
