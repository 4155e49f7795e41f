import * as assert from 'uvu/assert'
import { idText } from '../../../../src/lib/ids.ts'
import { insertRows } from '../../../kit/database.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('events/dsn-notices')

test('only the notification that was sent is marked, and those of other emails and recipients stay due', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const { clock } = post
  const accountId = post.account()
  const [one, other] = [newId(clock.now()), newId(clock.now())]
  const notice = (emailId: typeof one, ordinal: number, action: string) => ({
    ...{
      account_id: accountId,
      email_id: emailId,
      ordinal,
      action,
      at: clock.now(),
      facts: '{}',
      sent_at: null,
    },
  })
  insertRows(store, 'dsn_notices', [
    notice(one, 0, 'failed'),
    notice(one, 0, 'delayed'),
    notice(one, 1, 'failed'),
    notice(other, 0, 'failed'),
  ])
  clock.advance(1_000)
  await store.run('dsnNoticeSent', { emailId: one, ordinal: 0, action: 'failed', at: clock.now() })
  const sent = await store.db.selectFrom('dsnNotices').selectAll().where('sentAt', 'is not', null).execute()
  assert.equal(
    sent.map(({ emailId, ordinal, action, sentAt }) => [idText(emailId), ordinal, action, sentAt]),
    [[idText(one), 0, 'failed', clock.now()]],
  )
})

test.run()
