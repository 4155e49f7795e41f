import * as assert from 'uvu/assert'
import type { Attachment } from '../../../../src/protocols/mime/attachment-entity.ts'
import { composeBody } from '../../../../src/protocols/mime/compose-body.ts'
import { fc } from '../../../kit/property.ts'
import { suite } from '../../../kit/suite.ts'
import { awkwardText, checked } from './arbitraries.ts'
import { bodySource, compose, wire, wireLines } from './messages.ts'

const test = suite('mime/compose-body')

const logo: Attachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  contentId: 'logo',
  content: Buffer.from('logo'),
}
const invoice: Attachment = {
  filename: 'invoice.pdf',
  contentType: 'application/pdf',
  contentId: null,
  content: Buffer.from('invoice'),
}
const page = '<p><img src="cid:logo"></p>'

const structures: [what: string, args: Partial<Parameters<typeof bodySource>[0]>, tree: string][] = [
  ['nothing', {}, 'text/plain'],
  ['text', { text: 'hi' }, 'text/plain'],
  ['HTML', { html: page }, 'text/html'],
  ['both', { text: 'hi', html: page }, 'alternative(text/plain text/html)'],
  ['text beside empty HTML', { text: 'hi', html: '' }, 'text/plain'],
  ['HTML beside an empty text', { text: '', html: page }, 'text/html'],
  ['empty HTML beside an empty text', { text: '', html: '' }, 'text/plain'],
  ['empty HTML', { html: '' }, 'text/html'],
  ['text and a file', { text: 'hi', attachments: [invoice] }, 'mixed(text/plain application/pdf)'],
  ['only a file', { attachments: [invoice] }, 'mixed(application/pdf)'],
  ['HTML and its picture', { html: page, attachments: [logo] }, 'related(text/html image/png)'],
  [
    'both and a picture',
    { text: 'hi', html: page, attachments: [logo] },
    'alternative(text/plain related(text/html image/png))',
  ],
  [
    'all of it',
    { text: 'hi', html: page, attachments: [invoice, logo, invoice] },
    'mixed(alternative(text/plain related(text/html image/png)) application/pdf application/pdf)',
  ],
  [
    'a picture that the HTML names behind ten thousand others',
    {
      html: `${Array.from({ length: 10_000 }, (_, i) => `<img src="cid:${i}">`).join('')}${page}`,
      attachments: [logo],
    },
    'mixed(text/html image/png)',
  ],
  [
    'a picture that the HTML does not show',
    { html: '<p></p>', attachments: [logo] },
    'mixed(text/html image/png)',
  ],
  ['a picture without HTML', { text: 'cid:logo', attachments: [logo] }, 'mixed(text/plain image/png)'],
  [
    'a picture shown by an encoded URL',
    { html: '<img src="cid:a%40b.test">', attachments: [{ ...logo, contentId: '<a@b.test>' }] },
    'related(text/html image/png)',
  ],
  [
    'a picture whose id only begins like the one that is shown',
    { html: '<img src="cid:logo2">', attachments: [logo] },
    'mixed(text/html image/png)',
  ],
  [
    'a picture shown in capitals and without quotes',
    { html: '<img src=CID:logo>', attachments: [logo] },
    'related(text/html image/png)',
  ],
  [
    'a picture shown by a style sheet',
    { html: '<p style="background: url(cid:logo)">', attachments: [logo] },
    'related(text/html image/png)',
  ],
  [
    'a picture whose id has an ampersand',
    { html: '<img src="cid:a&amp;b">', attachments: [{ ...logo, contentId: 'a&b' }] },
    'related(text/html image/png)',
  ],
  [
    'a picture that is shown twice',
    { html: `${page}${page}`, attachments: [logo] },
    'related(text/html image/png)',
  ],
  [
    'one of two pictures',
    { html: page, attachments: [{ ...logo, contentId: 'other' }, logo] },
    'mixed(related(text/html image/png) image/png)',
  ],
]
for (const [what, args, tree] of structures)
  test(`${what}: ${tree}`, () => {
    assert.is(treeOf(wire(args)), tree)
  })

test('a single text has its fields at the top', () => {
  assert.equal(composeBody(bodySource({ text: 'hi' })), {
    fields: [
      { name: 'MIME-Version', value: '1.0' },
      { name: 'Content-Type', value: 'text/plain; charset=utf-8' },
      { name: 'Content-Transfer-Encoding', value: '7bit' },
    ],
    body: Buffer.from('hi\r\n'),
    isRelaxed: true,
  })
})

for (const [text, body] of [
  ['', ''],
  ['\n', '\r\n'],
  ['a', 'a\r\n'],
  ['a\n', 'a\r\n'],
  ['a\n\n', 'a\r\n\r\n'],
  ['a ', 'a=20\r\n'],
])
  test(`the body of ${JSON.stringify(text)} is ${JSON.stringify(body)}: it ends in CRLF or is empty`, () => {
    assert.is(`${composeBody(bodySource({ text: text! })).body}`, body)
  })

test('the octets of a message with everything in it', () => {
  const { fields, body } = composeBody(bodySource({ text: 'hi', html: page, attachments: [logo, invoice] }))
  const boundary = (kind: string) => `=_${kind}_f7d3947d1c7772a46145f9eeb3054d91`
  assert.is(fields[1]!.value, `multipart/mixed;\r\n boundary="${boundary('mixed')}"`)
  assert.is(
    `${body}`,
    [
      `--${boundary('mixed')}`,
      `Content-Type: multipart/alternative;\r\n boundary="${boundary('alternative')}"`,
      '',
      `--${boundary('alternative')}`,
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      'hi',
      `--${boundary('alternative')}`,
      `Content-Type: multipart/related; type="text/html";\r\n boundary="${boundary('related')}"`,
      '',
      `--${boundary('related')}`,
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: 7bit',
      '',
      page,
      `--${boundary('related')}`,
      'Content-Type: image/png; name="logo.png"',
      'Content-Disposition: inline; filename="logo.png"',
      'Content-Transfer-Encoding: base64',
      'Content-ID: <logo>',
      '',
      'bG9nbw==',
      `--${boundary('related')}--`,
      '',
      `--${boundary('alternative')}--`,
      '',
      `--${boundary('mixed')}`,
      'Content-Type: application/pdf; name="invoice.pdf"',
      'Content-Disposition: attachment; filename="invoice.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'aW52b2ljZQ==',
      `--${boundary('mixed')}--`,
      '',
    ].join('\r\n'),
  )
})

test('the same source gives the same octets, another seed other boundaries only', () => {
  const args = { text: 'Grüße', html: page, attachments: [logo, invoice] }
  assert.ok(compose(args).equals(compose(structuredClone(args))))
  const other = wire({ ...args, seed: 'eml_2' })
  assert.is.not(other, wire(args))
  assert.is(other.replace(/[0-9a-f]{32}/g, ''), wire(args).replace(/[0-9a-f]{32}/g, ''))
})

test('no part can end itself: the boundary in a text or an attached message is harmless', () => {
  const boundary = /boundary="(.*)"/.exec(wire({ text: 'a', html: 'b' }))![1]!
  const forged = `--${boundary}--\r\n--${boundary}\r\nContent-Type: text/evil\r\n\r\nx`
  const eml = { ...invoice, contentType: 'message/rfc822', content: Buffer.from(forged) }
  const message = wire({ text: forged, html: forged, attachments: [eml] })
  assert.is(treeOf(message), 'mixed(alternative(text/plain text/html) application/octet-stream)')
})

test('no boundary begins with another, as readers compare beginnings (RFC 2046 §5.1.2)', () => {
  const message = wire({ text: 'hi', html: page, attachments: [logo, invoice] })
  const boundaries = [...message.matchAll(/boundary="(.*)"/g)].map(match => match[1]!)
  assert.is(boundaries.length, 3)
  for (const one of boundaries)
    for (const other of boundaries) assert.ok(one === other || !one.startsWith(other))
})

test('text of any shape and size is encoded in proportionate time', () => {
  for (const piece of ['\n', ' ', 'x', 'é', '日本語\n', '.\n', ' \n', '<p>\t</p>\r\n', '--=_', '=']) {
    const text = piece.repeat(Math.ceil(2_000_000 / piece.length))
    for (const line of wireLines(compose({ text, html: text })))
      assert.ok(line.length <= 76 || line.startsWith(' '))
  }
})

/** Whether relaxed canonicalization leaves the body unchanged, except for its end (RFC 6376 §3.4.4). */
const holdsNothingToRelax = (body: Buffer) => !/\t| [ \r\n]/.test(body.toString('latin1'))

test('a body that says to be relaxed has nothing to relax', () => {
  const words = fc.option(awkwardText)
  const file = awkwardText.map(filename => ({ ...invoice, filename }))
  const letter = file.map(attachment => ({ ...attachment, contentType: 'message/rfc822' }))
  checked(
    fc.tuple(words, words, fc.array(fc.oneof(file, letter), { maxLength: 2 })),
    ([text, html, attachments]) => {
      const { body, isRelaxed } = composeBody(bodySource({ text, html, attachments }))
      assert.ok(!isRelaxed || holdsNothingToRelax(body))
    },
  )
})

for (const [what, args, isRelaxed] of [
  ['a plain text', { text: 'Hello,\nhow are you?' }, true],
  ['a text that is encoded', { text: `${'word '.repeat(40)}\nñ`, html: '<p>ñ</p>' }, true],
  ['a text with files', { text: 'Hello', attachments: [invoice, logo] }, true],
  ['another script', { text: 'Добро пожаловать \t  ' }, true],
  ['two blanks', { text: 'Hello  you' }, false],
  ['a tab in one of two parts', { text: 'Hello', html: '<p>\tHello</p>' }, false],
  [
    'a file with two blanks in its name',
    { text: 'Hello', attachments: [{ ...invoice, filename: 'a  b' }] },
    false,
  ],
] as const)
  test(`${what}: ${isRelaxed ? 'relaxed' : 'not relaxed'}`, () => {
    const composed = composeBody(bodySource(args))
    assert.is(composed.isRelaxed, isRelaxed)
    assert.is(holdsNothingToRelax(composed.body), isRelaxed)
  })

test('ten megabytes are held once as they are and once encoded', () => {
  const content = Buffer.alloc(10 * 1024 * 1024, 'abc\xff', 'latin1')
  const before = process.memoryUsage().arrayBuffers
  const { body } = composeBody(bodySource({ text: 'hi', attachments: [{ ...invoice, content }] }))
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(body.length > content.length * 1.36)
  assert.ok(grown < content.length * 1.5, `${grown} bytes for ${content.length}`)
})

/** The media types as a tree, read from the boundaries alone. */
function treeOf(entity: string): string {
  const headEnd = entity.indexOf('\r\n\r\n')
  const head = entity.slice(0, headEnd + 2)
  const [, type, subtype] = /^Content-Type: ([\w-]+)\/([\w-]+)/m.exec(head)!
  if (type !== 'multipart') return `${type}/${subtype}`
  const boundary = /boundary="(.*)"/.exec(head)![1]!
  const parts = entity
    .slice(headEnd + 2)
    .split(`\r\n--${boundary}`)
    .slice(1)
  assert.is(parts.pop(), '--\r\n')
  return `${subtype}(${parts.map(part => treeOf(part.slice(2))).join(' ')})`
}

test.run()
