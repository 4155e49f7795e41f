import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import type { DefaultSubscription } from '../../../../src/store/model/schema.ts'
import { openAudience } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts/import topics')
const ANN = 'ann@there.test'
const FILE = `email\n${ANN}\n`

async function open(t: TestContext) {
  const audience = await openAudience(t)
  const { run, clock, accountId, audienceId, db } = audience
  const at = () => clock.now()
  return {
    ...audience,
    topic: async (defaultSubscription: DefaultSubscription) => {
      const id = newId(at())
      const fields = { name: 'News', description: null, defaultSubscription, visibility: 'private' as const }
      await run('createTopic', { accountId, id, fields, at: at() })
      return id
    },
    say: (id: Id, topicId: Id, subscribed: boolean) =>
      run('subscribe', {
        ...{ accountId, audienceId, ref: { id }, at: at() },
        subscriptions: [{ topicId, subscribed }],
      }),
    /** Returns the contact's choice for the topic; undefined if there is none. */
    choiceOf: async (topicId: Id) => {
      const rows = await db
        .selectFrom('contactTopics')
        .innerJoin('contacts', 'contacts.id', 'contactTopics.contactId')
        .select('subscribed')
        .where('email', '=', ANN)
        .where('topicId', '=', topicId)
        .execute()
      return rows.map(({ subscribed }) => subscribed === 1)[0]
    },
  }
}

/** Choice before the import, or `new` for a new contact; choice in the file; choice after the import. */
const CASES: [
  byDefault: DefaultSubscription,
  before: boolean | undefined | 'new',
  requests: boolean,
  after: boolean | undefined,
  counts: string,
][] = [
  ['opt_in', 'new', true, undefined, 'created'],
  ['opt_in', 'new', false, false, 'created'],
  ['opt_out', 'new', true, true, 'created'],
  ['opt_out', 'new', false, undefined, 'created'],
  ['opt_in', undefined, false, false, 'updated'],
  ['opt_in', undefined, true, undefined, 'unchanged'],
  ['opt_out', undefined, true, true, 'updated'],
  ['opt_in', false, true, false, 'unchanged'],
  ['opt_out', false, true, false, 'unchanged'],
  ['opt_out', true, false, false, 'updated'],
  ['opt_out', true, true, true, 'unchanged'],
]

for (const [byDefault, before, requests, after, counts] of CASES)
  test(`topic ${byDefault}, contact ${before}: asked to ${requests ? 'opt in' : 'opt out'}, it is ${counts} as ${after}`, async t => {
    const { topic, add, say, importFile, choiceOf } = await open(t)
    const topicId = await topic(byDefault)
    if (before !== 'new') {
      const id = await add({ email: ANN })
      if (before !== undefined) await say(id, topicId, before)
    }
    const subscriptions = [{ topicId, subscribed: requests }]
    const report = (await importFile(FILE, { subscriptions }))!
    const { createdCount, updatedCount, unchangedCount } = report
    assert.equal(
      { created: createdCount, updated: updatedCount, unchanged: unchangedCount },
      { created: 0, updated: 0, unchanged: 0, [counts]: 1 },
    )
    assert.is(await choiceOf(topicId), after)
  })

test('an address that has left the topic stays out of it, and a skipped contact is not changed', async t => {
  const { topic, add, run, importFile, choiceOf, accountId, clock } = await open(t)
  const topicId = await topic('opt_out')
  const subscriptions = [{ topicId, subscribed: true }]
  await run('leave', { accountId, address: ANN, topicId, broadcastId: null, at: clock.now() })
  await importFile(FILE, { subscriptions })
  assert.is(await choiceOf(topicId), false)
  const other = await topic('opt_out')
  await add({ email: 'bob@there.test' })
  const skip = { onExisting: 'skip' as const, subscriptions: [{ topicId: other, subscribed: true }] }
  assert.is((await importFile(FILE, skip))!.skippedCount, 1)
  assert.is(await choiceOf(other), undefined)
})

test('two rows with one address choose once, and a deleted topic is ignored', async t => {
  const { topic, run, importFile, choiceOf, accountId, clock } = await open(t)
  const [remaining, gone] = [await topic('opt_out'), await topic('opt_out')]
  await run('deleteTopic', { accountId, id: gone, at: clock.now() })
  const subscriptions = [remaining, gone].map(topicId => ({ topicId, subscribed: true }))
  const report = (await importFile(`${FILE}${ANN}\n`, { subscriptions }))!
  assert.equal([report.createdCount, report.unchangedCount, report.failedCount], [1, 1, 0])
  assert.equal([await choiceOf(remaining), await choiceOf(gone)], [true, undefined])
})

test.run()
