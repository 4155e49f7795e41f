import * as assert from 'uvu/assert'
import { type Posthorn, startPosthorn } from '../../kit/posthorn.ts'
import {
  assertTold,
  insistOn,
  MODERN_VERSIONS,
  openResend,
  RESEND_VERSIONS,
} from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages: audiences, contacts and topics, with a session in place of a key', {
  limitMs: 15_000,
})
let posthorn: Posthorn
test.before(async () => {
  posthorn = await startPosthorn()
})
test.after(() => posthorn.close())

for (const release of RESEND_VERSIONS)
  test(`${release.version}: keep audiences and their contacts`, async () => {
    const apiKey = await posthorn.signIn()
    const { audiences, contacts } = await openResend(release, { ...posthorn, apiKey })
    const { id: audienceId, name } = insistOn(await audiences.create({ name: 'Readers' }))
    assert.is(name, 'Readers')
    assert.is(insistOn(await audiences.get(audienceId)).id, audienceId)
    assert.ok(insistOn(await audiences.list()).data.some(({ id }) => id === audienceId))
    const email = 'ann@there.example'
    const { id } = insistOn(
      await contacts.create({ audienceId, email, firstName: 'Ann', unsubscribed: false }),
    )
    assertTold(await contacts.create({ audienceId, email }), 'validation_error', 400)
    for (const ref of [{ id }, { email }]) {
      const contact = insistOn(await contacts.get({ audienceId, ...ref }))
      assert.equal(
        [contact.id, contact.email, contact.first_name, contact.unsubscribed],
        [id, email, 'Ann', false],
      )
    }
    insistOn(await contacts.update({ audienceId, id, lastName: 'Årup', unsubscribed: true }))
    const { data } = insistOn(await contacts.list({ audienceId }))
    assert.equal(
      data.map(contact => [contact.last_name, contact.unsubscribed]),
      [['Årup', true]],
    )
    assert.ok(insistOn(await contacts.remove({ audienceId, email })).deleted)
    assert.ok(insistOn(await audiences.remove(audienceId)).deleted)
    assertTold(await audiences.get(audienceId), 'not_found', 404)
  })

for (const release of MODERN_VERSIONS) {
  test(`${release.version}: keep properties, and turn pages`, async () => {
    const apiKey = await posthorn.signIn()
    const { audiences, contacts } = await openResend(release, { ...posthorn, apiKey })
    const { id: audienceId } = insistOn(await audiences.create({ name: 'Readers' }))
    const ids: string[] = []
    for (const name of ['ann', 'bob', 'cid']) {
      const contact = { audienceId, email: `${name}@there.example`, properties: { plan: 'pro', seats: 3 } }
      ids.unshift(insistOn(await contacts.create(contact)).id)
    }
    insistOn(await contacts.update({ audienceId, id: ids[0]!, properties: { plan: null } }))
    assert.equal(insistOn(await contacts.get({ audienceId, id: ids[0]! })).properties, { seats: 3 })
    const seen: string[] = []
    for (let after: string | undefined; ; after = seen.at(-1)) {
      const page = insistOn(
        await contacts.list({ audienceId, limit: 2, ...(after !== undefined && { after }) }),
      )
      seen.push(...page.data.map(({ id }) => id))
      if (!page.has_more) break
    }
    assert.equal(seen, ids)
  })

  test(`${release.version}: keep topics`, async () => {
    const apiKey = await posthorn.signIn()
    const { topics } = await openResend(release, { ...posthorn, apiKey })
    const { id } = insistOn(await topics.create({ name: 'Digest', defaultSubscription: 'opt_in' }))
    insistOn(await topics.update({ id, name: 'Monthly', description: 'Once a month' }))
    const topic = insistOn(await topics.get(id))
    assert.equal(
      [topic.name, topic.description, topic.default_subscription],
      ['Monthly', 'Once a month', 'opt_in'],
    )
    assert.ok(insistOn(await topics.list()).data.some(one => one.id === id))
    assert.ok(insistOn(await topics.remove(id)).deleted)
    assertTold(await topics.get(id), 'not_found', 404)
  })
}

test.run()
