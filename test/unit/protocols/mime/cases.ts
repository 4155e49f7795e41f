/**
 * Messages as people send them, with the difficulties they have: named sources for comparing composers and
 * readers.
 */
import type { Attachment } from '../../../../src/protocols/mime/attachment-entity.ts'
import type { BodySource } from '../../../../src/protocols/mime/compose-body.ts'
import type { HeadSource } from '../../../../src/protocols/mime/compose-head.ts'
import { mailbox } from './messages.ts'

export type Given = Partial<HeadSource & BodySource>

const page = '<!doctype html>\n<p>Hello <img src="cid:logo@here.test"> there</p>\n'
const logo: Attachment = {
  filename: 'logo.png',
  contentType: 'image/png',
  contentId: 'logo@here.test',
  content: Buffer.from('89504e470d0a1a0a', 'hex'),
}
const paper = (filename: string, contentType = 'application/pdf', content = 'paper'): Attachment => ({
  filename,
  contentType,
  contentId: null,
  content: Buffer.from(content),
})

export const cases: readonly [what: string, input: Given][] = [
  ['plain text', { text: 'Hello Bob,\n\nhow are you?\n' }],
  ['HTML alone', { html: page }],
  ['text and HTML', { text: 'Hello', html: page }],
  ['no content at all', {}],
  ['empty text beside HTML', { text: '', html: page }],
  ['a text beside empty HTML', { text: 'Hello', html: '' }],
  ['an accented subject', { text: 'x', subject: 'Grüße aus Köln: 50 % Rabatt = großartig' }],
  ['a long ASCII subject', { text: 'x', subject: 'all the news that is fit to print '.repeat(12).trim() }],
  ['a long Japanese subject', { text: 'x', subject: 'ご注文ありがとうございます。'.repeat(12) }],
  ['a subject of emoji', { text: 'x', subject: '👩‍👩‍👧👍🏽🎉'.repeat(9) }],
  ['no subject', { text: 'x', subject: '' }],
  ['a display name with a comma', { text: 'x', from: mailbox('ann@here.test', 'Bee, Ann') }],
  ['a display name with quotes', { text: 'x', from: mailbox('ann@here.test', 'Ann "the boss" Bee') }],
  ['a display name with a backslash', { text: 'x', from: mailbox('ann@here.test', 'AC\\DC') }],
  ['a display name that is an address', { text: 'x', from: mailbox('ann@here.test', 'other@there.test') }],
  ['a Chinese display name', { text: 'x', to: [mailbox('wei@there.test', '王伟')] }],
  ['an apostrophe in name and address', { text: 'x', to: [mailbox("o'neil@there.test", "O'Neil")] }],
  ['an internationalised domain', { text: 'x', to: [mailbox('bob@xn--bcher-kva.example', 'Bob')] }],
  [
    'fifty recipients',
    { text: 'x', to: Array.from({ length: 50 }, (_, at) => mailbox(`r${at}@there.test`, `Empfänger ${at}`)) },
  ],
  [
    'Cc and Reply-To',
    {
      text: 'x',
      cc: [mailbox('cy@there.test', 'Cy'), mailbox('di@there.test')],
      replyTo: [mailbox('help@here.test', 'Help')],
    },
  ],
  ['only Cc', { text: 'x', to: [], cc: [mailbox('cy@there.test')] }],
  ['long lines', { text: 'x'.repeat(3000), html: `<p>${'y'.repeat(3000)}</p>` }],
  ['trailing blanks, dots and From', { text: 'a \n.\n..b\nFrom me\n\tc\t\n', html: 'From x\n.\n' }],
  ['Russian', { text: 'Привет, мир!\n'.repeat(30), html: '<p>Привет</p>' }],
  ['German', { text: 'Schöne Grüße\n'.repeat(30), html: '<p>Schöne Grüße</p>' }],
  ['an attachment', { text: 'x', attachments: [paper('invoice 2026.pdf')] }],
  ['an attachment with an accented name', { text: 'x', attachments: [paper('Rechnung für Köln.pdf')] }],
  [
    'an attachment with a long Japanese name',
    { text: 'x', attachments: [paper(`${'請求書'.repeat(20)}.pdf`)] },
  ],
  ['an attachment with a name of signs', { text: 'x', attachments: [paper(`a;b='c' (1) [2].pdf`)] }],
  ['an attachment beside HTML', { html: page, attachments: [paper('a.pdf')] }],
  ['a text attachment', { text: 'x', attachments: [paper('a.txt', 'text/plain', 'ä\nb\r\n')] }],
  [
    'a calendar',
    { text: 'x', attachments: [paper('a.ics', 'text/calendar; method=REQUEST', 'BEGIN:VCALENDAR')] },
  ],
  ['an empty attachment', { text: 'x', attachments: [paper('a.bin', 'application/octet-stream', '')] }],
  ['an inline picture', { html: page, attachments: [logo] }],
  ['an inline picture and text', { text: 'Hello', html: page, attachments: [logo] }],
  [
    'everything at once',
    { text: 'Grüße', html: page, subject: 'Grüße', attachments: [logo, paper('a.pdf'), paper('ä.pdf')] },
  ],
  [
    'fields of the user',
    {
      text: 'x',
      headers: [
        ['In-Reply-To', '<0@there.test>'],
        ['References', Array.from({ length: 40 }, (_, at) => `<${at}.abc@there.test>`).join(' ')],
        ['List-Unsubscribe', '<https://here.test/u/1>, <mailto:u@here.test>'],
        ['X-Note', 'schöne Grüße'],
      ],
    },
  ],
]
