import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import type { Finish } from '../../../../src/pipeline/queue/commands.ts'
import { emailStatus, withoutFeedback } from '../../../../src/resources/events/email-status.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import type { DeliveryStatus, EmailStatus } from '../../../../src/store/model/schema.ts'
import { isOnPostgres } from '../../../kit/database.ts'
import { endings, finishFor, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('events/histories')

type Store = Awaited<ReturnType<typeof openLocalStore>>

const ending = fc.constantFrom('delivered', 'deferred', 'bounced', 'failed', 'failed before transfer')

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      recipients: fc.integer({ min: 1, max: 4 }),
      fed: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('attempts' as const),
      endings: fc.array(ending, { minLength: 1, maxLength: 5 }),
      together: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('complain' as const), email: fc.nat(9), ordinal: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('open' as const), email: fc.nat(9), ordinal: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('hand over' as const), email: fc.nat(9) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('suppress' as const), name: fc.nat(3) }) },
)

test('events: totals, statuses and timelines agree with the deliveries after any history', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 40 }), async steps => {
      const store = await openLocalStore()
      try {
        const post = postOver(store)
        const accountId = post.account()
        post.domain(accountId, 'fed.test')
        post.domain(accountId, 'unfed.test', { region: 'elsewhere' })
        const emails: Uint8Array[] = []
        for (const action of steps) {
          post.clock.advance(1_000)
          const at = post.clock.now()
          if (action.kind === 'send') {
            const names = ['a', 'b', 'c', 'd'].slice(0, action.recipients)
            const from = action.fed ? 'x@fed.test' : 'x@unfed.test'
            emails.push(await post.send(accountId, { from, to: names.map(name => `${name}@there.test`) }))
          } else if (action.kind === 'suppress') {
            const address = `${'abcd'[action.name]}@there.test`
            if (store.rows('select 1 from suppressions where email = ?', address).length === 0)
              post.suppress(accountId, address)
          } else if (action.kind === 'attempts') {
            const limit = action.endings.length
            const deliveries = [
              ...(await post.claim(accountId, 'there.test', { limit })),
              ...(await post.claim(accountId, 'there.test', { limit, class: 2 })),
            ]
            await finishAll(store, deliveries, action.endings, action.together, at)
          } else if (emails.length > 0) {
            const emailId = emails[action.email % emails.length]!
            const ref = { accountId, emailId, at, data: {} }
            if (action.kind === 'hand over') await store.run('handedOver', ref)
            else if (action.kind === 'complain') {
              const { ordinal } = action
              const [sent] = store.rows(
                'select 1 from deliveries where email_id = ? and ordinal = ? and signed_at is not null',
                emailId,
                ordinal,
              )
              if (sent) await store.run('complain', { ...ref, ordinal, suppress: ordinal === 0 })
            } else await store.run('opened', { ...ref, ordinal: action.ordinal })
          }
        }
        checkTotals(store)
        for (const id of emails) checkEmail(store, id)
      } finally {
        await store.close()
      }
    }),
    { seed: 20261121, numRuns: isOnPostgres ? 12 : 120 },
  )
})

async function finishAll(
  store: Store,
  deliveries: readonly ClaimedDelivery[],
  kinds: readonly string[],
  together: boolean,
  at: number,
) {
  const inputs = deliveries.map((delivery, i) =>
    finishFor(delivery, at, overOf(kinds[i % kinds.length]!, at)),
  )
  const requests = inputs.map(input => ({ name: 'finish', input }))
  const groups = together ? [requests] : requests.map(request => [request])
  for (const group of groups)
    for (const reply of (await store.group(...group)).replies) assert.is(reply.ok && reply.output, true)
}

function overOf(kind: string, at: number): Partial<Finish> {
  const handed = { signedAt: at, signatures: '[]' }
  if (kind === 'deferred') return { ...endings.deferred(at, 1), ...handed }
  if (kind === 'bounced') return { ...endings.bounced(), ...handed }
  if (kind === 'failed') return { ...endings.failed(), ...handed }
  if (kind === 'delivered') return handed
  return { ...endings.failed('the email is gone'), handedOverAt: null }
}

/** The totals kept equal those counted anew. */
function checkTotals(store: Store) {
  const remaining = store.rows(
    "select kind, count from counters where period = '' and count <> 0 order by kind",
  )
  const counted = store.rows(
    `select 'emails.' || status as kind, count(*) as count from emails group by status
     union all select 'suppressions.' || reason, count(*) from suppressions group by reason
     union all select 'events', count(*) from events having count(*) > 0 order by 1`,
  )
  assert.equal(remaining, counted)
}

interface Email {
  status: EmailStatus
  feedback: number
  sent_at: number | null
  last_event_at: number | null
  ended_at: number | null
  error: string | null
}

function checkEmail(store: Store, id: Uint8Array) {
  const [email] = store.rows<Email>('select * from emails where id = ?', id)
  const deliveries = store.rows<{
    address: string
    status: DeliveryStatus
    state: number
    signed_at: number | null
  }>('select address, status, state, signed_at from deliveries where email_id = ?', id)
  const events = store.rows<{ type: string; recipient: string | null; created_at: number }>(
    'select type, recipient, created_at from events where subject_id = ? order by id',
    id,
  )
  const { status, feedback, sent_at: sentAt, last_event_at: lastEventAt } = email!
  const seen = deliveries.map(delivery =>
    feedback ? delivery.status : withoutFeedback(delivery.status, delivery.signed_at !== null),
  )
  assert.is(status, emailStatus(seen, sentAt !== null, 'queued'), idText(id))
  assert.is(lastEventAt, events.length > 0 ? Math.max(...events.map(event => event.created_at)) : null)

  assert.is(
    email!.ended_at !== null,
    deliveries.every(({ state }) => state === 2),
    'ended too early or never',
  )

  const told = events.map(({ type, recipient }) => `${type} ${recipient ?? ''}`)
  const once = told.filter(text => !text.startsWith('email.opened'))
  assert.is(new Set(once).size, once.length, 'an event was told twice')
  assert.is(told.includes('email.sent '), sentAt !== null)
  for (const [i, { address }] of deliveries.entries()) {
    const shown = seen[i]!
    const isTold = shown !== 'queued'
    assert.is(told.includes(`email.${shown} ${address}`), isTold, `${shown} ${address}`)
    if (!feedback)
      for (const type of ['delivered', 'bounced', 'delivery_delayed', 'complained'])
        assert.not(told.includes(`email.${type} ${address}`))
  }
  const hasReason = seen.some(shown => ['bounced', 'failed', 'suppressed'].includes(shown))
  if (!hasReason && status !== 'complained') assert.is(email!.error, null)
  if (status === 'bounced' || status === 'failed' || status === 'suppressed') assert.ok(email!.error)
}

test.run()
