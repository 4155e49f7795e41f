import * as assert from 'uvu/assert'
import { HTML_CHARACTERS_MAX, htmlToText } from '../../../../../src/protocols/mime/html/html-to-text.ts'
import { fc } from '../../../../kit/property.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('mime/html-to-text')

const cases: [what: string, html: string, text: string | undefined][] = [
  ['paragraphs', '<p>One\n two</p><p>Three</p>', 'One two\n\nThree'],
  ['a heading', '<h1>Hello</h1>Words', 'Hello\n\nWords'],
  ['lines', 'a<br>b<div>c</div>d<br/><br/><br/>e', 'a\nb\nc\nd\n\ne'],
  ['blanks around inline elements', '<b>a</b> <i>b</i><u>c</u> &nbsp; d', 'a bc d'],
  ['character references', '&lt;b&gt; &amp;amp; &euro; &#x1F600; &copy', '<b> &amp; € 😀 ©'],
  ['a list with bullets', '<p>x</p><ul><li>a</li><li>b<br>c</li></ul>y', 'x\n\n- a\n- b\n  c\n\ny'],
  ['a numbered list', '<ol><li>a<li>b</ol>', '1. a\n2. b'],
  ['numbers of its own', '<ol start="9"><li>a</li><li>b</li><li value="3">c</li></ol>', '9. a\n10. b\n3. c'],
  ['a list in a list', '<ul><li>a<ol><li>b</li></ol></li><li>c</li></ul>', '- a\n  1. b\n- c'],
  ['a list in an item without words', '<ul><li><ul><li>a</li></ul></li></ul>', '- - a'],
  ['paragraphs of an item', '<ul><li><p>a</p><p>b</p></li></ul>', '- a\n\n  b'],
  ['an item outside of a list', '<li>a', '- a'],
  ['a definition list', '<dl><dt>a<dd>b</dl>', 'a\nb'],
  ['a quotation', '<blockquote>a<br>b</blockquote>c', '> a\n> b\n\nc'],
  ['preformatted text', '<pre>a  b\n  c</pre>', 'a  b\n  c'],
  ['a rule', 'a<hr>b', 'a\n\n----------\n\nb'],
  [
    'rows of a table',
    '<table><tr><th>Item<th>Price<tr><td>Hat</td><td>$5</td></tr></table>',
    'Item | Price\nHat | $5',
  ],
  ['a head cell after one that is not closed', '<table><tr><td>a<th>b</table>', 'a | b'],
  ['cells that are not closed', '<table><tr><td>a<td>b<tr><td>c</table>', 'a | b\nc'],
  ['cells with paragraphs', '<table><tr><td><p>Hat</p></td><td><p>$5</p></td></tr></table>', 'Hat | $5'],
  [
    'short cells with line breaks',
    '<table><tr><td>Mütze<br>warm</td><td>20 €</td></tr></table>',
    'Mütze warm | 20 €',
  ],
  [
    'long cells with line breaks',
    `<table><tr><td>${'a'.repeat(20)}<br>${'b'.repeat(20)}</td><td>c</td></tr></table>`,
    `${'a'.repeat(20)}\n${'b'.repeat(20)}\nc`,
  ],
  ['cells with an empty line', '<table><tr><td>a<br><br>b</td><td>c</td></tr></table>', 'a\n\nb\nc'],
  ['cells with a list', '<table><tr><td><ul><li>a<li>b</ul></td><td>c</td></tr></table>', '- a\n- b\n\nc'],
  ['cells with blocks', '<table><tr><td><div>a</div><div>b</div></td><td>c</td></tr></table>', 'a\nb\nc'],
  ['preformatted cells', '<table><tr><td><pre>a\n b</pre></td><td>c</td></tr></table>', 'a\n b\n\nc'],
  ['long cells', `<table><tr><td>${'a'.repeat(81)}</td><td>c</td></tr></table>`, `${'a'.repeat(81)}\nc`],
  ['empty cells', '<table><tr><td>&nbsp;</td><td>a</td></tr><tr><td></td></tr></table>', 'a'],
  [
    'tables in a table',
    '<table><tr><td><table><tr><td>a</td></tr></table></td></tr><tr><td><p>b</p><p>c</p></td></tr></table>',
    'a\n\nb\n\nc',
  ],
  ['a link', '<a href="https://x.example/?a=1&amp;b=2">Go</a> on', 'Go (https://x.example/?a=1&b=2) on'],
  ['a link that shows its URL', '<a href="https://x.example/">https://x.example</a>', 'https://x.example'],
  ['a link that shows its host', '<a href="https://x.example/">X.example</a>', 'X.example'],
  ['a link around a block', '<a href="https://x.example"><div>Go</div></a>on', 'Go (https://x.example)\non'],
  ['a link around a picture', '<a href="https://x.example"><img alt="Acme"></a>', 'Acme (https://x.example)'],
  ['a link without words', '<a href="https://x.example"><img></a>', 'https://x.example'],
  [
    'a link in a link',
    '<a href="https://a.example">a<a href="https://b.example">b</a>',
    'a (https://a.example) b (https://b.example)',
  ],
  [
    'words beside links',
    '<a href="https://a.example">a</a>b<a href="https://c.example"><img></a>d.',
    'a (https://a.example) b https://c.example d.',
  ],
  ['a mark behind a link', '<a href="https://a.example">a</a>, b', 'a (https://a.example), b'],
  [
    'links of a picture',
    '<img usemap="#m"><map name="m"><area href="https://x.example/a" alt="A"><area href="https://x.example/b"><area alt="C"></map>d',
    'A (https://x.example/a) https://x.example/b d',
  ],
  ['links that are not closed', '<p><a href="https://a.example">a</p><p>b', 'a (https://a.example)\n\nb'],
  [
    'blanks and breaks in a URL',
    '<a href=" https://x.\nexample/a b ">Go</a>',
    'Go (https://x.example/a%20b)',
  ],
  [
    'mail addresses',
    '<a href="mailto:a@x.example">Write</a> <a href="mailto:a@x.example">a@x.example</a>',
    'Write (a@x.example) a@x.example',
  ],
  [
    'a mail address with a subject',
    '<a href="mailto:a@x.example?subject=b">Write</a>',
    'Write (mailto:a@x.example?subject=b)',
  ],
  [
    'a link whose words are another host',
    '<a href="https://foobar.example">foo-bar.example</a>',
    'foo-bar.example (https://foobar.example)',
  ],
  [
    'a link whose words differ in the case of the path',
    '<a href="https://x.example/A">x.example/a</a>',
    'x.example/a (https://x.example/A)',
  ],
  [
    'a link whose words differ in the case of the host',
    '<a href="https://X.example/a/">x.EXAMPLE/a</a>',
    'x.EXAMPLE/a',
  ],
  [
    'a link whose words lack the query',
    '<a href="https://x.example/a?b=(1)">x.example/a</a>',
    'x.example/a (https://x.example/a?b=(1))',
  ],
  ['a telephone number with other joints', '<a href="tel:+1.555-0100">+1 555 0100</a>', '+1 555 0100'],
  ['a telephone number', '<a href="tel:+15550100">+1 (555) 0100</a>', '+1 (555) 0100'],
  [
    'links that lead nowhere',
    '<a href="#top">a</a> <a name="x">b</a> <a href="javascript:x()">c</a> <a href="">d</a>',
    'a b c d',
  ],
  ['alternative texts', '<img alt="A\n b" src="x"><img alt="" src="y"><img src="z"> c', 'A b c'],
  ['a pixel', 'a<img src="x" width="1" height="1" alt="pixel">', 'a'],
  ['a head', '<head><title>t</title><style>p{}</style><meta><script>s</script></head><body>a', 'a'],
  ['a head that is not closed', '<html><head><title>t</title><body>a', 'a'],
  [
    'comments for Outlook',
    'a<!--[if mso]><p>mso</p><![endif]-->b<!--[if !mso]><!-->c<!--<![endif]--><![if !mso]>d<![endif]>',
    'abcd',
  ],
  [
    'settings for Outlook',
    '<xml><o:OfficeDocumentSettings>96</o:OfficeDocumentSettings></xml>a<o:p>b</o:p>',
    'ab',
  ],
  ['forms', '<select><option>o</option></select><textarea>t</textarea><button>b</button>', 'b'],
  ['padding of a preview', 'a&zwnj;&nbsp;&zwnj;&#847;&#8203;&shy;&#xfeff;b', 'a b'],
  ['joiners between letters', 'می\u200cخواهم 👩\u200d👧 co\u00adop\u200b', 'می\u200cخواهم 👩\u200d👧 coop'],
  [
    'a style sheet that hides',
    '<style>/* x */ .a, td.b {display : none} #c{opacity:0}</style><p class="x a">a</p><p id="c">c</p><p>d',
    'd',
  ],
  ['a style sheet with one rule, for a class', '<style>.a{display:none}</style><p class="a">a</p><p>b', 'b'],
  ['a style sheet with one rule, for an id', '<style>#a{display:none}</style><p id="a">a</p><p>b', 'b'],
  [
    'a style sheet that hides on small screens',
    '<style>@media (x){.a{display:none}} .b{color:red}</style><p class="a b">a',
    'a',
  ],
  ['broken tags', 'a < b <b', 'a < b'],
  ['stray closing tags', '</div></table></p>a</td></b>b', 'ab'],
  ['no words', '<p><img src="x"></p>', undefined],
  ['nothing', '', undefined],
]
for (const [what, html, text] of cases)
  test(`html to text: ${what}`, () => {
    assert.equal(htmlToText(html), text)
  })

const hiding = [
  'style="display:none"',
  "style='DISPLAY : NONE !important; display: block'",
  'style="display:/**/none"',
  'style=visibility:hidden',
  'style="opacity:0"',
  'style="font-size:0"',
  'style="color:#fff;font-size:1px;line-height:1px"',
  'style="font-size:.5px"',
  'style="font-size:0.01em"',
  'style="font:0/0 a;color:transparent"',
  'style="font:1px/1px Arial"',
  'style="position:absolute;left:-9999px"',
  'style="text-indent:-9999em"',
  'style="position:absolute;clip:rect(0,0,0,0)"',
  'style="clip: rect(1px, 1px, 1px, 1px)"',
  'style="max-height:0px;overflow:hidden"',
  'style="height:0;overflow:hidden"',
  'style="mso-hide:all"',
  'hidden',
  'data-skip-in-text="true"',
]
for (const attribute of hiding)
  test(`html to text: an element with ${attribute} is not read, and its neighbours are`, () => {
    assert.is(htmlToText(`<div ${attribute}>no<p>no<a href="https://x.example">no</div>yes`), 'yes')
    assert.is(htmlToText(`<p ${attribute}>no<p>yes`), 'yes')
    assert.is(htmlToText(`<table><tr><td><span ${attribute}>no</td><td>yes</td></tr></table>`), 'yes')
    assert.is(htmlToText(`<div ${attribute}><table><tr><td></div>no</td></tr></table></div>yes`), 'yes')
  })

test('html to text: what only looks hidden is read', () => {
  const shown = [
    '<td style="font-size:0px"><p style="font-size:13px">yes</p></td>',
    '<td style="font-size:0px"><img alt="yes"></td>',
    '<p style="max-height:none;opacity:0.5;height:0">yes',
    '<p style="display:none;display:block">yes',
    '<p style="x-display:none">yes',
    '<p style="font:600 14px/1.2 Arial">yes',
    '<p style="font:100 1em/0 Arial">yes',
    '<p style="font-size:90%">yes',
    '<p style="margin-left:-10px">yes',
    '<p style="clip:rect(auto,auto,auto,auto)">yes',
  ]
  for (const html of shown) assert.is(htmlToText(html), 'yes', html)
  assert.is(htmlToText('<a style="mso-hide:all" href="https://x.example">Buy</a>'), 'Buy (https://x.example)')
})

test('html to text: a page as React Email writes it', () => {
  const html =
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN"><html dir="ltr"><head><meta/></head><body>' +
    `<div style="display:none;overflow:hidden;line-height:1px;opacity:0;max-height:0;max-width:0">Preview<div>${' \u200c\u200b\u200d\u200e\u200f\ufeff'.repeat(150)}</div></div>` +
    '<table align="center" role="presentation" style="max-width:37.5em"><tbody><tr style="width:100%"><td>' +
    '<img alt="Acme" src="logo.png" style="display:block"/><h1>Order <!-- -->42</h1><p>Hi <!-- -->Ann<!-- -->,</p>' +
    '<table role="presentation"><tbody><tr><td><p>Hat</p></td><td><p>2</p></td><td><p>$10</p></td></tr></tbody></table>' +
    '<a href="https://acme.example/o/42" target="_blank"><span><!--[if mso]><i>&#8202;</i><![endif]--></span><span>View order</span></a>' +
    '<hr/><p>Acme Inc.<br/>Main Street 1</p></td></tr></tbody></table></body></html>'
  assert.is(
    htmlToText(html),
    'Acme\n\nOrder 42\n\nHi Ann,\n\nHat | 2 | $10\n\nView order (https://acme.example/o/42)\n\n----------\n\nAcme Inc.\nMain Street 1',
  )
})

test('html to text: hostile pages of the largest size cost no more than large ones', () => {
  const filled = (piece: string) => piece.repeat(Math.floor(HTML_CHARACTERS_MAX / piece.length))
  const pieces = [
    ...[
      '<div>x',
      '<ul><li>x',
      '<blockquote>x<br>',
      '<table><tr><td>x',
      '<table><tr><td><a href=x>x<p>',
      '<b>',
    ],
    ...[
      '</div></p>',
      '<a href=x>y',
      '&nbsp;&amp;',
      '&zwnj;',
      '<!-- ',
      '<',
      '<p style="a:b;/*">',
      '<br>x',
      '<td>x',
    ],
    ...[
      `<p style="font-size:${'0'.repeat(3_900)}x">x</p>`,
      `<p style="font:${'1'.repeat(3_900)}!">x</p>`,
      `<p style="left:-${'9'.repeat(3_900)}">x</p>`,
      '<area href=x alt=y>',
    ],
    ...['<p a=1 b', '<style>.a{display:none}</style>', '<pre>\n', '<![if', '<q>'],
  ]
  for (const piece of pieces) assert.not.throws(() => htmlToText(filled(piece)), piece)
  assert.not.throws(() => htmlToText(`<p ${filled('a=1 ').slice(10)}>x`))
  assert.not.throws(() => htmlToText(`<style>${filled('.a,').slice(40)}{display:none}</style>x`))
  assert.is(htmlToText(`x${filled(' ')}`), undefined, 'a larger page has no text')
  assert.is(htmlToText(`x${' '.repeat(10 * 512 * 1024)}`), undefined)
  assert.is(htmlToText(`x${'<b>'.repeat(100_000)}`), undefined, 'a page of many tags has no text')
})

test('html to text: any page has a text without superfluous empty lines, or none', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      ...[
        '<p>',
        '</p>',
        '<div>',
        '</div>',
        '<ul>',
        '<li>',
        '</ul>',
        '<a href="https://x.example">',
        '</a>',
        '<br>',
      ],
      ...[
        '<table>',
        '<tr>',
        '<td>',
        '</td>',
        '</table>',
        '<blockquote>',
        '<pre>',
        '</pre>',
        '<span hidden>',
        '</span>',
      ],
      ...['<style>', '</style>', '<!--', '-->', '&nbsp;', '<', '"', 'word', ' ', '\n'],
    ),
    fc.string({ maxLength: 5 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), pieces => {
      const text = htmlToText(pieces.join(''))
      if (text !== undefined) assert.not.match(text, /^\n|\n\n\n|\n$/)
    }),
  )
})

test.run()
