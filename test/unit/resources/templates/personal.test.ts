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

function said(html: string | null, text: string | null, own: Record<string, string> | null = {}) {
  const variables = own && JSON.stringify(own)
  const toList = '[{"name":"Ann","address":"ann@there.test"}]'
  const content = { html, text }
  const words = personalContent({ variables, toList, broadcastId, content }, () => URL)
  return { html: words.html, text: words.text }
}

test('what an email keeps stands in its place, escaped in html alone', () => {
  const own = { first_name: 'Ann & Bo', city: 'Köln' }
  assert.equal(said('<p>{{first_name}} {{{first_name}}} {{city}}</p>', '{{first_name}}, {{city}}', own), {
    html: '<p>Ann &amp; Bo Ann & Bo Köln</p>',
    text: 'Ann & Bo, Köln',
  })
})

test('what follows from the email need not be kept', () => {
  assert.equal(said('<a href="{{unsubscribe_url}}">{{email}}</a>', '{{broadcast_id}} {{unsubscribe_url}}'), {
    html: '<a href="https://here.test/u/t?a=1&amp;b=2">ann@there.test</a>',
    text: `${wireId('brd', broadcastId)} ${URL}`,
  })
})

test('the spellings of other services are understood, with their fallbacks', () => {
  assert.is(
    said(null, '{{{FIRST_NAME|there}}} {{{EMAIL}}} {{{RESEND_UNSUBSCRIBE_URL}}} {{UNSUBSCRIBE_URL}}')!.text,
    `there ann@there.test ${URL} ${URL}`,
  )
})

test('what nobody has is its fallback, or nothing', () => {
  assert.is(said(null, 'Dear {{first_name|friend}}{{last_name}}!')!.text, 'Dear friend!')
})

test('where nothing is kept the content is final, whatever it looks like', () => {
  assert.equal(said('{{first_name}}', '{{email}}', null), { html: '{{first_name}}', text: '{{email}}' })
})

test('nothing is looked up on the language’s own objects, and no value is a template', () => {
  assert.is(said(null, '[{{constructor}}{{__proto__}}{{toString}}]')!.text, '[]')
  assert.is(said(null, '{{a}}', { a: '{{email}}' })!.text, '{{email}}')
})

test('the url is asked for only where it is said, and shared content is parsed once', () => {
  const find = createFindPersonal()
  let asked = 0
  const content = { html: '<p>{{a}}</p>', text: null }
  for (const a of ['1', '2'])
    assert.equal(
      filledContent(
        find({ variables: JSON.stringify({ a }), toList: null, broadcastId, content }, () => `${++asked}`)!,
      ).html,
      `<p>${a}</p>`,
    )
  assert.is(asked, 0)
})

test.run()
