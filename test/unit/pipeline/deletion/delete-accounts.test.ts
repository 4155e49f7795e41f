import * as assert from 'uvu/assert'
import { sweepDeletedAccounts } from '../../../../src/pipeline/deletion/delete-accounts.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('deletion/delete-accounts')
const SETTLED_MS = 2 * 60_000

test('only what belongs to deleted accounts is removed, and their rows once requests have settled', async t => {
  // given: two accounts with a domain, a suppression and a broadcast each, of which one is deleted
  const store = await t.using(openLocalStore())
  const { account, domain, suppress, broadcast, clock } = postOver(store)
  const { db, run, blobs, rows } = store
  const [kept, deleted] = [account('Kept'), account('Deleted')]
  for (const [id, name] of [
    [kept, 'kept.test'],
    [deleted, 'deleted.test'],
  ] as const) {
    domain(id, name)
    suppress(id, `ann@${name}`)
    const broadcastId = broadcast(id, newId(clock.now()))
    const leaving = { accountId: id, address: `ann@${name}`, topicId: null, broadcastId }
    await run('leave', { ...leaving, at: clock.now() })
  }
  assert.is(await run('deleteAccount', { id: deleted, now: clock.now() }), 'deleted')
  const gone: string[] = []
  const queueAdmin = { cancel: async () => ({ deliveries: 0, hasMore: false }) }
  const sweep = async () => {
    const onGone = ({ name }: { name: string }) => void gone.push(name)
    for await (const _ of sweepDeletedAccounts({ db, run, blobs, queueAdmin, clock, onGone })) void _
  }
  const left = () => ({
    accounts: rows('select name from accounts order by name').map(({ name }) => name),
    domains: rows('select name from domains').map(({ name }) => name),
    suppressions: rows('select email from suppressions').map(({ email }) => email),
    outcomes: rows('select email from broadcast_outcomes').map(({ email }) => email),
  })
  const ofKept = { domains: ['kept.test'], suppressions: ['ann@kept.test'], outcomes: ['ann@kept.test'] }

  // when, then: before the requests have settled, the row of the account stays
  await sweep()
  assert.equal([left(), gone], [{ accounts: ['Deleted', 'Kept'], ...ofKept }, []])

  // when, then: after that, only the other account is left
  clock.advance(SETTLED_MS)
  await sweep()
  await sweep()
  assert.equal([left(), gone], [{ accounts: ['Kept'], ...ofKept }, ['Deleted']])
})

test.run()
