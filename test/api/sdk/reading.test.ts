import * as assert from 'uvu/assert'
import { addAccount } from '../../kit/accounts.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import {
  assertTold,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
  requireData,
} from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages read emails')
let mailhorn: Mailhorn
/** Newest first, as lists are. */
const sent: string[] = []
test.before(async () => {
  mailhorn = await startMailhorn()
  for (let i = 0; i < 7; i++) sent.unshift(await mailhorn.send({ ...MAIL, subject: `${i}` }))
  for (const id of sent) await mailhorn.emailWhen(id, 'delivered')
})
test.after(() => mailhorn.close())

const MAIL = { from: 'Ann <ann@here.example>', to: 'delivered@simulator.test', subject: 'hi', text: 'text' }
const bare = (id: string) => id.slice(4)

for (const release of RESEND_VERSIONS) {
  const { version } = release

  test(`${version}: an email, by its id with and without the prefix`, async () => {
    const { emails } = await openResend(release, mailhorn)
    for (const id of [sent[0]!, bare(sent[0]!)]) {
      const email = requireData(await emails.get(id))
      assert.equal([email.object, email.id, email.subject], ['email', sent[0], '6'])
      assert.equal([email.last_event, email.html, email.text], ['delivered', null, 'text'])
      assert.equal([email.to, email.cc, email.bcc, email.reply_to], [[MAIL.to], [], [], []])
    }
  })

  for (const [to, event] of [
    ['delivered', 'delivered'],
    ['bounced', 'bounced'],
    ['soft-bounced', 'bounced'],
    ['complained', 'complained'],
    ['suppressed', 'suppressed'],
    ['failed', 'failed'],
    ['opened', 'delivered'],
  ] as const)
    test(`${version}: ${event} as the last event of what went to ${to}`, async () => {
      const { emails } = await openResend(release, mailhorn)
      const { id } = requireData(await emails.send({ ...MAIL, to: `${to}@simulator.test` }))
      await mailhorn.emailWhen(id, event)
      assert.is(requireData(await emails.get(id)).last_event, event)
    })

  test(`${version}: nothing of another account`, async () => {
    const { emails } = await openResend(release, { ...mailhorn, apiKey: stranger().apiKey })
    assertTold(await emails.get(sent[0]!), 'not_found', 404)
  })
}

let strangers = 0
function stranger() {
  return addAccount(mailhorn, `stranger-${++strangers}`)
}

for (const release of MODERN_VERSIONS) {
  const { version } = release
  /** Ids of a page, and whether there is more. */
  const list = async (options?: object) => {
    const { emails } = await openResend(release, { ...mailhorn, apiKey })
    const { object, has_more, data } = requireData(await emails.list(options as { limit: number }))
    assert.is(object, 'list')
    return [data.map(({ id }) => own.indexOf(id)), has_more]
  }
  let apiKey = ''
  /** Newest first. */
  let own: string[] = []

  test(`${version}: pages by after, before and limit`, async () => {
    apiKey = stranger().apiKey
    const client = await openResend(release, { ...mailhorn, apiKey })
    own = []
    for (let i = 0; i < 5; i++) own.unshift(requireData(await client.emails.send(MAIL)).id)
    assert.equal(await list(), [[0, 1, 2, 3, 4], false])
    assert.equal(await list({ limit: 2 }), [[0, 1], true])
    assert.equal(await list({ limit: 2, after: own[1] }), [[2, 3], true])
    assert.equal(await list({ limit: 2, after: own[3] }), [[4], false])
    assert.equal(await list({ after: own[4] }), [[], false])
    assert.equal(await list({ limit: 2, before: own[4] }), [[2, 3], true])
    assert.equal(await list({ limit: 2, before: own[2] }), [[0, 1], false])
    assert.equal(await list({ before: own[0] }), [[], false])
    assert.equal(await list({ limit: 1, after: bare(own[0]!) }), [[1], true])
  })

  test(`${version}: a row has all that its type promises`, async () => {
    const { emails } = await openResend(release, mailhorn)
    const { data } = requireData(await emails.list({ limit: 100 }))
    const row = data.find(({ id }) => id === sent[0])!
    assert.equal([row.from, row.to, row.subject], [MAIL.from, [MAIL.to], '6'])
    assert.equal([row.cc, row.bcc, row.reply_to], [[], [], []])
    assert.equal([row.last_event, row.scheduled_at], ['delivered', null])
    assert.is(new Date(row.created_at).toISOString(), row.created_at)
  })

  test(`${version}: a page that cannot be`, async () => {
    const { emails } = await openResend(release, mailhorn)
    for (const limit of [0, 101, 1.5, Number.NaN])
      assertTold(await emails.list({ limit }), 'validation_error', 422)
    assertTold(await emails.list({ after: 'nonsense' }), 'validation_error', 422)
    assertTold(await emails.list({ after: sent[0]!.replace(/....$/, 'ffff') }), 'not_found', 404)
    const foreign = await openResend(release, { ...mailhorn, apiKey: stranger().apiKey })
    assertTold(await foreign.emails.list({ before: sent[0]! }), 'not_found', 404)
    assert.equal(requireData(await foreign.emails.list()).data, [])
  })
}

test.run()
