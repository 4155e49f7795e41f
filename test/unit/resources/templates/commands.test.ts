import * as assert from 'uvu/assert'
import { ALIAS_TAKEN } from '../../../../src/resources/templates/commands.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore, outputOf } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { createTemplates, templatesOver } from '../../../kit/templates.ts'

const test = suite('templates/commands')
const LONG = '<p>Hello {{name}}</p>'.repeat(100)
const FIRST = { name: 'first', subject: 'Hi', html: LONG, text: null }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const templates = templatesOver({ ...store, clock: post.clock })
  const refs = () =>
    store.rows<{ refs: number }>('select refs from contents order by id').map(({ refs: users }) => users)
  const versions = () =>
    store.rows<{ version: number; name: string }>(
      'select version, name from template_versions order by version',
    )
  return { ...store, ...post, templates, accountId, refs, versions }
}

test('template commands: contents are compressed, and shared by versions with the same texts', async t => {
  const { templates, accountId, refs, rows } = await open(t)
  const { id } = await templates.create(accountId, FIRST)
  for (const name of ['second', 'third']) await templates.replace(accountId, id, { ...FIRST, name })
  assert.equal(refs(), [3])
  const [content] = rows<{ body: Buffer; size_bytes: number }>('select body, size_bytes from contents')
  assert.ok(content!.body.length < content!.size_bytes / 10)
  await templates.replace(accountId, id, { ...FIRST, text: 'other' })
  assert.equal(refs(), [3, 1])
  await templates.restore(accountId, id, 1)
  assert.equal(refs(), [4, 1])
  assert.is(await templates.delete(accountId, id), true)
  assert.equal(refs(), [])
  assert.equal([rows('select * from templates'), rows('select * from template_versions')], [[], []])
})

test('template commands: deleting a template keeps another one with the same texts', async t => {
  const { templates, accountId } = await open(t)
  const [one, two] = [await templates.create(accountId, FIRST), await templates.create(accountId, FIRST)]
  await templates.delete(accountId, one.id)
  assert.is((await templates.find(accountId, two.id))!.html, LONG)
})

test('template commands: commands of a group see each other’s changes', async t => {
  const { templates, accountId, group, versions, clock, refs } = await open(t)
  const { id } = await templates.create(accountId, FIRST)
  const at = clock.now()
  const replace = (name: string) => ({
    name: 'changeTemplate',
    input: { accountId, id, fields: { ...FIRST, name }, isLive: true, at },
  })
  const { replies } = await group(replace('second'), replace('second'), replace('third'), replace('first'))
  assert.equal(
    replies.map(reply => (outputOf(reply) as { name: string }).name),
    ['second', 'second', 'third', 'first'],
  )
  assert.equal(versions(), [
    { version: 1, name: 'first' },
    { version: 2, name: 'second' },
    { version: 3, name: 'third' },
  ])
  assert.equal(refs(), [4])
})

test('template commands: restoring the present state makes a version', async t => {
  const { templates, accountId, versions } = await open(t)
  const { id } = await templates.create(accountId, FIRST)
  await templates.replace(accountId, id, { ...FIRST, name: 'second' })
  for (let i = 0; i < 2; i++) assert.is((await templates.restore(accountId, id, 1))!.name, 'first')
  assert.equal(
    versions().map(({ name }) => name),
    ['first', 'second', 'first'],
  )
})

test('template commands: drafts, publishing and copies keep the contents that they use', async t => {
  const { templates, accountId, refs, versions, rows } = await open(t)
  const { id } = await templates.create(accountId, FIRST)
  await templates.publish(accountId, id)
  for (const text of ['one', 'two']) await templates.draft(accountId, id, { text })
  await templates.draft(accountId, id, { name: 'named' })
  assert.equal(refs(), [1, 1, 2])
  assert.equal(
    versions().map(({ name }) => name),
    ['first', 'first', 'first'],
  )
  const state = () =>
    rows<{ published_version: number | null; published_at: number | null }>(
      'select published_version, published_at from templates order by id',
    ).map(row => [row.published_version, row.published_at !== null])
  assert.equal(state(), [[1, true]])
  const copy = (await templates.duplicate(accountId, id))!
  assert.equal(refs(), [1, 1, 3])
  await templates.publish(accountId, id)
  assert.equal(state(), [
    [null, true],
    [null, false],
  ])
  await templates.delete(accountId, id)
  assert.equal(refs(), [1])
  assert.is((await templates.find(accountId, copy.id))!.text, 'two')
})

test('template commands: a duplicate has the name of a copy', async t => {
  const { templates, accountId } = await open(t)
  for (const [name, copied] of [
    ['Autumn', 'Autumn (copy)'],
    ['Autumn (copy)', 'Autumn (copy 2)'],
    ['Autumn (copy 9)', 'Autumn (copy 10)'],
    ['x'.repeat(200), `${'x'.repeat(193)} (copy)`],
  ] as const) {
    const { id } = await templates.create(accountId, { ...FIRST, name })
    assert.is((await templates.duplicate(accountId, id))!.name, copied)
  }
})

test('template commands: of concurrent creations with one alias, one succeeds', async t => {
  const { accountId, account, db, run, clock, rows } = await open(t)
  const templates = createTemplates({ db, run, clock, newId })
  const fields = { ...FIRST, sender: null, replyToList: null, variables: null }
  const create = (who: Uint8Array) => templates.create(who, fields, 'order')
  const answers = await Promise.all(Array.from({ length: 5 }, () => create(accountId)))
  assert.is(answers.filter(answer => answer === ALIAS_TAKEN).length, 4)
  assert.is.not(await create(account('Other')), ALIAS_TAKEN)
  assert.is(rows('select id from templates').length, 2)
})

test('template commands: templates of another account are not found', async t => {
  const { templates, accountId, account, rows } = await open(t)
  const other = account('Other')
  const { id } = await templates.create(accountId, FIRST)
  await templates.replace(accountId, id, { ...FIRST, name: 'second' })
  const tables = () =>
    ['templates', 'template_versions', 'contents'].map(table => rows(`select * from ${table}`))
  const before = tables()
  assert.equal(
    await Promise.all([
      templates.find(other, id),
      templates.replace(other, id, { ...FIRST, name: 'theirs' }),
      templates.versions(other, id),
      templates.version(other, id, 1),
      templates.draft(other, id, { name: 'theirs' }),
      templates.publish(other, id),
      templates.duplicate(other, id),
      templates.restore(other, id, 1),
      templates.delete(other, id),
    ]),
    [...Array(8).fill(undefined), false],
  )
  assert.equal(await templates.list(other, { limit: 10, offset: 0, cursor: null, search: '' }), {
    ...{ total: 0, hasMore: false, rows: [] },
  })
  assert.equal(tables(), before)
})

test.run()
