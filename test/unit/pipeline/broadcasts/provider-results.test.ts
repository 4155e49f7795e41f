import * as assert from 'uvu/assert'
import { countByProvider } from '../../../../src/pipeline/broadcasts/provider-results.ts'
import { endings, finishFor } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'
import { openBroadcasts } from './scene.ts'

const test = suite('broadcasts/provider-results')

test('results by provider: domains of a known provider are counted together, in chunks of any size', async t => {
  // given: two domains of Google, one whose host says nothing, and other mail of the account in between
  const scene = await openBroadcasts(t)
  const { contacts, sending, work, claim, run, change, send, accountId, clock, db, broadcasts, rows } = scene
  const addresses = ['a@gmail.test', 'b@gmail.test', 'c@company.test', 'd@own.test', 'e@own.test']
  contacts(addresses.map(email => ({ email })))
  const id = await sending()
  await work()
  for (const [domain, destination] of [
    ['gmail.test', 'google'],
    ['company.test', 'google'],
    ['own.test', 'mx.own.test'],
  ])
    change(
      'insert into domain_destinations (domain, destination, seen_at) values (?, ?, 1)',
      domain,
      destination,
    )
  await send(accountId, { to: ['x@gmail.test'] })
  for (const domain of ['gmail.test', 'company.test', 'own.test'])
    for (const delivery of await claim(accountId, domain, { class: 1 })) {
      const bounces = delivery.address === 'e@own.test'
      await run('finish', finishFor(delivery, clock.now(), bounces ? endings.bounced() : {}))
    }
  change(
    "update emails set open_count = 3, click_count = 1 where id = (select email_id from deliveries where address = 'c@company.test')",
  )

  // when, then
  const { broadcast } = (await broadcasts.find(accountId, id))!
  const none = { delayed: 0, bounced: 0, complained: 0, opened: 0, clicked: 0 }
  for (const size of [1, 2, 100]) {
    const found = await countByProvider(db, clock, { broadcast, horizon: 0 }, size)
    assert.equal(found, {
      providers: [
        { provider: 'google', ...none, sent: 3, delivered: 3, opened: 1, clicked: 1 },
        { provider: 'own.test', ...none, sent: 2, delivered: 1, bounced: 1 },
      ],
      others: null,
      isComplete: true,
    })
  }
  assert.is(rows('select 1 from emails').length, 6)
  const later = await countByProvider(db, clock, { broadcast, horizon: clock.now() })
  assert.equal(later.providers, [])
})

test('results by provider: those with the fewest emails are counted as others', async t => {
  const { contacts, sending, work, change, clock, db, broadcasts, accountId } = await openBroadcasts(t)
  contacts(Array.from({ length: 17 }, (_, i) => ({ email: `a@d${i}.test` })))
  const id = await sending()
  await work()
  change("update emails set status = 'delivered'")
  const { broadcast } = (await broadcasts.find(accountId, id))!
  const { providers, others } = await countByProvider(db, clock, { broadcast, horizon: 0 })
  assert.equal([providers.length, others?.sent, others?.delivered], [15, 2, 2])
})

test('results by provider: before sending there are none', async t => {
  const { broadcasts, draft, accountId, db, clock, taken } = await openBroadcasts(t)
  const { broadcast } = taken(await broadcasts.create(accountId, { ...draft(), by: null }))
  const nothing = { providers: [], others: null, isComplete: true }
  assert.equal(await countByProvider(db, clock, { broadcast, horizon: 0 }), nothing)
})

test.run()
