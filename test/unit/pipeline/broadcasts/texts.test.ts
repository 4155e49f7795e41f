import * as assert from 'uvu/assert'
import { subjectWithFallbacks, withFallbacks } from '../../../../src/pipeline/broadcasts/placeholders.ts'
import { withPreheader } from '../../../../src/pipeline/broadcasts/preheader.ts'
import { contentFault, contentToSend, storedVariables } from '../../../../src/pipeline/broadcasts/texts.ts'
import { TEMPLATE_BYTES_MAX } from '../../../../src/resources/templates/limits.ts'
import { assertLinear } from '../../../kit/linear.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('broadcasts/texts')
const words = (over: Partial<Parameters<typeof contentFault>[0]> = {}) => ({
  ...{ subject: 's', html: null, text: 't', previewText: null },
  ...over,
})

/** Returns the HTML with a mark at the position of the hidden preview text. */
function placed(html: string): string {
  const made = withPreheader(html, 'seen')
  assert.is(made.match(/<div style="display:none/g)?.length, 1)
  const without = made.replace(/<div style="display:none[^>]*>seen(?:&#847;&zwnj;&nbsp;)+<\/div>/, '▲')
  assert.is(without.replace('▲', ''), html)
  return without
}

test('content: the preview text is the first text of the body', () => {
  assert.is(placed('<p>Hi</p>'), '▲<p>Hi</p>')
  assert.is(
    placed('<!doctype html><html><head><title>t</title></head><body class="a">Hi</body></html>'),
    '<!doctype html><html><head><title>t</title></head><body class="a">▲Hi</body></html>',
  )
  assert.is(placed('<html><head><style>p{}</style></head>Hi'), '<html><head><style>p{}</style></head>▲Hi')
})

test('content: a body tag in a comment is ignored', () => {
  const html =
    '<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><BODY\n data-x="a>b"><!--<![endif]-->Hi'
  assert.is(
    placed(html),
    '<!--[if mso]><body class="mso"><![endif]--><!--[if !mso]><!--><BODY\n data-x="a>b">▲<!--<![endif]-->Hi',
  )
})

test('content: the preview text is escaped and keeps its placeholders', () => {
  const made = withPreheader('', 'a < b & {{first_name|<you>}} {{{city}}} {no}')
  assert.match(made, '>a &lt; b &amp; {{first_name|&lt;you&gt;}} {{city}} {no}&#847;')
})

test('content: the preview text comes after the closing tag of the head', () => {
  assert.is(placed('<html><head></head\n>Hi'), '<html><head></head\n>▲Hi')
  assert.is(placed('<html>Hi</head>'), '<html>▲Hi</head>', 'of none that has begun')
  assert.is(placed('<html><head></head'), '<html>▲<head></head', 'of none that ends')
})

test('content: hostile HTML takes linear time', () => {
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
    assertLinear(
      piece,
      count => withPreheader(piece.repeat(count), 'x'),
      TEMPLATE_BYTES_MAX / piece.length / 4,
    )
  const half = TEMPLATE_BYTES_MAX / '<b></i>'.length
  assert.ok(placed('<b>'.repeat(half) + '</i>'.repeat(half)).startsWith('▲'))
})

test('content: an email stores the values of its variables, except those derived from the email', () => {
  const html = '{{first_name}} {{city}} {{FIRST_NAME|x}} {{email}} {{unsubscribe_url}} {{broadcast_id}}'
  assert.equal(storedVariables({ html, text: '{{other}}' }), ['first_name', 'city', 'FIRST_NAME', 'other'])
  assert.equal(storedVariables({ html: '{{unsubscribe_url}}', text: null }), [])
  assert.is(storedVariables({ html: '<p>{no} {{}}</p>', text: null }), null)
})

test('content: variables of the preview text are stored', () => {
  const content = contentToSend({ html: '<p>', text: null, previewText: '{{city}}' })
  assert.equal(storedVariables(content), ['city'])
  assert.equal(contentToSend({ html: null, text: 't', previewText: 'p' }), { html: null, text: 't' })
})

test('content: content has limits', () => {
  assert.is(contentFault(words()), undefined)
  assert.is(contentFault(words({ text: '{{a}}'.repeat(1_000) })), undefined)
  assert.is(contentFault(words({ text: '{{a}}'.repeat(1_001) }))?.part, 'text')
  assert.is(contentFault(words({ text: '{{a/b}}'.repeat(1_001) }))?.part, 'text', 'it may be a key')
  assert.is(contentFault(words({ html: 'x', subject: '{{a}}', text: '{{a}}'.repeat(1_000) }))?.part, 'html')
  const thousand = { html: '{{a}}'.repeat(998), text: '{{a}}', previewText: '{{a/b}}' }
  assert.is(contentFault(words(thousand)), undefined)
  assert.is(
    contentFault(words({ ...thousand, previewText: '{{a}}{{b}}' }))?.part,
    'html',
    'in the preview text',
  )
  assert.is(
    contentFault(words({ text: '{{a}}'.repeat(1_000), previewText: '{{a}}' })),
    undefined,
    'which is html',
  )
  assert.is(contentFault(words({ html: 'x'.repeat(4 * 1024 * 1024 + 1) }))?.part, 'html')
  assert.is(contentFault(words({ subject: '{{UNSUBSCRIBE_URL}}' }))?.part, 'subject')
})

test('content: a placeholder without a fallback gets that of its property', () => {
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
