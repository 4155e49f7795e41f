import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import type { EmailFilter } from '../../../../src/resources/search/facets.ts'
import { listEmails } from '../../../../src/resources/search/list.ts'
import { createPacker } from '../../../../src/resources/search/pack.ts'
import { TextCache } from '../../../../src/resources/search/texts.ts'
import { readSearchWords } from '../../../../src/resources/search/words.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/sources')

test('search: emails are found by API key, template and origin, before and after sealing', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const send = () => post.send(accountId, { to: ['a@there.test'] })
  const [byHand, byKey, overSmtp, ofBroadcast] = [await send(), await send(), await send(), await send()]
  const [key, other, template] = [newId(1), newId(2), newId(4)]
  const set = (id: Id, columns: string, ...values: unknown[]) =>
    store.change(`update emails set ${columns} where id = ?`, ...values, id)
  set(byHand, 'api_key_id = null')
  set(byKey, 'api_key_id = ?, template_id = ?', key, template)
  set(overSmtp, 'api_key_id = ?, raw = ?', key, new Uint8Array(32))
  set(ofBroadcast, 'api_key_id = null, broadcast_id = ?', newId(3))
  set(byKey, 'cc_list = ?, bcc_list = ?', 'c@cc.test', JSON.stringify([{ address: 'd@bcc.test' }]))
  const goes = (domain: string, destination: string) =>
    store.change(
      'insert into domain_destinations (domain, destination, seen_at) values (?, ?, 1)',
      domain,
      destination,
    )
  goes('there.test', 'mx.there.test')
  goes('cc.test', 'mx.cc.test')
  goes('bcc.test', 'many')
  for (let i = 0; i < 60; i++) goes(`d${i}.test`, 'many')
  const reads = { db: store.db, texts: new TextCache(100) }
  const scope = { accountId, domain: null, horizon: 0 }
  const find = async (filter: EmailFilter) => {
    const { total, emails } = await listEmails(reads, scope, filter, { limit: 10, offset: 0 })
    assert.is(total, emails.length)
    return emails.map(({ id }) => idText(id))
  }
  const questions: [EmailFilter, Id[]][] = [
    [{ source: 'dashboard' }, [byHand]],
    [{ source: 'api' }, [byKey]],
    [{ source: 'smtp' }, [overSmtp]],
    [{ source: 'broadcast' }, [ofBroadcast]],
    [{ apiKeyId: key }, [overSmtp, byKey]],
    [{ apiKeyId: key, source: 'smtp' }, [overSmtp]],
    [{ apiKeyId: other }, []],
    [{ templateId: template }, [byKey]],
    [{ templateId: other }, []],
    [{ destination: 'mx.there.test' }, [ofBroadcast, overSmtp, byKey, byHand]],
    [{ destination: 'mx.cc.test', source: 'api' }, [byKey]],
    [{ destination: 'mx.cc.test', source: 'smtp' }, []],
    [{ destination: 'many' }, [byKey]],
    [{ destination: 'nowhere' }, []],
  ]
  const ask = async () => {
    for (const [filter, expected] of questions) assert.equal(await find(filter), expected.map(idText))
  }
  await ask()
  await createPacker({
    ...{ db: store.db, run: store.run, pause: async () => {}, size: 4, leftOut: 0 },
  }).pack(accountId)
  assert.is(store.rows('select id from email_segments').length, 1)
  await ask()
})

test('search: one box finds an email by whatever it is known by, before and after sealing', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const [order, reset, invoice] = [
    await post.send(accountId, { to: ['Ann@There.test'], subject: 'Your Order 1042 is on its way' }),
    await post.send(accountId, { to: ['ben@there.test'], subject: 'Reset your password' }),
    await post.send(accountId, {
      to: ['ben@else.test'],
      subject: 'Invoice',
      tags: [{ name: 'kind', value: 'Bill' }],
    }),
  ]
  store.change('update emails set message_id = ? where id = ?', '<Own.1042@made.test>', invoice)
  store.change(
    'update emails set cc_list = ?, bcc_list = ? where id = ?',
    JSON.stringify([{ name: 'Größe, Cy', address: 'cy@cc.test' }]),
    JSON.stringify([{ address: 'dee@bcc.test' }]),
    reset,
  )
  const reads = { db: store.db, texts: new TextCache(100) }
  const scope = { accountId, domain: null, horizon: 0 }
  const find = async (search: string, filter: EmailFilter = {}) => {
    const words = readSearchWords(search)
    const { emails } = await listEmails(reads, scope, { ...filter, words }, { limit: 10, offset: 0 })
    return emails.map(({ id }) => idText(id))
  }
  const questions: [string, Id[], EmailFilter?][] = [
    ['', [invoice, reset, order]],
    [' < ', [invoice, reset, order]],
    ['order', [order]],
    ['way ORDER', [order]],
    ['order password', []],
    ['ann@', [order]],
    ['there.te', [reset, order]],
    ['ben@ there', [reset]],
    ['Ann <ann@there.test>,', [order]],
    ['1042', [invoice, order]],
    ['1042 ann', [order]],
    ['your', [reset, order]],
    ['your', [reset], { to: 'ben@there.test' }],
    ['kind:bill', [invoice]],
    ['bill', [invoice]],
    ['cy@cc', [reset]],
    ['GRÖSSE', []],
    ['größe', [reset]],
    ['dee@', [reset]],
    [`eml_${idText(order)}`, [order]],
    [`EML_${idText(order).toUpperCase()}`, [order]],
    [`eml_${idText(order)} order`, [order]],
    [`eml_${idText(order)} password`, []],
    [`eml_${idText(order).slice(0, -1)}`, []],
    [`<${idText(reset)}@here.test>`, [reset]],
    [`${idText(reset)}@here.test`, [reset]],
    ['<own.1042@made.test>', [invoice]],
    ['Own.1042@made.test', [invoice]],
    [`eml_${idText(newId(1))}`, []],
    ['order\nway', [order]],
  ]
  const ask = async (when: string) => {
    for (const [search, expected, filter] of questions)
      assert.equal(await find(search, filter), expected.map(idText), `${search}, ${when}`)
  }
  await ask('not sealed')
  await createPacker({
    ...{ db: store.db, run: store.run, pause: async () => {}, size: 2, leftOut: 0 },
  }).pack(accountId)
  assert.is(store.rows('select id from email_segments').length, 1)
  await ask('partly sealed')
})

test.run()
