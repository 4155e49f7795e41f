import type { GetTemplateResponseSuccess, ListTemplatesResponseSuccess, TemplateVariable } from 'resend'
import * as assert from 'uvu/assert'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { assertTold, MODERN_VERSIONS, openResend, requireData } from '../../kit/resend-versions.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('resend packages: templates')
let mailhorn: Mailhorn
test.before(async () => {
  mailhorn = await startMailhorn()
})
test.after(() => mailhorn.close())

const HTML = '<p>Hello {{{name}}}</p>'
const TO = 'delivered@simulator.test'
let made = 0
const anAlias = () => `order-${++made}`
const orderOf = (alias: string) => ({
  name: 'Order',
  alias,
  from: 'Shop <shop@here.example>',
  subject: 'Order {{{ID}}}',
  replyTo: ['help@here.example'],
  html: '<p>{{{PRODUCT}}} for {{{PRICE}}}</p>',
  variables: [
    { key: 'PRODUCT', type: 'string' as const, fallbackValue: 'item' },
    { key: 'PRICE', type: 'number' as const, fallbackValue: 20 },
    { key: 'ID', type: 'number' as const },
  ],
})
const shownVariable = ({ key, type, fallback_value }: TemplateVariable) => [key, type, fallback_value]

type Kind = 'string' | 'number' | 'boolean' | 'null' | 'object'
/** Types of the fields that the SDK declares; the keys are checked against its types. */
const TEMPLATE: Record<keyof GetTemplateResponseSuccess, readonly Kind[]> = {
  object: ['string'],
  id: ['string'],
  name: ['string'],
  subject: ['string', 'null'],
  html: ['string'],
  text: ['string', 'null'],
  status: ['string'],
  variables: ['object', 'null'],
  alias: ['string', 'null'],
  from: ['string', 'null'],
  reply_to: ['object', 'null'],
  published_at: ['string', 'null'],
  created_at: ['string'],
  updated_at: ['string'],
  has_unpublished_versions: ['boolean'],
  current_version_id: ['string'],
}
const ROW: Record<keyof ListTemplatesResponseSuccess['data'][number], readonly Kind[]> = {
  id: ['string'],
  name: ['string'],
  created_at: ['string'],
  updated_at: ['string'],
  status: ['string'],
  published_at: ['string', 'null'],
  alias: ['string', 'null'],
}

function assertTyped(value: object, types: Readonly<Record<string, readonly Kind[]>>) {
  for (const [key, kinds] of Object.entries(types)) {
    const field = (value as Record<string, unknown>)[key]
    assert.ok(
      kinds.includes(field === null ? 'null' : (typeof field as Kind)),
      `${key}: ${JSON.stringify(field)}`,
    )
  }
}

for (const release of MODERN_VERSIONS) {
  const open = async () => openResend(release, { ...mailhorn, apiKey: await mailhorn.signIn() })

  test(`${release.version}: keep templates`, async () => {
    const { templates } = await open()
    const { id, object } = requireData(
      await templates.create({ name: 'Greeting', subject: 'Hi', html: HTML }),
    )
    assert.is(object, 'template')
    const template = requireData(await templates.get(id))
    assertTyped(template, TEMPLATE)
    assert.equal(
      [template.name, template.subject, template.html, template.text, template.status],
      ['Greeting', 'Hi', HTML, null, 'draft'],
    )
    assert.equal(template.variables!.map(shownVariable), [['name', 'string', null]])
    const { data } = requireData(await templates.list({ limit: 1 }))
    assertTyped(data[0]!, ROW)
    assert.equal(
      data.map(row => [row.id, row.name, row.status]),
      [[id, 'Greeting', 'draft']],
    )
    assert.equal(requireData(await templates.remove(id)), { object: 'template', id, deleted: true })
    assertTold(await templates.get(id), 'not_found', 404)
  })

  test(`${release.version}: create and publish in one, then send by alias with fallbacks`, async () => {
    const { templates, emails } = await open()
    const alias = anAlias()
    const { id } = requireData(await templates.create(orderOf(alias)).publish())
    const template = requireData(await templates.get(alias))
    assertTyped(template, TEMPLATE)
    assert.equal(
      [template.id, template.alias, template.from, template.reply_to, template.status],
      [id, alias, 'Shop <shop@here.example>', ['help@here.example'], 'published'],
    )
    assert.equal(template.has_unpublished_versions, false)
    assert.equal(template.variables!.map(shownVariable), [
      ['PRODUCT', 'string', 'item'],
      ['PRICE', 'number', 20],
      ['ID', 'number', null],
    ])
    const { id: sent } = requireData(
      await emails.send({ to: TO, template: { id: alias, variables: { ID: 7 } } }),
    )
    const email = await mailhorn.email(sent)
    assert.equal(
      [email.from, email.reply_to, email.subject, email.html],
      ['Shop <shop@here.example>', ['help@here.example'], 'Order 7', '<p>item for 20</p>'],
    )
    assertTold(await emails.send({ to: TO, template: { id: alias } }), 'validation_error', 422)
    const variables = { ID: 7, PRICE: 'much' }
    assertTold(await emails.send({ to: TO, template: { id: alias, variables } }), 'validation_error', 422)
    const other = await templates.create(orderOf(alias))
    assertTold(other, 'validation_error', 422)
  })

  test(`${release.version}: update makes a draft, publish sends it, duplicate copies it`, async () => {
    const { templates, batch } = await open()
    const alias = anAlias()
    requireData(await templates.create(orderOf(alias)).publish())
    const { object } = requireData(
      await templates.update(alias, {
        subject: 'New {{{ID}}}',
        replyTo: 'desk@here.example',
        variables: [{ key: 'ID', type: 'number', fallbackValue: 1 }],
        html: '<p>New</p>',
      }),
    )
    assert.is(object, 'template')
    const send = async () => {
      const mail = { to: TO, template: { id: alias, variables: { ID: 7 } } }
      const { data } = requireData(await batch.send([mail]))
      return mailhorn.email(data[0]!.id)
    }
    const draft = requireData(await templates.get(alias))
    assert.equal(
      [draft.subject, draft.status, draft.has_unpublished_versions],
      ['New {{{ID}}}', 'published', true],
    )
    assert.is((await send()).subject, 'Order 7')
    requireData(await templates.publish(alias))
    const email = await send()
    assert.equal([email.subject, email.reply_to], ['New 7', ['desk@here.example']])
    const { id: copy } = requireData(await templates.duplicate(alias).publish())
    const copied = requireData(await templates.get(copy))
    assert.equal([copied.alias, copied.html, copied.status], [null, '<p>New</p>', 'published'])
    assert.equal(requireData(await templates.remove(alias)).deleted, true)
    assertTold(await templates.publish(alias), 'not_found', 404)
    assertTold(await templates.duplicate(alias), 'not_found', 404)
    assertTold(await templates.update(alias, { name: 'x' }), 'not_found', 404)
  })

  test(`${release.version}: a created template is sent as it was updated, without publishing it`, async () => {
    const { templates, emails } = await open()
    const { id } = requireData(await templates.create(orderOf(anAlias())))
    requireData(await templates.update(id, { html: '<p>Updated</p>' }))
    const { id: sent } = requireData(await emails.send({ to: TO, template: { id, variables: { ID: 7 } } }))
    assert.is((await mailhorn.email(sent)).html, '<p>Updated</p>')
  })
}

test.run()
