/**
 * Messages that signers and verifiers are known to get wrong: odd blanks, line ends, octets and fields.
 * Each is signed by us and judged by foreign verifiers, here by mailauth and in `test/peers/mail-format` by
 * dkimpy and opendkim.
 */
import { composeBody } from '../../../../src/protocols/mime/compose-body.ts'
import { composeHead } from '../../../../src/protocols/mime/compose-head.ts'
import type { HeaderField } from '../../../../src/protocols/smtp/header-field.ts'
import { bodySource, headSource, mailbox } from '../mime/messages.ts'

export interface CorpusMessage {
  name: string
  fields: HeaderField[]
  body: Buffer
}

const MEGABYTE = 1024 * 1024
const all256 = Buffer.from(Uint8Array.from({ length: 256 }, (_, octet) => octet))
const ordinary = all256.filter(octet => octet !== 10 && octet !== 13)

const bodies: Record<string, string | Buffer> = {
  'no body': '',
  'one CRLF': '\r\n',
  'a hundred CRLFs': '\r\n'.repeat(100),
  'only blanks and tabs': '   \r\n\t \t\r\n',
  'plain text': 'Hello Bob,\r\n\r\nhow are you?\r\n',
  'no CRLF at the end': 'a',
  'blanks and no CRLF at the end': 'a  ',
  'nothing but blanks and no CRLF': '  ',
  'trailing CRLFs': 'a\r\n\r\n\r\n\r\n',
  'leading CRLFs': '\r\n\r\n\r\na\r\n',
  'lines of blanks between text': 'a\r\n   \r\n\t\r\nb\r\n',
  'trailing blanks': 'a   \r\nb\t\r\nc \t \r\n',
  'trailing blanks, then empty lines': 'a   \r\n  \r\n\r\n',
  'runs of blanks': 'a  b   c    d\r\n',
  'tabs inside': 'a\tb\t\tc \t d\r\n',
  'leading blanks': '    a\r\n\tb\r\n \t c\r\n',
  'a lone dot': 'a\r\n.\r\nb\r\n',
  dots: '.\r\n..\r\n...\r\n.a\r\n..a\r\n',
  'From at the start of lines': 'From me\r\n>From you\r\nFrom \r\n',
  'a bare CR': 'a\rb\r\n',
  'a blank before a bare CR': 'a \rb\r\n',
  'CR CR LF': 'a\r\r\n\r\r\nb\r\n',
  'a bare CR last': 'a\r\n\r\r\n',
  'a bare LF': 'a\nb\r\n',
  'a blank before a bare LF': 'a \nb\t\nc\r\n',
  'a bare LF last': 'a\r\n\n\r\n',
  'form feeds and vertical tabs': 'a\f\r\n\fb\v c \f \r\n',
  NUL: 'a\0b \0\r\n\0',
  'all octets but CR and LF': Buffer.concat([ordinary, Buffer.from('\r\n')]),
  'all octets but CR and LF, a thousand times': Buffer.concat([
    ...Array<Buffer>(1000).fill(Buffer.from(ordinary)),
    Buffer.from('\r\n'),
  ]),
  'a no-break space': 'a\u00a0\r\n\u00a0\r\n\u00a0b \u00a0 c\r\n',
  'a no-break space in ISO-8859-1': Buffer.from('a\xa0\r\n\xa0\r\n b \xa0 c\r\n', 'latin1'),
  'line and paragraph separators': 'a\u2028\r\n\u2028b\u2029 \u2029\r\n',
  'wide blanks': 'a\u3000\r\n\u2003 b \u2003\r\n\u1680\u200a\r\n',
  'a byte order mark': '\ufeffa\r\n\ufeff\r\n',
  'next line (U+0085)': Buffer.from('a\x85\r\n\x85b \x85 \r\n', 'latin1'),
  'ISO-8859-1': Buffer.from('Grüße aus Köln \r\n\xff\xfe \xe9\r\n', 'latin1'),
  'invalid UTF-8': Buffer.from('c3 20 20 e2 80 0d 0a f0 9f 98 20 0d 0a'.replaceAll(' ', ''), 'hex'),
  'UTF-8': 'Grüße 日本語 👩‍👩‍👧  \r\n',
  'a line of 998 octets': `${'x'.repeat(998)}\r\n`,
  'a line of 100,000 octets': `${'x'.repeat(100_000)}\r\n`,
  'a line of a million blanks': `a${' '.repeat(1_000_000)}b\r\n`,
  '10,000 blanks inside a line': `a${' '.repeat(10_000)}b\r\n`,
  '100,000 blanks at the end of a line': `a${' '.repeat(100_000)}\r\nb\r\n`,
  '100,000 tabs and blanks': `a${'\t '.repeat(50_000)}b\r\n`,
  '100,000 CRLFs inside': `a${'\r\n'.repeat(100_000)}b\r\n`,
  '100,000 CRLFs at the end': `a${'\r\n'.repeat(100_000)}`,
  '100,000 lines of one blank': `a\r\n${' \r\n'.repeat(100_000)}b\r\n`,
  'blanks where a buffer of 8192 ends': `${'x'.repeat(8191)}  \r\n${'y  '.repeat(8190)} \r\n`,
  'CRLF where a buffer of 65,536 ends': `${'x'.repeat(65_535)}\r\n\r\n${'y '.repeat(32_767)}\r\n\r\n`,
  'ten megabytes of base64': `${'QUJDREVG'.repeat(9)}QUJD\r\n`.repeat(Math.ceil((10 * MEGABYTE) / 78)),
  'ten megabytes of ragged text': 'some  text\twith   blanks \r\n\r\n'.repeat((10 * MEGABYTE) / 30),
}

const heads: Record<string, (readonly [name: string, value: string])[]> = {
  'only From': [['From', 'ann@here.test']],
  'empty subject': [
    ['From', 'ann@here.test'],
    ['Subject', ''],
    ['To', 'bob@there.test'],
  ],
  'a subject of blanks': [
    ['From', 'ann@here.test'],
    ['Subject', ' \t '],
  ],
  'runs of blanks in fields': [
    ['From', 'Ann   <ann@here.test>'],
    ['Subject', 'a  b \t c'],
  ],
  'blanks around values': [
    ['From', '  ann@here.test  '],
    ['Subject', '\ta \t'],
  ],
  'folded by blank and tab': [
    ['From', '"Ann\r\n Bee"\r\n\t<ann@here.test>'],
    ['To', 'bob@there.test,\r\n  cy@there.test,\r\n\t\tdi@there.test'],
    ['Subject', 'a\r\n b \r\n  c'],
  ],
  'folded right after the colon': [
    ['From', '\r\n ann@here.test'],
    ['Subject', '\r\n a'],
  ],
  'names in odd case': [
    ['FROM', 'ann@here.test'],
    ['sUbJeCt', 'x'],
    ['MIME-version', '1.0'],
  ],
  'UTF-8 in fields': [
    ['From', 'Jörg <jörg@here.test>'],
    ['Subject', 'Grüße 日本語 👍'],
  ],
  'odd blanks in fields': [
    ['From', 'ann@here.test'],
    ['Subject', '\u00a0a\u2028\u3000 b\u00a0'],
    ['To', 'x\u2003y@there.test'],
  ],
  'form feed in a field': [
    ['From', 'ann@here.test'],
    ['Subject', 'a\f\v b \f'],
  ],
  'two To fields': [
    ['To', 'top@there.test'],
    ['From', 'ann@here.test'],
    ['To', 'bottom@there.test'],
  ],
  'two Subject fields': [
    ['Subject', 'top'],
    ['From', 'ann@here.test'],
    ['Subject', 'bottom'],
  ],
  'list fields twice': [
    ['From', 'ann@here.test'],
    ['List-Unsubscribe', '<https://here.test/1>'],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    ['List-Unsubscribe', '<https://here.test/2>'],
    ['List-ID', 'News <news.here.test>'],
    ['list-id', 'Other <other.here.test>'],
  ],
  'resent twice': [
    ['Resent-From', 'cy@there.test'],
    ['Resent-Date', 'Sat, 21 Nov 2026 14:00:00 +0000'],
    ['Resent-From', 'bob@there.test'],
    ['Resent-Date', 'Sat, 21 Nov 2026 13:30:00 +0000'],
    ['From', 'ann@here.test'],
  ],
  'signs that tags are made of': [
    ['From', 'ann@here.test'],
    ['Subject', 'v=1; b=AbC; bh=x; h=from:to ; =:;'],
  ],
  'fields that are not signed': [
    ['Received', 'from a.test by b.test; Sat, 21 Nov 2026 13:00:00 +0000'],
    ['Received', 'from c.test by d.test; Sat, 21 Nov 2026 12:00:00 +0000'],
    ['From', 'ann@here.test'],
    ['X-Note', 'a  b'],
    ['Feedback-ID', 'a:b:c:d'],
    ['X-Mailhorn-Ref', 'abcdefghijklmnop'],
  ],
  'a hundred fields': [
    ['From', 'ann@here.test'],
    ...Array.from({ length: 100 }, (_, at) => [`X-Field-${at}`, `value ${at}`] as const),
  ],
  'a subject of 10,000 octets': [
    ['From', 'ann@here.test'],
    ['Subject', 'word '.repeat(2000)],
  ],
}

/** Messages as the composer makes them. */
const composed: [name: string, message: CorpusMessage][] = Object.entries({
  'composed text': { text: 'Hello  Bob \n\n\n' },
  'composed HTML': { html: `<p style="a">${'long line '.repeat(50)}</p>\n  <p>  </p>\n` },
  'composed from text, HTML, picture and file': {
    text: 'Grüße',
    html: '<img src="cid:logo">',
    attachments: ['logo', null].map(contentId => ({
      filename: 'Köln.png',
      contentType: 'image/png',
      contentId,
      content: all256,
    })),
  },
  'composed with an attached message': {
    text: 'see below',
    attachments: [
      {
        filename: 'mail.eml',
        contentType: 'message/rfc822',
        contentId: null,
        content: Buffer.from('From: x@y.test\nSubject:  two  blanks \n\n a  b \n\n\n'),
      },
    ],
  },
  'composed without content': {},
  'composed in Japanese': { text: 'ご注文ありがとうございます。\n'.repeat(20), subject: 'ご注文'.repeat(30) },
  'composed for fifty recipients': {
    text: 'x',
    subject: '',
    to: Array.from({ length: 50 }, (_, at) => mailbox(`r${at}@there.test`, `Empfänger, ${at}`)),
  },
  'composed with fields of the user': {
    text: 'x',
    headers: [
      ['References', '<a.b.c@there.test> '.repeat(60)],
      ['List-Unsubscribe', `<https://here.test/${'u'.repeat(985 - 20)}>, <mailto:u@here.test>`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ['X-Note', 'schöne Grüße '.repeat(40)],
    ] as [string, string][],
  },
}).map(([name, input]) => {
  const { fields, body } = composeBody(bodySource(input))
  return [name, { name, fields: [...composeHead(headSource(input)), ...fields], body }]
})

export const corpus: readonly CorpusMessage[] = [
  ...Object.entries(bodies).map(([name, body]) => ({
    name,
    fields: composeHead(headSource()),
    body: Buffer.from(body),
  })),
  ...Object.entries(heads).map(([name, fields]) => ({
    name,
    fields: fields.map(([name, value]) => ({ name, value })),
    body: Buffer.from('Hello\r\n'),
  })),
  ...composed.map(([, message]) => message),
]
