/** Every charset where mail has it: in a body, in a subject, in the name of a file. */
import { CHARSET_WORDS } from './charset-words.ts'
import { type Fixture, utf8 } from './fixture.ts'

const IN_EACH_PLACE: readonly Fixture[] = CHARSET_WORDS.flatMap(({ charset, text, octets }) => {
  const bytes = Buffer.from(octets, 'base64')
  const escaped = (sign: string) =>
    [...bytes].map(octet => `${sign}${octet.toString(16).toUpperCase().padStart(2, '0')}`).join('')
  return [
    {
      name: `${charset}: a body`,
      mail: `Content-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: base64\n\n${octets}\n`,
      expected: { text, html: null, faults: [] },
    },
    {
      name: `${charset}: a subject`,
      mail: `Subject: =?${charset}?Q?${escaped('=')}?=\n\nx\n`,
      expected: { subject: text },
    },
    {
      name: `${charset}: the name of a file`,
      mail: `Content-Type: application/pdf\nContent-Disposition: attachment; filename*=${charset}''${escaped('%')}\n\nx\n`,
      expected: { parts: [{ filename: text, contentType: 'application/pdf' }] },
    },
  ]
})

const JP = '=?iso-2022-jp?B?GyRCJUYlOSVIGyhC?='
const KR = '=?iso-2022-kr?B?DkdRMTk+bg8=?='
const HZ = '=?hz-gb-2312?B?fntEYzpDfn0=?='
const jpEscaped = '%1B$B%25F%259%25H%1B(B'
const declared = (charset: string, head: string, expected: Fixture['expected']): Fixture => ({
  name: `${charset}: declared, and raw in the header`,
  mail: `${head}\nContent-Type: text/plain; charset=${charset}\n\nx\n`,
  expected,
})

/** Texts in several pieces, and octets whose charset is declared elsewhere or wrongly. */
const IN_PIECES: readonly Fixture[] = [
  { name: 'iso-2022-jp: a subject in two words', mail: `Subject: ${JP} ${JP}\n\nx`, expected: { subject: 'テストテスト' } },
  { name: 'iso-2022-jp: a subject in three words over lines', mail: `Subject: ${JP}\n ${JP}\n\t${JP}\n\nx`, expected: { subject: 'テストテストテスト' } },
  { name: 'iso-2022-jp: a word that does not return to ASCII', mail: 'Subject: =?iso-2022-jp?Q?=1B$B%F?= =?iso-2022-jp?Q?ab?=\n\nx', expected: { subject: 'テab' } },
  { name: 'iso-2022-jp: words without a charset of their own', mail: `Subject: ${JP.replace('iso-2022-jp', 'us-ascii')} ${JP.replace('iso-2022-jp', 'us-ascii')}\n\nx`, expected: { subject: 'テストテスト' } },
  { name: 'iso-2022-kr: a subject in two words', mail: `Subject: ${KR} ${KR}\n\nx`, expected: { subject: '한국어한국어' } },
  { name: 'hz-gb-2312: a subject in two words', mail: `Subject: ${HZ} ${HZ}\n\nx`, expected: { subject: '你好你好' } },
  { name: 'utf-7: a subject in two words', mail: 'Subject: =?utf-7?Q?+ZeVnLA?= =?utf-7?Q?a?=\n\nx', expected: { subject: '日本a' } },
  { name: 'iso-2022-jp: a name in two words', mail: `From: ${JP} ${JP} <a@x.example>\n\nx`, expected: { from: [{ name: 'テストテスト', address: 'a@x.example' }] } },
  { name: 'iso-2022-jp: a file name in two words', mail: `Content-Type: application/pdf; name="${JP} ${JP}"\n\nx`, expected: { parts: [{ filename: 'テストテスト' }] } },
  { name: 'iso-2022-jp: a file name in pieces', mail: `Content-Type: application/pdf\nContent-Disposition: attachment; filename*0*=iso-2022-jp''${jpEscaped}; filename*1*=${jpEscaped}\n\nx`, expected: { parts: [{ filename: 'テストテスト' }] } },
  { name: 'iso-2022-jp: a body that was joined', mail: 'Content-Type: text/plain; charset=iso-2022-jp\n\n\x1b$B%F\x1b(B\x1b$B%F\x1b(B', expected: { text: 'テテ' } },
  { name: 'euc-kr: a character in two words', mail: 'Subject: =?euc-kr?Q?=98?= =?euc-kr?Q?=DE?=\n\nx', expected: { subject: '샾' } },
  { name: 'shift_jis: a character in two pieces', mail: "Content-Type: application/pdf; name*0*=x-sjis''%93; name*1*=%FA\n\nx", expected: { parts: [{ filename: '日' }] } },
  { name: 'a label with dots for a boundary', mail: "Content-Type: multipart/mixed; boundary*=ansi-x3.4-1968''B\n\n--B\n\none\n--B\nContent-Type: application/pdf; name=a.pdf\n\nx\n--B--\n", expected: { text: 'one', parts: [{ filename: 'a.pdf' }] } },
  { name: 'us-ascii: a body in UTF-8', mail: `Content-Type: text/plain; charset=us-ascii\n\n${utf8('Grüße')}`, expected: { text: 'Grüße' } },
  { name: 'iso-2022-jp: a body in UTF-8', mail: `Content-Type: text/plain; charset=iso-2022-jp\n\n${utf8('日本 Grüße')}`, expected: { text: '日本 Grüße' } },
  { name: 'iso-2022-kr: a body in UTF-8', mail: `Content-Type: text/plain; charset=iso-2022-kr\n\n${utf8('한국')}`, expected: { text: '한국' } },
  declared('koi8-r', 'From: \xf0\xd2\xcf <a@x.example>\nSubject: \xf0\xd2\xcf\xd7\xc5\xd2\xcb\xc1', { from: [{ name: 'Про', address: 'a@x.example' }], subject: 'Проверка' }),
  declared('gb2312', 'Subject: \xc4\xe3\xba\xc3', { subject: '你好' }),
  declared('euc-kr', 'To: \x98\xde <a@x.example>\nSubject: \x98\xde', { to: [{ name: '샾', address: 'a@x.example' }], subject: '샾' }),
  declared('windows-1251', `Subject: ${utf8('Grüße')}`, { subject: 'Grüße' }),
  declared('no-such-charset', 'Subject: Gr\xfc\xdfe', { subject: 'Grüße' }),
  declared('utf-7', 'Subject: Gr\xfc\xdfe', { subject: 'Grüße' }),
  { name: 'koi8-r: declared by the first text of a multipart', mail: 'Subject: \xf0\xd2\xcf\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain; charset=koi8-r\n\nx\n--b--\n', expected: { subject: 'Про' } },
  { name: 'koi8-r: declared by a file, and raw in its name', mail: 'Content-Type: text/csv; name="\xf0\xd2\xcf.csv"; charset=koi8-r\n\nx', expected: { parts: [{ filename: 'Про.csv' }] } },
]

export const CHARSETS: readonly Fixture[] = [...IN_EACH_PLACE, ...IN_PIECES]
