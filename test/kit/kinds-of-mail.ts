/**
 * One mail of each kind that people send through the product, in the words in which its reader must see it.
 */

/** Interface through which a mail is submitted. */
export type Way = 'api' | 'broadcast' | 'template' | 'smtp' | 'answer'

export interface NamedAddress {
  name: string
  address: string
}

export interface FileOfMail {
  filename: string
  /** Media type without parameters. */
  type: string
  charset: string | null
  /** Method of a calendar (RFC 5546 §1.4); null for other files. */
  method: string | null
  /** Without angle brackets; null unless the HTML shows the file. */
  contentId: string | null
  content: Buffer
}

export interface KindOfMail {
  kind: string
  way: Way
  from: NamedAddress
  to: NamedAddress
  subject: string
  /** LF line ends. */
  text: string
  /** Whether the sender gives HTML alone, so that the product derives the text. */
  derivesText: boolean
  html: string | null
  files: readonly FileOfMail[]
  /** Header fields that the sender sets. */
  headers: Readonly<Record<string, string>>
}

/** Placeholder of a broadcast for the unsubscribe link of each member. */
export const UNSUBSCRIBE_URL = '{{unsubscribe_url}}'
const SENDER: NamedAddress = { name: 'Ann Miller', address: 'ann@here.example' }
const WORDS = `Hello Bob,

your order of three chairs left our warehouse this morning. The carrier expects to
deliver it on Thursday between nine and twelve. If nobody is at home, the parcel waits
for you at the post office in Mill Street for seven days.

Best regards
Ann Miller
`

/** A file as senders give it: a type that has parameters only where the test says so. */
function file(filename: string, type: string, content: string | Buffer, more: Partial<FileOfMail> = {}) {
  const none = { charset: null, method: null, contentId: null }
  return { filename, type, content: Buffer.from(content), ...none, ...more }
}

/** A whole HTML page, as template tools write it. */
function page(words: string, more = ''): string {
  const paragraphs = words
    .trim()
    .split('\n\n')
    .map(paragraph => `<p style="margin:0 0 16px">${paragraph}</p>`)
  return [
    '<!doctype html>',
    '<html lang="en">',
    '<head><meta charset="utf-8"><title>Your order</title></head>',
    '<body style="font-family:sans-serif;color:#222222;background-color:#ffffff">',
    '<table role="presentation" width="600"><tr><td>',
    ...paragraphs,
    ...(more === '' ? [] : [more]),
    '<p><a href="https://here.example/orders/5417">See the order on our website</a></p>',
    '</td></tr></table>',
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

/** A red square of 8 × 8 pixels. */
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElFTkSuQmCC',
  'base64',
)
const INVITATION = [
  'BEGIN:VCALENDAR',
  'PRODID:-//Here//Orders//EN',
  'VERSION:2.0',
  'METHOD:REQUEST',
  'BEGIN:VEVENT',
  'UID:visit-5417@here.example',
  'DTSTAMP:20261120T090000Z',
  'DTSTART:20261203T090000Z',
  'DTEND:20261203T100000Z',
  'SUMMARY:Gespräch über die Stühle',
  'ORGANIZER;CN=Ann Miller:mailto:ann@here.example',
  'ATTENDEE;CN=Bob;RSVP=TRUE:mailto:invited@there.example',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n')

type Given = Partial<KindOfMail> & { kind: string }

const GIVEN: readonly Given[] = [
  { kind: 'text only' },
  { kind: 'text and HTML', html: `<p>${WORDS.trim().replaceAll('\n\n', '</p>\n<p>')}</p>\n` },
  { kind: 'a whole page of HTML with its text', html: page(WORDS) },
  {
    kind: 'a page of HTML alone',
    derivesText: true,
    html: page(WORDS),
    text: `${WORDS.trim()
      .split('\n\n')
      .map(paragraph => paragraph.replaceAll('\n', ' '))
      .join('\n\n')}\n\nSee the order on our website (https://here.example/orders/5417)\n`,
  },
  {
    kind: 'files with names beyond ASCII',
    html: page(WORDS),
    files: [
      file('請求書 2026.pdf', 'application/pdf', '%PDF-1.4\n%%EOF\n'),
      file('Größen "XL"; 50 %.csv', 'text/csv', 'Größe;Preis\r\nXL;50 €\r\n'),
      file('تقرير ٢٠٢٦.txt', 'text/plain', 'تقرير\n'),
      file(`${'Отчёт о поставке '.repeat(8)}.bin`, 'application/octet-stream', PICTURE),
    ],
  },
  {
    kind: 'an inline image',
    html: page(WORDS, '<img src="cid:chair-1" alt="A chair" width="80" height="80">'),
    files: [file('chair.png', 'image/png', PICTURE, { contentId: 'chair-1' })],
  },
  {
    kind: 'an inline image beside a file',
    html: page(WORDS, '<img src="cid:chair-2" alt="A chair" width="80" height="80">'),
    files: [
      file('chair.png', 'image/png', PICTURE, { contentId: 'chair-2' }),
      file('invoice.pdf', 'application/pdf', '%PDF-1.4\n%%EOF\n'),
    ],
  },
  {
    kind: 'a calendar invitation',
    subject: 'Invitation: we look at the chairs on 3 December',
    html: page(WORDS),
    files: [file('invite.ics', 'text/calendar', INVITATION, { charset: 'utf-8', method: 'REQUEST' })],
  },
  {
    kind: 'calendars of other methods',
    files: [
      file('cancel.ics', 'text/calendar', INVITATION.replace('REQUEST', 'CANCEL'), {
        charset: 'utf-8',
        method: 'CANCEL',
      }),
      file('Termin für Köln.ics', 'text/calendar', INVITATION.replaceAll('\r\n', '\n'), {
        charset: 'utf-8',
        method: 'REQUEST',
      }),
      file('feed.ics', 'text/calendar', INVITATION.replace('METHOD:REQUEST\r\n', ''), { charset: 'utf-8' }),
    ],
  },
  {
    kind: 'files of every sort',
    files: [
      file(
        'octets.bin',
        'application/octet-stream',
        Buffer.from(Array.from({ length: 1_024 }, (_, i) => i % 256)),
      ),
      file('empty.dat', 'application/octet-stream', ''),
      file('page.html', 'text/html', '<p>Grüße</p>\n.\nFrom here\n'),
      file('data.json', 'application/json', '{"a":"ü"}'),
      file('🎉 party.txt', 'text/plain', 'no line end'),
      file("a;b='c', (1) [2] 100%.txt", 'text/plain', '\r\n\r\n'),
    ],
  },
  {
    kind: 'Cyrillic',
    from: { name: 'Анна Петрова', address: 'ann@here.example' },
    to: { name: 'Борис Иванов', address: '' },
    subject: 'Ваш заказ отправлен и прибудет в четверг утром',
    text: 'Здравствуйте, Борис!\n\nВаш заказ отправлен сегодня утром и прибудет в четверг.\n\nАнна\n',
  },
  {
    kind: 'Greek',
    from: { name: 'Άννα Παπαδοπούλου', address: 'ann@here.example' },
    to: { name: 'Νίκος', address: '' },
    subject: 'Η παραγγελία σας έφυγε και φτάνει την Πέμπτη',
    text: 'Γεια σας,\n\nη παραγγελία σας έφυγε σήμερα το πρωί και φτάνει την Πέμπτη.\n\nΆννα\n',
  },
  {
    kind: 'Arabic',
    from: { name: 'آنا منصور', address: 'ann@here.example' },
    to: { name: 'بدر', address: '' },
    subject: 'تم شحن طلبك وسيصل صباح يوم الخميس',
    text: 'مرحبا بدر،\n\nتم شحن طلبك هذا الصباح وسيصل يوم الخميس.\n\nآنا\n',
  },
  {
    kind: 'Japanese',
    from: { name: '田中 安奈', address: 'ann@here.example' },
    to: { name: '山田 太郎', address: '' },
    subject: 'ご注文の商品を発送しました。木曜日の午前中にお届けします。',
    text: '山田様\n\nご注文の商品を今朝発送しました。木曜日の午前中にお届けします。\n\n田中\n',
  },
  {
    kind: 'Devanagari',
    from: { name: 'अन्ना शर्मा', address: 'ann@here.example' },
    to: { name: 'बॉबी', address: '' },
    subject: 'आपका ऑर्डर भेज दिया गया है और गुरुवार को पहुँचेगा',
    text: 'नमस्ते,\n\nआपका ऑर्डर आज सुबह भेज दिया गया है और गुरुवार को पहुँचेगा।\n\nअन्ना\n',
  },
  { kind: 'a subject with emoji', subject: '🎉 Your chairs are on their way 👩‍👩‍👧 👍🏽', html: page(WORDS) },
  {
    kind: 'a long ASCII subject',
    subject: 'Your order of three chairs, one table and a lamp is on its way to you; '.repeat(4).trim(),
  },
  {
    kind: 'a long subject beyond ASCII',
    subject: 'Ihre Bestellung für Köln: Stühle, Größe „L“; '.repeat(5).trim(),
  },
  {
    kind: 'a name with signs',
    from: { name: 'Miller, Ann "Chairs" (Köln) <sales>', address: 'ann@here.example' },
    to: { name: "O'Neil, Bob; Jr. [home]", address: '' },
  },
  {
    kind: 'lines of every sort',
    text: `.\n..two dots\nFrom the start\n-- \n${'long words in a row '.repeat(60).trim()}\n\ttab = equals =3D\nGrüße\n`,
    html: `<p>${'long words in a row '.repeat(60).trim()}</p>\n<p>.</p>\n.\n<p>= Grüße</p>\n`,
  },
  {
    kind: 'a broadcast',
    way: 'broadcast',
    to: { name: '', address: '' },
    subject: 'News of our workshop in November',
    text: `${WORDS}\nUnsubscribe: ${UNSUBSCRIBE_URL}\n`,
    html: page(WORDS, `<p><a href="${UNSUBSCRIBE_URL}">Unsubscribe from our news</a></p>`),
  },
  {
    kind: 'a reply',
    subject: 'Re: Which day suits you?',
    headers: {
      'In-Reply-To': '<question-2@there.example>',
      References: '<question-1@there.example> <question-2@there.example>',
    },
  },
  {
    kind: 'an answer to received mail',
    way: 'answer',
    subject: 'Re: Welcher Tag für die Stühle?',
    html: page(WORDS),
    headers: {
      'In-Reply-To': '<question-2@there.example>',
      References: '<question-1@there.example> <question-2@there.example>',
    },
  },
  {
    kind: 'a template',
    way: 'template',
    subject: 'Order 5417 has left, Bob',
    text: WORDS,
    html: page(WORDS),
  },
  { kind: 'a mail of a program over SMTP', way: 'smtp', subject: 'Your order of Größe L has left' },
]

/** Each to a recipient of its own. */
export const KINDS_OF_MAIL: readonly KindOfMail[] = GIVEN.map((args, at) => ({
  way: 'api',
  from: SENDER,
  subject: 'Your order of three chairs has left our warehouse',
  text: WORDS,
  html: null,
  derivesText: false,
  files: [],
  headers: {},
  ...args,
  to: { name: args.to?.name ?? 'Bob Carpenter', address: `ok-${at}@there.example` },
}))
