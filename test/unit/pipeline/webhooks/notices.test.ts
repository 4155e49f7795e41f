import * as assert from 'uvu/assert'
import { type Id, wireId } from '../../../../src/lib/ids.ts'
import type { Log } from '../../../../src/lib/log.ts'
import type { Refusal } from '../../../../src/pipeline/accept/refusal.ts'
import { sendNotices } from '../../../../src/pipeline/webhooks/notices.ts'
import type { Quota } from '../../../../src/resources/accounts/plans.ts'
import { decodeContent } from '../../../../src/resources/emails/content.ts'
import type { ContentRow } from '../../../../src/store/model/schema/contents.ts'
import { insertRows } from '../../../kit/database.ts'
import { mailbox, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('webhooks/notices')
const DAY_MS = 86_400_000

/** An account that has a webhook and two users, and another one, from whose domain notices come. */
async function open(t: TestContext, quota: Quota | null = null) {
  const store = await t.using(openLocalStore())
  const post = postOver(store, { quotaOf: async () => quota })
  const { clock, accept, preparation } = post
  const [provider, owner] = [post.account('Provider'), post.account('Owner')]
  const addUser = (accountId: Id, email: string) =>
    insertRows(store, 'users', [
      {
        ...{ id: newId(clock.now()), account_id: accountId, email, password_hash: 'none', operator: 0 },
        created_at: clock.now(),
      },
    ])
  addUser(provider, 'staff@provider.example')
  addUser(owner, 'ann@there.test')
  addUser(owner, 'bob@there.test')
  const webhookId = newId(clock.now())
  await store.run('createWebhook', {
    ...{ id: webhookId, accountId: owner, url: 'https://hooks.example/', events: '["email.sent"]' },
    ...{ secret: new Uint8Array(1), formerSecret: null, formerUntil: null, standard: 0, enabled: 1 },
    ...{ earlierSecret: null, earlierUntil: null, domainIds: null, dialect: null },
    ...{ failingSince: clock.now(), disabledAt: null, disabledReason: null, noticeDue: 0 },
    createdAt: clock.now(),
  })
  const warnings: object[] = []
  const log = { warn: (fields: object) => warnings.push(fields) } as unknown as Log
  const from = mailbox('Mailhorn <notices@provider.example>')
  return {
    ...{ ...store, ...post, provider, owner, webhookId, warnings },
    disable: () => store.run('disableFailingWebhook', { id: webhookId, at: clock.now() }),
    /** A round of the sweeper. */
    async notify(run = store.run) {
      for await (const _ of sendNotices({ db: store.db, run, accept, preparation, from, log }))
        await Promise.resolve()
    },
    verify: () => post.domain(provider, 'provider.example'),
    mails: () =>
      store.rows<{ account_id: Uint8Array; subject: string; sender: string; to_list: string }>(
        'select account_id, subject, sender, to_list from emails order by id',
      ),
    due: () => store.rows<{ notice_due: number }>('select notice_due from webhooks')[0]!.notice_due,
  }
}

test('notices: each user of the account gets one email with instructions, and nobody else', async t => {
  const { disable, notify, verify, mails, due, clock, provider, webhookId, warnings, claim, rows } =
    await open(t)
  verify()
  clock.advance(5 * DAY_MS)
  assert.is(await disable(), true)
  await notify()
  await notify()
  assert.equal(
    mails().map(({ to_list }) => JSON.parse(to_list)[0].address),
    ['ann@there.test', 'bob@there.test'],
  )
  for (const { account_id, subject, sender } of mails()) {
    assert.equal(new Uint8Array(account_id), provider)
    assert.is(subject, 'A webhook was disabled')
    assert.is(JSON.parse(sender)[0].address, 'notices@provider.example')
  }
  assert.is((await claim(provider)).length, 2)
  assert.equal([due(), warnings], [0, []])
  const answerText = decodeContent(rows<ContentRow>('select encoding, body from contents')[0]!).text!
  assert.match(answerText, 'https://hooks.example/ has taken nothing since 2026-11-21 13:00 UTC')
  assert.match(answerText, 'was disabled at 2026-11-26 13:00 UTC')
  assert.match(answerText, `PATCH /webhooks/${wireId('wh', webhookId)}?enabled=true`)
})

test('notices: a webhook that has failed for less than five days is not disabled and makes no notice', async t => {
  const { disable, notify, verify, mails, due, clock } = await open(t)
  verify()
  clock.advance(5 * DAY_MS - 1)
  assert.is(await disable(), false)
  await notify()
  assert.equal([mails(), due()], [[], 0])
})

test('notices: without a verified sender domain a warning is logged, and the notice is sent once it is verified', async t => {
  const { disable, notify, verify, mails, due, clock, warnings } = await open(t)
  clock.advance(5 * DAY_MS)
  await disable()
  await notify()
  assert.equal([mails(), due()], [[], 1])
  assert.equal(warnings, [{ event: 'webhook_notices_not_possible', domain: 'provider.example', count: 1 }])
  verify()
  await notify()
  assert.equal([mails().length, due(), warnings.length], [2, 0, 1])
})

test('notices: a crash before the notice was marked as sent does not send it twice', async t => {
  const { disable, notify, verify, mails, due, clock } = await open(t)
  verify()
  clock.advance(5 * DAY_MS)
  await disable()
  const killed = notify(async () => {
    throw new Error('killed')
  })
  assert.is(await killed.catch(error => error.message), 'killed')
  assert.equal([mails().length, due()], [2, 1])
  await notify()
  assert.equal([mails().length, due()], [2, 0])
})

test('notices: a webhook that is disabled again makes another notice', async t => {
  const { disable, notify, verify, mails, run, clock, owner, webhookId, change } = await open(t)
  verify()
  for (let time = 0; time < 2; time++) {
    clock.advance(5 * DAY_MS)
    await disable()
    await notify()
    const changes = { enabled: 1 as const }
    await run('changeWebhook', { accountId: owner, id: webhookId, changes, at: clock.now() })
    change('update webhooks set failing_since = ?', clock.now())
  }
  assert.is(mails().length, 4)
})

test('notices: a webhook enabled before its notice makes none', async t => {
  const { disable, notify, verify, mails, run, clock, owner, webhookId } = await open(t)
  clock.advance(5 * DAY_MS)
  await disable()
  await notify()
  const changes = { enabled: 1 as const }
  await run('changeWebhook', { accountId: owner, id: webhookId, changes, at: clock.now() })
  verify()
  await notify()
  assert.equal(mails(), [])
})

test('notices: a notice is sent and counted regardless of the sender account’s quota', async t => {
  const { disable, notify, verify, mails, due, clock, warnings, submit, provider } = await open(t, {
    ...{ daily: 1, monthly: 1 },
  })
  verify()
  clock.advance(5 * DAY_MS)
  await disable()
  await notify()
  assert.equal([mails().length, due(), warnings], [2, 0, []])
  const refused = await submit(provider, { from: 'staff@provider.example' })
  assert.is((refused as Refusal).refused, 'monthly_quota')
})

test('notices: a temporary refusal logs the webhook, and the notice is sent later, once per user', async t => {
  const { disable, notify, verify, mails, due, clock, webhookId, warnings, accept } = await open(t)
  verify()
  clock.advance(5 * DAY_MS)
  await disable()
  const { send } = accept
  const replies = [undefined, { refused: 'busy', message: 'It is busy.' } as const]
  accept.send = async (...input) => replies.shift() ?? send(...input)
  await notify()
  assert.equal([mails().length, due()], [1, 1])
  assert.equal(warnings, [
    { event: 'webhook_notice_refused', webhook: wireId('wh', webhookId), fault: 'It is busy.' },
  ])
  await notify()
  assert.equal([mails().length, due(), warnings.length], [2, 0, 1])
})

test.run()
