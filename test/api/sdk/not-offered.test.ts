import { type ErrorResponse, Resend } from 'resend'
import * as assert from 'uvu/assert'
import { openSession } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend: methods of resources that Mailhorn does not have')
let mailhorn: Mailhorn
let session: string
test.before(async () => {
  mailhorn = await startMailhorn()
  session = openSession(mailhorn, 'bearer')
})
test.after(() => mailhorn.close())

type Answer = Promise<{ data: unknown; error: ErrorResponse | null }>

const STEPS = { steps: [], connections: [] }
const CALLS: Record<string, (resend: Resend) => Answer> = {
  'events.list': ({ events }) => events.list(),
  'events.create': ({ events }) => events.create({ name: 'user.signed_up' }),
  'events.get': ({ events }) => events.get('user.signed_up'),
  'events.update': ({ events }) => events.update('user.signed_up', { schema: null }),
  'events.remove': ({ events }) => events.remove('user.signed_up'),
  'events.send': ({ events }) => events.send({ event: 'user.signed_up', email: 'a@b.example' }),
  'automations.create': ({ automations }) => automations.create({ name: 'a', ...STEPS }),
  'automations.list': ({ automations }) => automations.list(),
  'automations.get': ({ automations }) => automations.get('1'),
  'automations.update': ({ automations }) => automations.update('1', { name: 'b' }),
  'automations.duplicate': ({ automations }) => automations.duplicate('1'),
  'automations.stop': ({ automations }) => automations.stop('1'),
  'automations.remove': ({ automations }) => automations.remove('1'),
  'automations.runs.list': ({ automations }) => automations.runs.list({ automationId: '1' }),
  'automations.runs.get': ({ automations }) => automations.runs.get({ automationId: '1', runId: '2' }),
  'inboxes.list': ({ inboxes }) => inboxes.list(),
  'inboxes.get': ({ inboxes }) => inboxes.get('1'),
  'inboxes.remove': ({ inboxes }) => inboxes.remove('1'),
  'inboxes.drafts.list': ({ inboxes }) => inboxes.drafts.list({ inboxId: '1' }),
  'inboxes.labels.list': ({ inboxes }) => inboxes.labels.list({ inboxId: '1' }),
  'inboxes.threads.labels.set': ({ inboxes }) =>
    inboxes.threads.labels.set({ inboxId: '1', threadId: '2', labels: ['3'] }),
  'oauthGrants.list': ({ oauthGrants }) => oauthGrants.list(),
  'oauthGrants.revoke': ({ oauthGrants }) => oauthGrants.revoke('1'),
}

for (const [method, ask] of Object.entries(CALLS))
  test(`${method}: is refused as not found, with the reason`, async () => {
    const { data, error } = await ask(new Resend(session, { baseUrl: mailhorn.baseUrl }))
    assert.equal([data, error?.statusCode, error?.name], [null, 404, 'not_found'])
    assert.match(error!.message, /^Mailhorn does not have /)
  })

test('events: the message names where the events of the account are', async () => {
  const { body } = await mailhorn.call('GET', '/events/', { session })
  assert.match(body.message, '`/activity`')
  assert.is((await mailhorn.call('GET', '/activity', { session })).status, 200)
})

test('a path that begins like one of them is an unknown path', async () => {
  const { body } = await mailhorn.call('GET', '/eventsource', { session })
  assert.is(body.message, 'Unknown path: /eventsource')
})

test.run()
