import * as assert from 'uvu/assert'
import { subjectWithFallbacks, withFallbacks } from '../../../../src/pipeline/broadcasts/placeholders.ts'
import { withPreheader } from '../../../../src/pipeline/broadcasts/preheader.ts'
import { contentToSend, namesKept, wordsFault } from '../../../../src/pipeline/broadcasts/texts.ts'
import { TEMPLATE_BYTES_MAX } from '../../../../src/resources/templates/limits.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('broadcasts/texts')
const words = (over: Partial<Parameters<typeof wordsFault>[0]> = {}) => ({
  ...{ subject: 's', html: null, text: 't', previewText: null },
  ...over,
})

/** Where in the html the hidden text stands. */
function placed(html: string): string {
  const made = withPreheader(html, 'seen')
  assert.is(made.match(/<div style="display:none/g)?.length, 1)
  const without = made.replace(/<div style="display:none[^>]*>seen(?:&#847;&zwnj;&nbsp;)+<\/div>/, '▲')
  assert.is(without.replace('▲', ''), html)
  return without
}

test('the preview text is the first that is read', () => {
  assert.is(placed('<p>Hi</p>'), '▲<p>Hi</p>')
  assert.is(
    placed('<!doctype html><html><head><title>t</title></head><body class="a">Hi</body></html>'),
    '<!doctype html><html><head><title>t</title></head><body class="a">▲Hi</body></html>',
  )
  assert.is(placed('<html><head><style>p{}</style></head>Hi'), '<html><head><style>p{}</style></head>▲Hi')
})

test('a body in a comment is none', () => {
  const html =
    '<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><BODY\n data-x="a>b"><!--<![endif]-->Hi'
  assert.is(
    placed(html),
    '<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><BODY\n data-x="a>b">▲<!--<![endif]-->Hi',
  )
})

test('it is text, with placeholders', () => {
  const made = withPreheader('', 'a < b & {{first_name|<you>}} {{{city}}} {no}')
  assert.match(made, '>a &lt; b &amp; {{first_name|&lt;you&gt;}} {{city}} {no}&#847;')
})

test('the end of a head is behind its tag', () => {
  assert.is(placed('<html><head></head\n>Hi'), '<html><head></head\n>▲Hi')
  assert.is(placed('<html>Hi</head>'), '<html>▲Hi</head>', 'of none that has begun')
  assert.is(placed('<html><head></head'), '<html>▲<head></head', 'of none that ends')
})

test('hostile html takes no longer than its size', () => {
  for (const piece of [
    '<body ',
    '<!--',
    '<head><',
    '{{',
    '<a b="',
    '<b>',
    '<table><tr><td>',
    '<head></head ',
  ])
    assert.ok(withPreheader(piece.repeat(TEMPLATE_BYTES_MAX / piece.length), 'x').length > 0)
  const half = TEMPLATE_BYTES_MAX / '<b></i>'.length
  assert.ok(placed('<b>'.repeat(half) + '</i>'.repeat(half)).startsWith('▲'))
})

test('an email keeps the values of what it says, but for those that follow from it', () => {
  const html = '{{first_name}} {{city}} {{FIRST_NAME|x}} {{email}} {{unsubscribe_url}} {{broadcast_id}}'
  assert.equal(namesKept({ html, text: '{{other}}' }), ['first_name', 'city', 'FIRST_NAME', 'other'])
  assert.equal(namesKept({ html: '{{unsubscribe_url}}', text: null }), [])
  assert.is(namesKept({ html: '<p>{no} {{}}</p>', text: null }), null)
})

test('the preview text counts as what is said', () => {
  const content = contentToSend({ html: '<p>', text: null, previewText: '{{city}}' })
  assert.equal(namesKept(content), ['city'])
  assert.equal(contentToSend({ html: null, text: 't', previewText: 'p' }), { html: null, text: 't' })
})

test('words have limits', () => {
  assert.is(wordsFault(words()), undefined)
  assert.is(wordsFault(words({ text: '{{a}}'.repeat(1_000) })), undefined)
  assert.is(wordsFault(words({ text: '{{a}}'.repeat(1_001) }))?.part, 'text')
  assert.is(wordsFault(words({ text: '{{a/b}}'.repeat(1_001) }))?.part, 'text', 'it may be a key')
  assert.is(wordsFault(words({ html: 'x', subject: '{{a}}', text: '{{a}}'.repeat(1_000) }))?.part, 'html')
  const thousand = { html: '{{a}}'.repeat(998), text: '{{a}}', previewText: '{{a/b}}' }
  assert.is(wordsFault(words(thousand)), undefined)
  assert.is(
    wordsFault(words({ ...thousand, previewText: '{{a}}{{b}}' }))?.part,
    'html',
    'in the preview text',
  )
  assert.is(
    wordsFault(words({ text: '{{a}}'.repeat(1_000), previewText: '{{a}}' })),
    undefined,
    'which is html',
  )
  assert.is(wordsFault(words({ html: 'x'.repeat(4 * 1024 * 1024 + 1) }))?.part, 'html')
  assert.is(wordsFault(words({ subject: '{{UNSUBSCRIBE_URL}}' }))?.part, 'subject')
})

test('fallbacks of properties stand where a place says none of its own', () => {
  const fallbacks = new Map([
    ['city', "your <town> & co's"],
    ['first_name', 'nobody'],
  ])
  const words = {
    html: '<p>{{city}} {{ contact.city }} {{{city}}} {{city|here}} {{city|}} {{{{city}}}} {{first_name}} {{other}} {{no',
    text: '{{city}} {{contact.city|x}}',
  }
  assert.equal(withFallbacks(words, fallbacks), {
    html:
      '<p>{{city|your &lt;town&gt; &amp; co&#39;s}} {{contact.city|your &lt;town&gt; &amp; co&#39;s}} ' +
      "{{{city|your <town> & co's}}} {{city|here}} {{city|}} {{{{city|your <town> & co's}}}} {{first_name}} {{other}} {{no",
    text: "{{city|your <town> & co's}} {{contact.city|x}}",
  })
  assert.is(subjectWithFallbacks('To {{city}}', fallbacks), "To {{city|your <town> & co's}}")
  const others = { html: '{{ other }} {{city|}}', text: null }
  assert.equal(withFallbacks(others, fallbacks), others, 'nothing else is touched')
})

test.run()
