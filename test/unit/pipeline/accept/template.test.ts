import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import type { TemplateUse } from '../../../../src/pipeline/accept/submission.ts'
import { createTemplateApplier } from '../../../../src/pipeline/accept/template.ts'
import { createReadyTemplates } from '../../../../src/resources/templates/ready.ts'
import { postOver, submissionOf } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { templatesOver } from '../../../kit/templates.ts'

const test = suite('accept/template')
const FIELDS = { id: 'template_id', values: 'template_data' }
const WORDS = { name: 'n', subject: 'Hi {{name}}', html: '<p>{{name}}</p>', text: '{{name}}' }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const templates = templatesOver({ ...store, clock: post.clock })
  const create = async (words: Partial<typeof WORDS> = {}) =>
    (await templates.create(accountId, { ...WORDS, ...words })).id
  return { ...store, ...post, templates, accountId, create, ready: createReadyTemplates(store.find) }
}

const using = (id: Id, values: TemplateUse['values'] = { name: 'Ann' }) =>
  submissionOf({ subject: null, text: null, template: { ref: id, values, fields: FIELDS } })

test('template: without one the texts of the submission are used unchanged', async t => {
  const { ready, accountId } = await open(t)
  const submission = submissionOf({ subject: '' })
  const { from, replyTo, subject, html, text } = submission
  const applied = await createTemplateApplier(ready, accountId)(submission)
  assert.equal(applied, { from, replyTo, subject, html, text, templateId: null })
})

test('template: without one a subject is required and may be empty', async t => {
  const { ready, accountId } = await open(t)
  const words = await createTemplateApplier(ready, accountId)(submissionOf({ subject: null }))
  assert.is(isRefusal(words) && words.refused, 'missing_field')
})

test('template: one with tags of another language is refused, unless the submission has its own part', async t => {
  const { ready, accountId, create } = await open(t)
  const render = createTemplateApplier(ready, accountId)
  const id = await create({ html: '<p>Hi\n{{#if name}}x{{/if}}</p>' })
  const refusal = await render(using(id))
  assert.ok(isRefusal(refusal))
  assert.equal([refusal.refused, refusal.errors?.[0]?.path], ['invalid_field', 'template_id'])
  assert.match(refusal.message, 'The `html` of the template contains `{{#if name}}` at line 2, column 1')
  assert.not(isRefusal(await render({ ...using(id), html: '<p>own</p>' })))
})

test('template: all submissions of a request see the same state of it', async t => {
  const { ready, accountId, templates, create } = await open(t)
  const id = await create()
  const find = createTemplateApplier(ready, accountId)
  const first = await find(using(id))
  await templates.replace(accountId, id, { ...WORDS, subject: 'Bye {{name}}' })
  const second = await find(using(id, { name: 'Bob' }))
  await templates.delete(accountId, id)
  const third = await find(using(id, { name: 'Cem' }))
  assert.equal(
    [first, second, third].map(words => !isRefusal(words) && [words.subject, words.html, words.text]),
    [
      ['Hi Ann', '<p>Ann</p>', 'Ann'],
      ['Hi Bob', '<p>Bob</p>', 'Bob'],
      ['Hi Cem', '<p>Cem</p>', 'Cem'],
    ],
  )
  const later = await createTemplateApplier(ready, accountId)(using(id))
  assert.is(isRefusal(later) && later.refused, 'unknown_template')
})

test('template: an email stores the id of its template', async t => {
  const { submit, domain, accountId, create, rows } = await open(t)
  domain(accountId, 'here.test')
  const id = await create()
  const accepted = await submit(accountId, {
    subject: null,
    text: null,
    template: { ref: id, values: { name: 'Ann' }, fields: FIELDS },
  })
  assert.not(isRefusal(accepted))
  const [email] = rows<{ subject: string; template_id: Uint8Array }>(
    'select subject, template_id from emails',
  )
  assert.equal([email!.subject, Buffer.compare(email!.template_id, id)], ['Hi Ann', 0])
})

test('template: nothing is stored if a variable or text is missing', async t => {
  const { submit, domain, accountId, create, rows } = await open(t)
  domain(accountId, 'here.test')
  const id = await create()
  const before = rows('select * from contents')
  const key = { endpoint: '/emails', key: 'k', bodyHash: new Uint8Array(32) }
  for (const idempotency of [null, key]) {
    const use = { ref: id, values: {}, fields: FIELDS }
    const refused = await submit(accountId, { subject: null, template: use }, idempotency)
    assert.is(isRefusal(refused) && refused.refused, 'invalid_field')
  }
  assert.equal(rows('select * from emails'), [])
  assert.equal(rows('select * from idempotency_keys'), [])
  assert.equal(rows('select * from contents'), before)
})

test.run()
