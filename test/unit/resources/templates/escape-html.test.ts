import * as assert from 'uvu/assert'
import { escapeHtml } from '../../../../src/resources/templates/escape-html.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/escape-html')

/** Returns the text that an HTML parser reads. */
function read(html: string): string {
  const meanings: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  return html.replace(/&([a-z]+|#39);/g, (_, name: string) => meanings[name]!)
}

test('HTML escape: five characters become entities', () => {
  assert.is(escapeHtml(`a<b>&"c'd\u2028\0😀`), 'a&lt;b&gt;&amp;&quot;c&#39;d\u2028\0😀')
  assert.is(escapeHtml('&amp;'), '&amp;amp;')
  assert.is(escapeHtml(''), '')
})

test('HTML escape: the result parses as the text and ends no text or attribute', () => {
  const text = fc.string({
    unit: fc.constantFrom('&', '<', '>', '"', "'", 'a', ';', 'amp;', '#39', '\ud800'),
  })
  fc.assert(
    fc.property(text, value => {
      const html = escapeHtml(value)
      assert.is(read(html), value)
      assert.not(/[<>"']/.test(html))
    }),
  )
})

test('HTML escape: it stops beyond the requested length', () => {
  assert.ok(escapeHtml('<'.repeat(1_000), 100).length > 100)
  assert.ok(escapeHtml('<'.repeat(1_000_000), 100).length < 1_000_200)
  assert.is(escapeHtml('<'.repeat(25), 100), '&lt;'.repeat(25))
})

test.run()
