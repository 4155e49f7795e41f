import * as assert from 'uvu/assert'
import { forecastRecipients } from '../../../../src/pipeline/broadcasts/forecast.ts'
import { suite } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/forecast')

/** An account whose broadcasts are forecast, and then sent. */
async function opened(...[t, options]: Parameters<typeof openBroadcasts>) {
  const scene = await openBroadcasts(t, options)
  const { db, clock, accountId, audienceId } = scene
  const quota = options?.quota ?? null
  const forecast = (over: object = {}, size?: number) => {
    const broadcast = { accountId, audienceId, segmentId: null, topicId: null, ...over }
    return forecastRecipients(db, clock, { broadcast, quota }, size)
  }
  return { ...scene, forecast }
}

test('forecast: it counts each contact once, by the reason that sending counts', async t => {
  const scene = await opened(t)
  const { contacts, topic, say, suppress, sending, work, counts, accountId, forecast } = scene
  for (const kind of ['opt_in', 'opt_out'] as const) {
    const topicId = topic(kind)
    const ids = contacts(
      ['left', 'left-and-bad', 'out', 'out-and-bad', 'in', 'bad', 'silent'].map(name => ({
        ...{ email: `${name}.${kind}@there.test`, unsubscribed: name.startsWith('left') },
      })),
    )
    for (const i of [2, 3]) say(ids[i]!, topicId, 0)
    say(ids[4]!, topicId, 1)
    for (const name of ['left-and-bad', 'out-and-bad', 'bad'])
      suppress(accountId, `${name}.${kind}@there.test`)
    for (const over of [{ topicId }, {}]) {
      const [seen, inParts] = [await forecast(over), await forecast(over, 2)]
      const id = await sending(over)
      await work()
      const {
        'status.queued': recipientCount = 0,
        'skipped.unsubscribed': unsubscribed = 0,
        'skipped.opted_out': opted_out = 0,
        'skipped.suppressed': suppressed = 0,
      } = await counts(id)
      const skipped = { unsubscribed, opted_out, suppressed, quota: 0 }
      const memberCount = recipientCount + unsubscribed + opted_out + suppressed
      assert.equal(seen, { memberCount, recipientCount, skipped, isComplete: true })
      assert.equal(inParts, seen, 'chunks do not matter')
      assert.ok(recipientCount > 0 && unsubscribed > 0)
    }
  }
})

test('forecast: of a segment, its members alone; of a deleted one, nothing', async t => {
  const { contacts, segment, forecast } = await opened(t)
  contacts([
    { email: 'a@there.test', properties: { city: 'Graz' } },
    { email: 'b@there.test', properties: { city: 'Wien' } },
    { email: 'c@there.test', unsubscribed: true },
  ])
  const unsubscribed = segment([{ field: 'unsubscribed', op: 'eq', value: true }])
  const named = segment([{ field: 'email', op: 'contains', value: 'a@' }])
  const numbers = async (segmentId: Uint8Array) => {
    const found = await forecast({ segmentId })
    return found && [found.memberCount, found.recipientCount, found.skipped.unsubscribed]
  }
  assert.equal(await numbers(unsubscribed), [1, 0, 1])
  assert.equal(await numbers(named), [1, 1, 0])
  assert.is(await numbers(new Uint8Array(16)), undefined)
})

test('forecast: contacts beyond the quota are counted as skipped', async t => {
  const { contacts, sending, work, forecast } = await opened(t, { quota: { daily: 260, monthly: 1_000 } })
  contacts(manyContacts(200))
  assert.is((await forecast())!.recipientCount, 200)
  await sending()
  await work()
  const { recipientCount, skipped, memberCount } = (await forecast())!
  assert.equal([memberCount, recipientCount, skipped.quota], [200, 60, 140])
})

test('forecast: after its time it says what it has counted, and that this is not all', async t => {
  const { db, accountId, audienceId, contacts } = await opened(t)
  contacts(manyContacts(6))
  let elapsedMs = 0
  const clock = { now: () => 0, monotonic: () => (elapsedMs += 6_000) }
  const broadcast = { accountId, audienceId, segmentId: null, topicId: null }
  const found = (await forecastRecipients(db, clock, { broadcast, quota: null }, 2))!
  assert.equal([found.memberCount, found.isComplete], [4, false])
})

test.run()
