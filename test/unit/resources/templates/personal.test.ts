import * as assert from 'uvu/assert'
import { wireId } from '../../../../src/lib/ids.ts'
import {
  createFindPersonal,
  filledContent,
  personalContent,
} from '../../../../src/resources/templates/personal.ts'
import { newId } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('templates/personal')
const broadcastId = newId(1)
const URL = 'https://here.test/u/t?a=1&b=2'
const VIEW = 'https://here.test/v/t'

function recordOf(html: string | null, text: string | null, own: Record<string, string> | null = {}) {
  const variables = own && JSON.stringify(own)
  const toList = '[{"name":"Ann","address":"ann@there.test"}]'
  const content = { html, text }
  const words = personalContent(
    { variables, toList, broadcastId, content },
    { unsubscribeUrl: () => URL, viewUrl: () => VIEW },
  )
  return { html: words.html, text: words.text }
}

test('personal content: stored values are inserted, escaped in html only', () => {
  const own = { first_name: 'Ann & Bo', city: 'Köln' }
  assert.equal(recordOf('<p>{{first_name}} {{{first_name}}} {{city}}</p>', '{{first_name}}, {{city}}', own), {
    html: '<p>Ann &amp; Bo Ann & Bo Köln</p>',
    text: 'Ann & Bo, Köln',
  })
})

test('personal content: derived values need not be stored', () => {
  assert.equal(
    recordOf('<a href="{{unsubscribe_url}}">{{email}}</a>', '{{broadcast_id}} {{unsubscribe_url}}'),
    {
      html: '<a href="https://here.test/u/t?a=1&amp;b=2">ann@there.test</a>',
      text: `${wireId('brd', broadcastId)} ${URL}`,
    },
  )
})

test('personal content: spellings of other services work, with their fallbacks', () => {
  assert.is(
    recordOf(
      null,
      '{{{FIRST_NAME|there}}} {{{EMAIL}}} {{{RESEND_UNSUBSCRIBE_URL}}} {{UNSUBSCRIBE_URL}} {{{VIEW_IN_BROWSER_URL}}}',
    )!.text,
    `there ann@there.test ${URL} ${URL} ${VIEW}`,
  )
})

test('personal content: a missing value is its fallback or empty', () => {
  assert.is(recordOf(null, 'Dear {{first_name|friend}}{{last_name}}!')!.text, 'Dear friend!')
})

test('personal content: without stored values the content is final', () => {
  assert.equal(recordOf('{{first_name}}', '{{email}}', null), { html: '{{first_name}}', text: '{{email}}' })
})

test('personal content: built-in properties are not read, and values are not templates', () => {
  assert.is(recordOf(null, '[{{constructor}}{{__proto__}}{{toString}}]')!.text, '[]')
  assert.is(recordOf(null, '{{a}}', { a: '{{email}}' })!.text, '{{email}}')
})

test('personal content: the unsubscribe URL is made only if used, and shared content is parsed once', () => {
  const find = createFindPersonal()
  let requests = 0
  const content = { html: '<p>{{a}}</p>', text: null }
  for (const a of ['1', '2'])
    assert.equal(
      filledContent(
        find(
          { variables: JSON.stringify({ a }), toList: null, broadcastId, content },
          { unsubscribeUrl: () => `${++requests}`, viewUrl: () => `${++requests}` },
        )!,
      ).html,
      `<p>${a}</p>`,
    )
  assert.is(requests, 0)
})

test.run()
