import * as assert from 'uvu/assert'
import { aliasFault, parseTemplateRef } from '../../../../src/resources/templates/alias.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/alias')
const UUID = '01990000-0000-7000-8000-000000000000'

for (const alias of ['order', 'Order_2.v1~b', '_private', '2026', 'a', 'a'.repeat(100), 'tpl_order'])
  test(`alias: ${alias.slice(0, 20)} is accepted and read`, () => {
    assert.is(aliasFault(alias), undefined)
    assert.equal(parseTemplateRef(alias), { alias })
  })

for (const [alias, fault] of [
  ['', /begin with/],
  ['.', /begin with/],
  ['..', /begin with/],
  ['-order', /begin with/],
  ['my order', /begin with/],
  ['a/b', /begin with/],
  ['a?b', /begin with/],
  ['a%20b', /begin with/],
  ['grüße', /begin with/],
  ['a\nb', /begin with/],
  ['a\n', /begin with/],
  ['a'.repeat(101), /at most 100/],
  [UUID, /look like an id/],
  [UUID.toUpperCase(), /look like an id/],
  [`tpl_${UUID}`, /look like an id/],
  [`eml_${UUID}`, /look like an id/],
] as const)
  test(`alias: ${JSON.stringify(alias.slice(0, 40))} is refused`, () => {
    assert.match(aliasFault(alias)!, fault)
  })

test('alias: ids of templates are read as ids, other ids as nothing', () => {
  const bytes = new Uint8Array(Buffer.from(UUID.replaceAll('-', ''), 'hex'))
  for (const text of [UUID, `tpl_${UUID}`, UUID.toUpperCase()]) assert.equal(parseTemplateRef(text), bytes)
  assert.is(parseTemplateRef(`eml_${UUID}`), undefined)
})

test.run()
