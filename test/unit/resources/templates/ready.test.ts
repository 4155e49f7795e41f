import * as assert from 'uvu/assert'
import type { Id } from '../../../../src/lib/ids.ts'
import { createReadyTemplates } from '../../../../src/resources/templates/ready.ts'
import { renderTemplate } from '../../../../src/resources/templates/render.ts'
import type { Find } from '../../../../src/store/reading/read.ts'
import { isOnPostgres } from '../../../kit/database.ts'
import { postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { templatesOver } from '../../../kit/templates.ts'

const test = suite('templates/ready')
const WORDS = { name: 'n', subject: 's', html: null, text: 'one' }

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  const templates = templatesOver({ ...store, clock: post.clock })
  let contentReads = 0
  let before: ((table: string) => Promise<unknown>) | undefined
  const find = (async (table: 'contents', ...rest: [never, never]) => {
    if (table === 'contents') contentReads++
    await before?.(table)
    return store.find(table, ...rest)
  }) as Find
  const findReady = createReadyTemplates(find)
  const says = async (id: Id, who = accountId) => {
    const template = await findReady(who, id)
    if (!template) return undefined
    const words = renderTemplate(template, {}, { missing: 'report', maxCharacters: 10_000_000 })
    return words.ok && `${words.subject}: ${words.text}`
  }
  return {
    ...store,
    ...post,
    templates,
    accountId,
    findReady,
    says,
    reads: () => contentReads,
    beforeReading(hook: typeof before) {
      before = hook
    },
  }
}

test('template cache: an unchanged template is compiled once', async t => {
  const { templates, accountId, says, reads } = await open(t)
  const [one, two] = [
    await templates.create(accountId, WORDS),
    await templates.create(accountId, { ...WORDS, text: 'two' }),
  ]
  for (let i = 0; i < 3; i++) assert.equal([await says(one.id), await says(two.id)], ['s: one', 's: two'])
  assert.is(reads(), 2)
})

test('template cache: every change is visible at once', async t => {
  const { templates, accountId, says } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  assert.is(await says(id), 's: one')
  await templates.replace(accountId, id, { ...WORDS, text: 'two' })
  assert.is(await says(id), 's: two')
  await templates.replace(accountId, id, { ...WORDS, subject: 'S', text: 'two' })
  assert.is(await says(id), 'S: two')
  await templates.restore(accountId, id, 1)
  assert.is(await says(id), 's: one')
  await templates.delete(accountId, id)
  assert.is(await says(id), undefined)
})

test('template cache: a draft of a published template is visible once it is published', async t => {
  const { templates, accountId, says, reads } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  await templates.draft(accountId, id, { text: 'two' })
  assert.is(await says(id), 's: two')
  await templates.publish(accountId, id)
  const before = reads()
  for (const text of ['three', 'four']) {
    await templates.draft(accountId, id, { text })
    assert.is(await says(id), 's: two')
  }
  assert.is(reads(), before)
  await templates.publish(accountId, id)
  assert.is(await says(id), 's: four')
  await templates.draft(accountId, id, { text: 'five' })
  await templates.restore(accountId, id, 1)
  assert.is(await says(id), 's: one')
})

test('template cache: a template is found by its alias, which can move', async t => {
  const { templates, accountId, account, findReady } = await open(t)
  const idOf = async (alias: string, who = accountId) => (await findReady(who, { alias }))?.id
  const one = await templates.create(accountId, WORDS, 'order')
  const two = await templates.create(accountId, WORDS)
  assert.equal(
    [await idOf('order'), await idOf('Order'), await idOf('order', account('Other'))],
    [one.id, undefined, undefined],
  )
  await templates.change(accountId, one.id, { fields: {}, alias: null, isLive: false })
  assert.is(await idOf('order'), undefined)
  await templates.change(accountId, two.id, { fields: {}, alias: 'order', isLive: false })
  assert.equal(await idOf('order'), two.id)
  await templates.delete(accountId, two.id)
  assert.is(await idOf('order'), undefined)
})

test('template cache: a published version that ends during the read is read again', async t => {
  const { templates, accountId, says, beforeReading } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  await templates.publish(accountId, id)
  await templates.draft(accountId, id, { text: 'two' })
  beforeReading(async table => {
    if (table !== 'contents') return
    beforeReading(undefined)
    await templates.publish(accountId, id)
  })
  assert.is(await says(id), 's: two')
})

test('template cache: a reused content key gives the new content', async t => {
  const { templates, accountId, says } = await open(t)
  const first = await templates.create(accountId, WORDS)
  assert.is(await says(first.id), 's: one')
  await templates.delete(accountId, first.id)
  const second = await templates.create(accountId, { ...WORDS, text: 'two' })
  assert.equal([await says(first.id), await says(second.id)], [undefined, 's: two'])
})

test('template cache: a content whose key is reused during the read is discarded', async t => {
  const { templates, accountId, account, says, beforeReading, rows } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  const keys = () => rows('select id from contents')
  const before = keys()
  beforeReading(async table => {
    if (table !== 'contents') return
    beforeReading(undefined)
    await templates.delete(accountId, id)
    await templates.create(account('Other'), { ...WORDS, text: 'secret' })
  })
  assert.is(await says(id), undefined)
  if (!isOnPostgres) assert.equal(keys(), before)
})

test('template cache: a template that changes during the read is read again', async t => {
  const { templates, accountId, says, beforeReading } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  beforeReading(async table => {
    if (table !== 'contents') return
    beforeReading(undefined)
    await templates.replace(accountId, id, { ...WORDS, subject: 'S', text: 'two' })
  })
  assert.is(await says(id), 'S: two')
})

test('template cache: another account does not find a cached template', async t => {
  const { templates, accountId, account, says } = await open(t)
  const { id } = await templates.create(accountId, WORDS)
  const other = account('Other')
  assert.is(await says(id, other), undefined)
  assert.is(await says(id), 's: one')
  assert.is(await says(id, other), undefined)
})

test('template cache: large templates are not cached, and the size is limited', async t => {
  const { templates, accountId, says, reads } = await open(t)
  const large = await templates.create(accountId, { ...WORDS, text: 'x'.repeat(1024 * 1024) })
  for (let i = 0; i < 2; i++) await says(large.id)
  assert.is(reads(), 2)
  const crowd = []
  for (let i = 0; i < 10; i++)
    crowd.push(await templates.create(accountId, { ...WORDS, text: String(i).repeat(1_000_000) }))
  for (const { id } of crowd) await says(id)
  assert.is(reads(), 12)
  for (const { id } of crowd.toReversed().slice(0, 8)) await says(id)
  assert.is(reads(), 12)
  await says(crowd[0]!.id)
  assert.is(reads(), 13)
})

test.run()
