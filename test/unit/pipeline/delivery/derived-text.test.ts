import * as assert from 'uvu/assert'
import { createTextDeriver } from '../../../../src/pipeline/delivery/message/derived-text.ts'
import { TAGS_MAX } from '../../../../src/protocols/mime/html/read-html.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('delivery/derived-text')

const FILLER = 'word '.repeat(40_000)
/** Large pages of one account, with as much markup as is read. */
const COSTLY: readonly (readonly [string, string])[] = [
  ['nested tags', `${'<b>'.repeat(TAGS_MAX)}x`],
  ['lists', `${'<ul><li>'.repeat(TAGS_MAX / 2)}x`],
  ['references', `${'&amp;'.repeat(80_000)}x`],
  ['attributes', `<p ${'a=1 '.repeat(80_000)}>x`],
]

for (const [what, page] of COSTLY)
  test(`a page of another account waits for one page of ${what}, not for all of one account`, async () => {
    const { textOf } = createTextDeriver()
    const order: string[] = []
    const derive = async (owner: string, html: string) => {
      const text = await textOf({ html, text: null }, owner)
      order.push(owner)
      return text
    }
    const all = Array.from({ length: 12 }, () => derive('eve', `${page}${FILLER}`))
    const [large, small] = await Promise.all([derive('ann', `<p>${FILLER}`), derive('ben', '<p>hi')])
    assert.is(small, 'hi')
    assert.ok(large?.startsWith('word'))
    assert.is(order[0], 'ben')
    assert.ok(order.indexOf('ann') <= 3, order.join(' '))
    await Promise.all(all)
  })

test('a page is read once, also while it waits for its turn', async () => {
  const { textOf } = createTextDeriver()
  const content = { html: `<p>${FILLER}`, text: null }
  const first = textOf(content, 'ann')
  assert.is(textOf(content, 'ann'), first)
  assert.ok((await first)?.startsWith('word'))
})

for (const [what, html, hasText] of [
  ['as many tags as are read', '<b>'.repeat(TAGS_MAX), true],
  ['one tag more', '<b>'.repeat(TAGS_MAX + 1), false],
  ['a table of 10,000 rows', '<tr><td>1</td><td>22</td></tr>'.repeat(10_000), true],
] as const)
  test(`a page with ${what} has ${hasText ? 'a' : 'no'} text`, async () => {
    const text = await createTextDeriver().textOf({ html: `${html}x`, text: null }, 'ann')
    assert.is(text !== null, hasText)
  })

test.run()
