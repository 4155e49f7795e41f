import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, insistOn, MODERN_VERSIONS, openResend } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages, with a session in place of a key')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

for (const release of MODERN_VERSIONS)
  test(`${release.version}: keep templates`, async () => {
    const apiKey = await mailhorn.signIn()
    const { templates } = await openResend(release, { ...mailhorn, apiKey })
    const html = '<p>Hello {{{name}}}</p>'
    const { id, object } = insistOn(await templates.create({ name: 'Greeting', subject: 'Hi', html }))
    assert.is(object, 'template')
    const template = insistOn(await templates.get(id))
    assert.equal(
      [template.name, template.subject, template.html, template.text],
      ['Greeting', 'Hi', html, null],
    )
    assert.equal(
      template.variables!.map(({ key, type, fallback_value: fallback }) => [key, type, fallback]),
      [['name', 'string', null]],
    )
    const { data, has_more: hasMore } = insistOn(await templates.list({ limit: 1 }))
    assert.equal(
      [data.map(row => [row.id, row.name, row.status]), hasMore],
      [[[id, 'Greeting', 'published']], false],
    )
    assert.equal(insistOn(await templates.remove(id)), { object: 'template', id, deleted: true })
    assertTold(await templates.get(id), 'not_found', 404)
  })

test.run()
