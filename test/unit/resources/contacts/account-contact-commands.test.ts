import * as assert from 'uvu/assert'
import { type Id, wireId } from '../../../../src/lib/ids.ts'
import { openAudience } from '../../../kit/audience.ts'
import { newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('contacts without an audience')
const ANN = 'ann@there.test'

async function open(t: TestContext) {
  const audience = await openAudience(t)
  const { run, db, clock, accountId } = audience
  await audience.listen()
  const at = () => clock.now()
  return {
    ...audience,
    takeOut: (audienceId: Id, email = ANN) =>
      run('removeFromAudience', { accountId, audienceId, email, newAudienceId: newId(at()), at: at() }),
    place: async (audienceIds: readonly Id[], firstName: string | null = null) => {
      const none = { lastName: null, unsubscribed: false, properties: new Map() }
      const answer = await run('addAccountContact', {
        ...{ accountId, audienceIds, newAudienceId: newId(at()), subscriptions: [], at: at() },
        ids: [newId(at()), ...audienceIds.slice(1).map(() => newId(at()))],
        fields: { email: ANN, firstName, ...none },
      })
      if (answer === 'no-topic' || 'refused' in answer) throw new Error('refused')
      return { ...answer.contact, remaining: answer.existing.map(({ id }) => id) }
    },
    named: async (name: string): Promise<Id | undefined> =>
      (await db.selectFrom('audiences').select('id').where('name', '=', name).executeTakeFirst())?.id,
    events: async () =>
      (
        await db
          .selectFrom('events')
          .select(['type', 'data'])
          .where('type', 'like', 'contact.%')
          .orderBy('id')
          .execute()
      ).map(({ type, data }) => [type, (JSON.parse(data) as { audience_id: string }).audience_id]),
  }
}

test('removed from the only segment: the contact moves to "Contacts" with its id and all of its data', async t => {
  const { add, run, takeOut, named, contacts, audienceOf, events, audienceId, accountId, clock, db } =
    await open(t)
  const properties = new Map([['plan', 'pro']])
  const id = await add({ email: ANN, firstName: 'Ann', properties })
  const topicId = newId(clock.now())
  const fields = { name: 'News', description: null, defaultSubscription: 'opt_in' as const }
  await run('createTopic', {
    ...{ accountId, id: topicId, at: clock.now() },
    fields: { ...fields, visibility: 'private' },
  })
  const subscriptions = [{ topicId, subscribed: false }]
  await run('subscribe', { accountId, audienceId, ref: { id }, subscriptions, at: clock.now() })
  assert.is(await takeOut(audienceId), 'removed')
  const list = (await named('Contacts'))!
  const [moved] = await contacts(list)
  assert.equal([wireId('con', moved!.id), moved!.firstName], [wireId('con', id), 'Ann'])
  assert.equal(JSON.parse(moved!.properties), { plan: 'pro' })
  assert.equal(await contacts(), [])
  assert.equal([(await audienceOf(audienceId)).contactCount, (await audienceOf(list)).contactCount], [0, 1])
  const text = await db.selectFrom('contactTopics').selectAll().where('contactId', '=', id).execute()
  assert.equal(
    text.map(row => row.subscribed),
    [0],
  )
  const values = await db.selectFrom('contactValues').selectAll().where('contactId', '=', id).execute()
  assert.is(values.length, 1)
  assert.equal((await events()).slice(-1), [['contact.updated', wireId('aud', list)]])
  assert.not((await events()).some(([type]) => type === 'contact.deleted'))
})

test('removed from "Contacts" alone: the contact stays', async t => {
  const { add, takeOut, named, contacts, audienceId } = await open(t)
  await add({ email: ANN })
  await takeOut(audienceId)
  const list = (await named('Contacts'))!
  assert.is(await takeOut(list), 'stays')
  assert.is((await contacts(list)).length, 1)
  assert.equal(await takeOut(audienceId), { refused: 'no-contact' })
})

test('removed from one of two segments: the other keeps its contact, and no list is made', async t => {
  const { add, takeOut, named, newAudience, contacts, audienceId } = await open(t)
  const other = await newAudience()
  await add({ email: ANN })
  await add({ email: ANN }, other)
  assert.is(await takeOut(audienceId), 'removed')
  assert.equal([(await contacts()).length, (await contacts(other)).length], [0, 1])
  assert.is(await named('Contacts'), undefined)
})

test('added again: the contact that exists is returned unchanged', async t => {
  const { place, events, audienceId } = await open(t)
  const first = await place([], 'Ann')
  assert.equal([first.audience_id, first.remaining], [wireId('aud', audienceId), []])
  const again = await place([], 'Anna')
  assert.equal([again.id, again.first_name, again.remaining], [first.id, 'Ann', [first.id]])
  assert.is((await events()).length, 1)
})

test('added to several segments: only those without the contact get it', async t => {
  const { place, newAudience, contacts, audienceId } = await open(t)
  const other = await newAudience()
  const first = await place([other], 'Ann')
  assert.equal([(await place([])).id, (await place([])).remaining], [first.id, [first.id]], 'in any segment')
  const again = await place([audienceId, other], 'Anna')
  assert.equal([again.first_name, again.remaining], ['Anna', [first.id]])
  assert.equal(
    (await contacts(other)).map(({ firstName }) => firstName),
    ['Ann'],
  )
})

test.run()
