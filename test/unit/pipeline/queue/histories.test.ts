import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import type { ClaimedDelivery } from '../../../../src/store/model/command.ts'
import { DELIVERY_CLASS } from '../../../../src/store/model/schema.ts'
import { isOnPostgres } from '../../../kit/database.ts'
import { endings, finishFor, postOver } from '../../../kit/mail.ts'
import { fc } from '../../../kit/property.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const LEASE_MS = 15 * 60_000
const test = suite('queue/histories')
const RUNS = isOnPostgres ? 12 : 150

/**
 * Actions of lease holders and the operator, in any order. Holders are told apart by name. A holder may still
 * finish claimed deliveries after its leases were voided.
 */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('claim' as const),
      holder: fc.nat(2),
      limit: fc.integer({ min: 1, max: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('finish' as const),
      holder: fc.nat(2),
      which: fc.nat(9),
      ending: fc.constantFrom('delivered' as const, 'deferred' as const, 'bounced' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat(99) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('release' as const), holder: fc.nat(2), which: fc.nat(9) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void' as const), holder: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const) }) },
)

test('leases: in random histories, no attempt is finished by two owners and no delivery is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 50 }), async steps => {
      const store = await openLocalStore()
      try {
        const post = postOver(store)
        const accountId = post.account()
        post.domain(accountId, 'here.test')
        await post.send(accountId, { to: ['a@there.test', 'b@there.test', 'c@there.test'] })
        await post.send(accountId, { to: ['d@there.test'] })
        const held: ClaimedDelivery[][] = [[], [], []]
        const finished: ClaimedDelivery[] = []
        const endedBy = new Map<string, number>()

        const finish = async (delivery: ClaimedDelivery, ending: 'delivered' | 'deferred' | 'bounced') => {
          const now = post.clock.now()
          const over =
            ending === 'deferred' ? endings.deferred(now) : ending === 'bounced' ? endings.bounced() : {}
          const good = await store.run('finish', finishFor(delivery, now, over))
          finished.push(delivery)
          if (!good) return
          const attempt = `${idText(delivery.emailId)}/${delivery.ordinal}/${delivery.attempt}`
          endedBy.set(attempt, (endedBy.get(attempt) ?? 0) + 1)
        }

        for (const action of steps) {
          if (action.kind === 'claim') {
            const owner = `holder ${action.holder}`
            for (const deliveryClass of [DELIVERY_CLASS.transactional, DELIVERY_CLASS.retry])
              held[action.holder]!.push(
                ...(await post.claim(accountId, 'there.test', {
                  owner,
                  class: deliveryClass,
                  limit: action.limit,
                })),
              )
          } else if (action.kind === 'finish') {
            const own = held[action.holder]!
            const [delivery] = own.splice(action.which % Math.max(1, own.length), 1)
            if (delivery) await finish(delivery, action.ending)
          } else if (action.kind === 'repeat') {
            const delivery = finished[action.which % Math.max(1, finished.length)]
            if (delivery) await finish(delivery, 'delivered')
          } else if (action.kind === 'release') {
            const own = held[action.holder]!
            const [delivery] = own.splice(action.which % Math.max(1, own.length), 1)
            if (delivery) await store.run('release', delivery)
          } else if (action.kind === 'void') {
            const owner = action.holder === 3 ? null : `holder ${action.holder}`
            await store.run('reclaimLeases', { owner, now: post.clock.now(), leaseMs: LEASE_MS })
          } else post.clock.advance(60_000)
        }

        for (const [attempt, times] of endedBy) assert.is(times, 1, `${attempt} ended ${times} times`)
        const rows = store.rows<{
          state: number
          status: string
          attempts: number
          recorded: number
          last: string
        }>(
          `select state, status, attempts,
             (select count(*) from attempts a where a.email_id = d.email_id and a.ordinal = d.ordinal) as recorded,
             (select outcome from attempts a where a.email_id = d.email_id and a.ordinal = d.ordinal
              order by number desc limit 1) as last
           from deliveries d`,
        )
        assert.is(rows.length, 4)
        for (const { state, status, attempts, recorded, last } of rows) {
          assert.is(
            recorded,
            state === 1 ? attempts - 1 : attempts,
            'each attempt that has ended is recorded',
          )
          if (state === 2) assert.is(status, last)
          else assert.ok(['queued', 'delivery_delayed'].includes(status), status)
        }

        await store.run('reclaimLeases', { owner: null, now: post.clock.now(), leaseMs: LEASE_MS })
        post.clock.advance(60_000)
        const rest = []
        for (const deliveryClass of [DELIVERY_CLASS.transactional, DELIVERY_CLASS.retry])
          rest.push(...(await post.claim(accountId, 'there.test', { class: deliveryClass })))
        assert.is(rest.length, rows.filter(({ state }) => state !== 2).length)
        for (const delivery of rest)
          assert.is(await store.run('finish', finishFor(delivery, post.clock.now())), true)
        assert.equal(store.rows('select * from deliveries where state <> 2'), [])
      } finally {
        await store.close()
      }
    }),
    { seed: 20261121, numRuns: RUNS },
  )
})

test.run()
