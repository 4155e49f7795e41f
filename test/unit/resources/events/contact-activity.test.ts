import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { visitorOf } from '../../../../src/pipeline/tracking/bot-detection.ts'
import { openAudience } from '../../../kit/audience.ts'
import { endings, finishFor, newId, postOver } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('events/contact-activity')
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0'
const APPLE = 'Mozilla/5.0'

interface Times {
  last_sent_at: number | null
  last_opened_at: number | null
  last_clicked_at: number | null
}

async function open(t: TestContext) {
  const audience = await openAudience(t)
  const post = postOver(audience, { clock: audience.clock })
  const { accountId, clock, run } = audience
  post.domain(accountId, 'here.test')
  return {
    ...audience,
    times: (contactId: Id): Times | undefined =>
      audience.rows<Times>(
        'select last_sent_at, last_opened_at, last_clicked_at from contact_activity where contact_id = ?',
        contactId,
      )[0],
    /** An email to the address, attempted now; returns its id. */
    async deliver(to: string, over = {}): Promise<Id> {
      const emailId = await post.send(accountId, { to: [to] })
      for (const delivery of await post.claim(accountId))
        await run('finish', finishFor(delivery, clock.now(), over))
      return emailId
    },
    visit(emailId: Id, link: number, userAgent = FIREFOX) {
      const hit = { at: clock.now(), visitor: visitorOf('GET', { 'user-agent': userAgent }, '192.0.2.7') }
      const recipient = { accountId, emailId, ordinal: 0 }
      const url = link < 0 ? null : 'https://shop.test/'
      const counts = { more: 0, moreMachines: 0, lastAt: clock.now() }
      return run('recordVisits', { visits: [{ recipient, link, url, hits: [hit], ...counts }] })
    },
  }
}

test('contact activity: the last email, open and click are kept for the address in every audience', async t => {
  // given
  const { add, newAudience, deliver, visit, times, clock } = await open(t)
  const ann = await add({ email: 'ann@there.test' })
  const annElsewhere = await add({ email: 'ann@there.test' }, await newAudience())
  const bob = await add({ email: 'bob@there.test' })

  // when
  await deliver('Ann@there.test')
  clock.advance(3_600_000)
  const sentAt = clock.now() - 100
  const emailId = await deliver('Ann@there.test')
  clock.advance(3_600_000)
  const openedAt = clock.now()
  await visit(emailId, -1)
  clock.advance(60_000)
  const clickedAt = clock.now()
  await visit(emailId, 0)

  // then
  const expected = { last_sent_at: sentAt, last_opened_at: openedAt, last_clicked_at: clickedAt }
  assert.equal(times(ann), expected)
  assert.equal(times(annElsewhere), expected)
  assert.is(times(bob), undefined)
})

test('contact activity: visits of machines do not count', async t => {
  const { add, deliver, visit, times, clock } = await open(t)
  const ann = await add({ email: 'ann@there.test' })
  const emailId = await deliver('ann@there.test')
  await visit(emailId, 0) // sooner than a person could
  clock.advance(3_600_000)
  await visit(emailId, -1, APPLE)
  const { last_opened_at, last_clicked_at } = times(ann)!
  assert.equal([last_opened_at, last_clicked_at], [null, null])
})

test('contact activity: an attempt counts as sent whatever the reply, and no attempt does not', async t => {
  const { add, deliver, times, clock } = await open(t)
  const ann = await add({ email: 'ann@there.test' })
  await deliver('ann@there.test', { handedOverAt: null, ...endings.failed() })
  assert.is(times(ann), undefined)
  await deliver('ann@there.test', endings.bounced())
  assert.is(times(ann)?.last_sent_at, clock.now() - 100)
})

test('contact activity: a copied contact has that of the original, and it goes with the contact', async t => {
  // given
  const { add, accountId, audienceId, newAudience, deliver, times, run, rows, clock } = await open(t)
  const ann = await add({ email: 'ann@there.test' })
  await deliver('ann@there.test')
  const other = await newAudience()
  const copy = newId(clock.now())
  const at = clock.now()

  // when
  await run('copyContact', {
    ...{ accountId, audienceId: other, id: copy, at },
    from: { audienceId, id: ann },
  })

  // then
  assert.equal(times(copy), times(ann))
  await run('removeContact', { accountId, audienceId, ref: { id: ann }, at })
  assert.is(times(ann), undefined)
  await run('removeFromAudience', {
    ...{ accountId, audienceId: other, email: 'ann@there.test', newAudienceId: newId(at), at },
  })
  assert.is(times(copy)?.last_sent_at, at - 100)
  const [audience] = rows<{ id: Id }>("select id from audiences where name = 'Contacts'")
  await run('deleteAudience', { accountId, id: audience!.id, at })
  await run('deleteContactsOf', { audience: { id: audience!.id, accountId, deletedAt: at }, at })
  assert.is(times(copy), undefined)
})

test.run()
