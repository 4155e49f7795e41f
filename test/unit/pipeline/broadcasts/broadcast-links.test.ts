import * as assert from 'uvu/assert'
import { personalLinks } from '../../../../src/pipeline/broadcasts/broadcast-links.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('broadcasts/broadcast-links')

test('broadcast links: personal links are returned as written', () => {
  const html = `<p>{{name}}</p><a href="https://x.test/?a=1&amp;e={{email}}&amp;c={{{city|Rome}}}">x</a>
    <a href="https://y.test/" title="{{name}}">y</a><a href='{{a}}{{b|c}}'>{{a}}</a>`
  assert.equal(
    [...personalLinks(html)],
    [
      [0, 'https://x.test/?a=1&e={{email}}&c={{{city|Rome}}}'],
      [2, '{{a}}{{b|c}}'],
    ],
  )
  assert.equal([...personalLinks('<a href="https://y.test/">y</a>')], [])
})

test.run()
