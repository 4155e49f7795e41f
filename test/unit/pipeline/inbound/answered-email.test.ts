import * as assert from 'uvu/assert'
import { type Id, idText, wireId } from '../../../../src/lib/ids.ts'
import { answeredEmail, referredEmails } from '../../../../src/pipeline/inbound/answered-email.ts'
import type { Find } from '../../../../src/store/reading/read.ts'
import { newId } from '../../../kit/new-id.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('pipeline/inbound/answered-email')
const [first, second] = [newId(1), newId(2)] as [Id, Id]
const own = (id: Id) => `<${idText(id)}@here.test>`
const named = (ids: readonly Id[]) => ids.map(id => wireId('eml', id))

test('ids of our emails are found in In-Reply-To, then in References from the last one', () => {
  for (const [headers, ids] of [
    [[['In-Reply-To', own(first)]], [first]],
    [[['in-reply-to', `Your mail of Monday ${own(first)} (x)`]], [first]],
    [[['References', `${own(first)} <a@there.test>\t${own(second)}`]], [second, first]],
    [
      [
        ['References', own(second)],
        ['In-Reply-To', own(first)],
      ],
      [first, second],
    ],
    [[['In-Reply-To', '<not-an-id@here.test>']], []],
    [[['In-Reply-To', idText(first)]], []],
    [[['Subject', own(first)]], []],
    [[], []],
  ] as [[string, string][], Id[]][])
    assert.equal(named(referredEmails(headers)), named(ids), JSON.stringify(headers))
  const many = Array.from({ length: 1_000 }, () => own(first)).join(' ')
  assert.is(referredEmails([['References', many]]).length, 20)
})

test('the first of them that the account has is answered', async () => {
  const find = (async () => [undefined, { id: second }]) as unknown as Find
  assert.equal(await answeredEmail(find, newId(3), [first, second]), second)
  const none = (async () => [undefined]) as unknown as Find
  assert.is(await answeredEmail(none, newId(3), [first]), undefined)
  assert.is(await answeredEmail(find, newId(3), []), undefined)
})

test.run()
