import * as assert from 'uvu/assert'
import { type Id, idText } from '../../../../src/lib/ids.ts'
import type { EmailFilter } from '../../../../src/resources/search/facets.ts'
import { listEmails } from '../../../../src/resources/search/list.ts'
import { createPacker } from '../../../../src/resources/search/pack.ts'
import { createSubjectCache } from '../../../../src/resources/search/subjects.ts'
import { newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('search/sources')

test('search: emails are found by API key and origin, before and after sealing', async t => {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const send = () => post.send(accountId, { to: ['a@there.test'] })
  const [byHand, byKey, overSmtp, ofBroadcast] = [await send(), await send(), await send(), await send()]
  const [key, other] = [newId(1), newId(2)]
  const set = (id: Id, columns: string, ...values: unknown[]) =>
    store.change(`update emails set ${columns} where id = ?`, ...values, id)
  set(byHand, 'api_key_id = null')
  set(byKey, 'api_key_id = ?', key)
  set(overSmtp, 'api_key_id = ?, raw = ?', key, new Uint8Array(32))
  set(ofBroadcast, 'api_key_id = null, broadcast_id = ?', newId(3))
  const reads = { db: store.db, subjects: createSubjectCache(100) }
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

test.run()
