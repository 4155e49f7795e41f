import * as assert from 'uvu/assert'
import { partsOf, type ReadMessage, readMessage } from '../../../../src/interfaces/submission/read-message.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { decodeWords } from '../../../../src/protocols/mime/read/encoded-words.ts'
import { splitMessage } from '../../../../src/protocols/mime/whole-message.ts'
import { mailbox } from '../../../kit/mail.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('submission/read-message')

const NOW = Date.UTC(2026, 10, 21, 12)
const received = { name: 'Received', value: 'by mail.here.example with ESMTPSA' }
const bob = mailbox('bob@there.example')

/** Lines end in CRLF; a blank line of the text ends the header. */
function read(text: string, { recipients = [bob], inParts = true, hidesOrigin = false } = {}) {
  const octets = Buffer.from(text.replace(/\n/g, '\r\n'), 'latin1')
  return readOctets(octets, recipients, inParts, hidesOrigin)
}

function readOctets(octets: Buffer, recipients = [bob], inParts = true, hidesOrigin = false) {
  const facts = { octets, recipients, dsn: null, now: NOW, messageName: 'new-name', received, hidesOrigin }
  return readMessage(facts, inParts ? partsOf : null)
}

async function good(...args: Parameters<typeof read>): Promise<ReadMessage> {
  const result = await read(...args)
  if (isRefusal(result)) throw new Error(result.message)
  return result
}

async function refused(...args: Parameters<typeof read>) {
  const result = await read(...args)
  if (!isRefusal(result)) throw new Error('it was taken')
  return result
}

/** The message without our trace field, which stands in front. */
const sent = ({ message }: ReadMessage) => {
  const [trace, ...lines] = Buffer.from(message.raw!.message).toString('latin1').split('\r\n')
  assert.is(trace, `${received.name}: ${received.value}`)
  return lines.join('\n')
}

const LETTER = `From: Ann <ann@here.example>
To: Bob <bob@there.example>
Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=
Date: Sat, 21 Nov 2026 11:59:00 +0000
Message-ID: <one@here.example>
X-Mine: yes
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="b"

--b
Content-Type: text/html; charset=utf-8

<p>Hi</p>
--b
Content-Type: text/csv; name="a.csv"
Content-Disposition: attachment; filename="a.csv"
Content-Transfer-Encoding: base64

YSxi
--b--
`

test('a file name, a type or a content id that is too long is cut where it is shown, and sent as it is', async () => {
  const name = `${'x'.repeat(1_000)}.csv`
  const folded = name.match(/.{1,60}/g)!.map((piece, at) => ` filename*${at}="${piece}"`)
  const letter = LETTER.replace('; name="a.csv"', '')
    .replace(' filename="a.csv"', `\n${folded.join(';\n')}`)
    .replace('Content-Transfer', `Content-ID: <${'i'.repeat(2_000)}>\nContent-Transfer`)
    .replace('text/csv', `text/${'y'.repeat(2_000)}`)
  const message = await good(letter)
  const [attachment] = message.message.attachments
  assert.equal(
    [attachment!.filename, attachment!.contentType, attachment!.contentId],
    [`${'x'.repeat(251)}.csv`, `text/${'y'.repeat(122)}`, 'i'.repeat(255)],
  )
  assert.match(sent(message), folded[0]!)
})

test('a message that lacks nothing leaves as it came', async () => {
  const { message, idempotency } = await good(LETTER)
  assert.is(sent({ message, idempotency }), LETTER)
  assert.is(idempotency, null)
})

test('what it says is shown: addresses, subject, texts, files, its own headers', async () => {
  const { message } = await good(LETTER)
  const { from, to, cc, bcc, subject, messageId, headers, html, text } = message
  assert.equal(from, { name: 'Ann', address: 'ann@here.example', domain: 'here.example' })
  assert.equal(to, [{ name: 'Bob', address: 'bob@there.example', domain: 'there.example' }])
  assert.equal([cc, bcc], [[], []])
  assert.equal([subject, messageId], ['Grüße', '<one@here.example>'])
  assert.equal(headers, [['X-Mine', 'yes']])
  assert.equal([html?.trim(), text], ['<p>Hi</p>', null])
  assert.equal(
    message.attachments.map(file => [
      file.filename,
      file.contentType,
      'content' in file && `${file.content}`,
    ]),
    [['a.csv', 'text/csv', 'a,b']],
  )
})

test('its envelope decides who gets it; who is not named gets a blind copy', async () => {
  const { message } = await good(LETTER, { recipients: [bob, mailbox('carl@far.example')] })
  assert.equal(
    message.raw!.recipients.map(({ address }) => address),
    ['bob@there.example', 'carl@far.example'],
  )
  assert.equal(
    message.bcc.map(({ address }) => address),
    ['carl@far.example'],
  )
})

test('fields that are for us alone do not leave', async () => {
  const fields = `Bcc: secret@far.example
Resent-Bcc: secret@far.example
Return-Path: <x@y.example>
Delivered-To: y@z.example
X-Original-To: y@z.example
X-Envelope-To: y@z.example
Envelope-To: y@z.example
Apparently-To: y@z.example
X-Bcc: secret@far.example
X-Mailhorn-Note: forged
Resend-Idempotency-Key: k1
X-Scheduled-At: 2026-11-22T08:00:00Z
X-Tag-category: welcome
X-TAG-Plan: pro
`
  const { message, idempotency } = await good(fields + LETTER)
  assert.is(sent({ message, idempotency }), LETTER)
  assert.is(idempotency?.key, 'k1')
  assert.is(message.scheduledAt, Date.UTC(2026, 10, 22, 8))
  assert.equal(message.tags, [
    { name: 'category', value: 'welcome' },
    { name: 'Plan', value: 'pro' },
  ])
})

const fieldOf = (text: string, name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(text)?.[1]

test('Date and Message-ID are added where they are missing', async () => {
  const read = await good('From: ann@here.example\nTo: b@c.example\n\nhi\n')
  assert.is(
    sent(read),
    'From: ann@here.example\nTo: b@c.example\nDate: Sat, 21 Nov 2026 12:00:00 +0000\nMessage-ID: <new-name@here.example>\n\nhi\n',
  )
  assert.is(read.message.messageId, '<new-name@here.example>')
})

for (const [what, date] of [
  ['that is text', 'yesterday'],
  ['in another language', 'Sa, 21 Nov 2026 11:00:00 +0100'],
  ['in ISO 8601', '2026-11-21T11:00:00Z'],
  ['that is empty', ''],
  ['without a zone', 'Sat, 21 Nov 2026 11:00:00'],
  ['with the wrong weekday', 'Sun, 21 Nov 2026 11:00:00 +0000'],
  ['more than a day ahead', 'Sun, 22 Nov 2026 12:00:01 +0000'],
  ['years ahead', 'Wed, 25 Nov 2037 11:00:00 +0000'],
  ['of a clock without a battery', 'Thu, 01 Jan 1970 00:00:00 +0000'],
  ['of more than a year ago', 'Fri, 21 Nov 2025 11:59:59 +0000'],
] as const)
  test(`a Date ${what} is replaced by the time of the submission`, async () => {
    const text = sent(await good(LETTER.replace(/^Date: .*$/m, `Date: ${date}`)))
    assert.is(text, LETTER.replace(/^Date: .*$/m, 'Date: Sat, 21 Nov 2026 12:00:00 +0000'))
  })

for (const date of [
  'Sun, 22 Nov 2026 11:00:00 +0000',
  'Mon, 1 Dec 2025 00:00:00 +0000 (some time ago)',
  '21 Nov 26 12:00 GMT',
  'Sat, 21 Nov 2026\n 11:59:00 EST',
])
  test(`the Date ${date.replace('\n', '')} stays as it is`, async () => {
    const letter = LETTER.replace(/^Date: .*$/m, `Date: ${date}`)
    assert.is(sent(await good(letter)), letter)
  })

for (const id of [
  '',
  'none',
  '<none>',
  'one@here.example',
  '<one@here.example',
  '<a b@here.example>',
  '<one@>',
  '<@here.example>',
  '<a@b@c.example>',
  '<one@here.example> <two@here.example>',
  '<\xfc@here.example>',
  `<${'x'.repeat(900)}@here.example>`,
])
  test(`the Message-ID ${id.slice(0, 40)} is replaced, and references stay`, async () => {
    const letter = LETTER.replace(/^Message-ID: .*$/m, `Message-ID: ${id}\nReferences: <zero@x.example>`)
    const read = await good(letter)
    assert.is(fieldOf(sent(read), 'Message-ID'), '<new-name@here.example>')
    assert.is(fieldOf(sent(read), 'References'), '<zero@x.example>')
    assert.is(read.message.messageId, '<new-name@here.example>')
  })

for (const [id, shown] of [
  ['<a..b.@[192.0.2.1]>', '<a..b.@[192.0.2.1]>'],
  ['<"a@b"@here.example>', '<"a@b"@here.example>'],
  ['(by hand) <one@here>', '<one@here>'],
  [`<${'x'.repeat(400)}@here.example>`, `<${'x'.repeat(400)}@here.example>`],
] as const)
  test(`the Message-ID ${id.slice(0, 40)} stays as it is`, async () => {
    const read = await good(LETTER.replace(/^Message-ID: .*$/m, `Message-ID: ${id}`))
    assert.is(fieldOf(sent(read), 'Message-ID'), id)
    assert.is(read.message.messageId, shown)
  })

for (const [what, version] of [
  ['missing', ''],
  ['empty', 'MIME-Version:\n'],
  ['unknown', 'MIME-Version: 2.0\n'],
] as const)
  for (const name of [
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 7bit',
    'Content-ID: <a@b>',
  ])
    test(`a MIME-Version that is ${what} beside ${name.split(':')[0]} becomes 1.0`, async () => {
      const text = sent(await good(`From: ann@here.example\n${version}${name}\n\n<p>hi</p>\n`))
      assert.equal(text.match(/^MIME-Version:.*$/gim), ['MIME-Version: 1.0'])
      assert.match(text, `${name}\n`)
    })

test('a MIME-Version with a comment stays, and a message without MIME fields gets none', async () => {
  const version = 'MIME-Version: 1 . 0 (made by hand)'
  assert.match(sent(await good(`From: ann@here.example\n${version}\n\nhi\n`)), version)
  assert.not.match(sent(await good('From: ann@here.example\n\nhi\n')), /^MIME-Version/im)
})

for (const fields of ['', 'Bcc: bob@there.example\n', 'To:\n', 'To: \nCc:\t\n'])
  test(`a message with ${JSON.stringify(fields)} has no recipient field, so that each recipient is named in their copy`, async () => {
    const read = await good(`From: ann@here.example\n${fields}\nhi\n`)
    assert.is(sent(read).match(/^(?:to|cc|bcc):.*$/gim), null)
    assert.equal([read.message.to, read.message.cc], [[], []])
  })

test('a message with Cc alone gets no To, and an empty To beside it is left out', async () => {
  for (const fields of ['Cc: bob@there.example\n', 'To:\nCc: bob@there.example\n'])
    assert.equal(sent(await good(`From: ann@here.example\n${fields}\nhi\n`)).match(/^(?:to|cc):.*$/gim), [
      'Cc: bob@there.example',
    ])
})

test('empty fields that need a value are left out, and other empty fields stay', async () => {
  const empty = 'References:\nIn-Reply-To: \nReply-To:\nSender:\nList-Unsubscribe:\n \nX-Note:\n'
  const text = sent(await good(`${empty}${LETTER}`))
  assert.equal(text.match(/^(?:references|in-reply-to|reply-to|sender|list-unsubscribe|x-note):.*$/gim), [
    'X-Note: ',
  ])
})

for (const [subject, left] of [
  ['   hello ', 'hello'],
  ['\thello\t', 'hello'],
  ['\n hello', 'hello'],
  ['=?utf-8?q?_Gr=C3=BC=C3=9Fe_?=', '=?utf-8?Q?Gr=C3=BC=C3=9Fe?='],
  ['=?utf-8?q?Gr=C3=BC=C3=9Fe?= ', '=?utf-8?q?Gr=C3=BC=C3=9Fe?='],
  ['two  words', 'two  words'],
  ['', ''],
] as const)
  test(`blanks around the subject ${JSON.stringify(subject)} are removed`, async () => {
    const read = await good(LETTER.replace(/^Subject: .*$/m, `Subject: ${subject}`))
    assert.equal(decodeWords(fieldOf(sent(read), 'Subject')!), decodeWords(left))
    assert.is(read.message.subject, decodeWords(left))
  })

test('a message with a DKIM signature of its sender gets only what is required', async () => {
  const letter = `DKIM-Signature: v=1; h=to:mime-version:subject
From: ann@here.example
Subject:  two blanks
Content-Type: text/plain
Date: Sat, 21 Nov 2026 11:59:00 +0000
Message-ID: <one@here.example>

hi
`
  assert.is(sent(await good(letter)), letter)
  const eightBit = letter.replace('\nhi\n', '\nh\xc3\xac\n')
  assert.is(sent(await good(eightBit)), eightBit)
})

test('a long line of 8 bits is encoded, and not broken', async () => {
  const line = `${'word '.repeat(300)}\xc3\xa4`
  const { message } = await good(`From: ann@here.example\n\n${line}\n`)
  assert.is(message.text?.trimEnd(), Buffer.from(line, 'latin1').toString())
  assert.not.match(sent({ message, idempotency: null }), /[^\x00-\x7f]/)
})

const OF_ORIGIN = `Received: from printer (printer.lan [192.168.1.20])
 by relay.lan (10.0.0.5)
X-Originating-IP: [10.1.2.3]
X-PHP-Originating-Script: 1000:/var/www/a.php
X-PHP-Script: here.example/a.php for 10.1.2.3
X-Source:
X-Source-Args: /usr/sbin/httpd
X-Source-IP: 10.1.2.3
X-Client-IP: 10.1.2.3
X-Sender-Host: printer.lan
X-Forwarded-For: 10.1.2.3
X-MS-Exchange-Organization-AuthSource: mail.lan
X-Authenticated-User: ann
X-Mailer: PHP/8.4
User-Agent: Mutt
`
test('fields that tell of the sender’s network are removed if the operator asks for it', async () => {
  assert.is(sent(await good(OF_ORIGIN + LETTER)), OF_ORIGIN.replace('X-Source:\n', 'X-Source: \n') + LETTER)
  const read = await good(OF_ORIGIN + LETTER, { hidesOrigin: true })
  assert.is(sent(read), LETTER)
  assert.equal(read.message.headers, [['X-Mine', 'yes']])
})

test('a mail loop is found although Received fields are removed', async () => {
  const letter = `${'Received: x\n'.repeat(101)}${LETTER}`
  assert.match((await refused(letter, { hidesOrigin: true })).message, 'Mail loop')
})

/** Forms of From that devices and scripts write, and the field that is sent. */
const AUTHORS: readonly [from: string, sent: string][] = [
  ['ann@here.example', 'ann@here.example'],
  ['"Smith, Ann" <ann@here.example>', '"Smith, Ann" <ann@here.example>'],
  ['ann@here.example (Cron Daemon)', 'Cron Daemon <ann@here.example>'],
  ['(backup (nightly)) ann@here.example', '"backup (nightly)" <ann@here.example>'],
  ['Ann <ann@here.example> (work)', 'Ann <ann@here.example>'],
  ['Smith, Ann <ann@here.example>', '"Smith, Ann" <ann@here.example>'],
  ['Smith, Ann, Dr. <ann@here.example>', '"Smith, Ann, Dr." <ann@here.example>'],
  ['ilo.@here.example', '"ilo."@here.example'],
  ['iDRAC <a..b@here.example>', 'iDRAC <"a..b"@here.example>'],
  ['.printer@here.example', '".printer"@here.example'],
  ['Ann <@relay.example:ann@here.example>', 'Ann <ann@here.example>'],
  ['ann . smith @ here . example', 'ann.smith@here.example'],
  ['Scanner [2nd floor] <ann@here.example>', '"Scanner [2nd floor]" <ann@here.example>'],
  ['ann@here.example <ann@here.example>', 'ann@here.example'],
  ['Jörg, Bücher <ann@here.example>', '=?UTF-8?B?SsO2cmcsIELDvGNoZXI=?= <ann@here.example>'],
  ['Team: ann@here.example;', 'ann@here.example'],
]
for (const [from, plain] of AUTHORS)
  test(`From: ${from} is sent as ${plain}`, async () => {
    const read = await good(`From: ${from}\nTo: b@c.example\n\nhi\n`)
    assert.is(/^From: (.*)$/im.exec(sent(read))![1]!.trim(), plain)
    assert.is(read.message.from!.domain, 'here.example')
  })

test('recipients in any form are shown, and not as hidden ones', async () => {
  const { message } = await good(
    'From: ann@here.example\nTo: Doe, Bob <bob@there.example>, team: carl@there.example;\nCc: d..d@there.example (Dan)\n\nhi\n',
    {
      recipients: [
        'bob@there.example',
        'carl@there.example',
        '"d..d"@there.example',
        'eve@there.example',
      ].map(mailbox),
    },
  )
  assert.equal(
    message.to.map(({ name, address }) => [name, address]),
    [
      ['Doe, Bob', 'bob@there.example'],
      [null, 'carl@there.example'],
    ],
  )
  assert.equal(
    message.cc.map(({ name, address }) => [name, address]),
    [['Dan', '"d..d"@there.example']],
  )
  assert.equal(
    message.bcc.map(({ address }) => address),
    ['eve@there.example'],
  )
})

for (const [before, after] of [
  ['', undefined],
  ['X-Mailhorn-Ref: abc\n', '1'],
  ['X-Mailhorn-Answered: 3\n', '3'],
  ['X-MAILHORN-REF: of another installation\nx-mailhorn-answered: 9\n', '10'],
  ['X-Mailhorn-Ref: abc\nX-Mailhorn-Answered: many\n', '1'],
] as const)
  test(`a message with ${JSON.stringify(before)} has been sent on ${after ?? 0} times`, async () => {
    for (const hidesOrigin of [true, false]) {
      const text = sent(await good(before + LETTER, { hidesOrigin }))
      assert.is(fieldOf(text, 'X-Mailhorn-Answered'), after)
      assert.not.match(text, /x-mailhorn-ref/i)
    }
  })

const LONG = 'x'.repeat(1_500)
const addresses = Array.from({ length: 80 }, (_, i) => `person${i}@there.example`)
const ids = Array.from({ length: 60 }, (_, i) => `<message-number-${i}@here.example>`)
for (const [field, shown] of [
  [`X-Token: ${LONG}`, LONG],
  [`Subject: re ${LONG}`, `re ${LONG}`],
  [`Comments: ${LONG} and ${LONG}`, `${LONG} and ${LONG}`],
  [`Cc: ${addresses.join(',')}`, addresses.join(', ')],
  [`References: ${ids.join('')}`, ids.join(' ')],
] as const)
  test(`a long line of ${field.slice(0, 20)} leaves in lines of at most 998 octets`, async () => {
    const text = sent(await good(`From: ann@here.example\n${field}\n\nhi\n`))
    assert.ok(text.split('\n').every(line => line.length <= 998))
    const value = new RegExp(`^${field.split(':')[0]}: (.*(?:\n[ \t].*)*)`, 'm').exec(text)![1]!
    assert.is(decodeWords(value.replace(/\n(?=[ \t])/g, '')), shown)
  })

for (const field of [
  `Content-Type: multipart/mixed; boundary=${LONG}`,
  `References: <${LONG}@here.example>`,
  `Sender: ${LONG}`,
  `DKIM-Signature: v=1; b=${LONG}`,
  `Cc: ${LONG}@there.example`,
])
  test(`a long line of ${field.slice(0, 20)} that cannot be folded is refused by name`, async () => {
    const name = field.split(':')[0]!
    const { message } = await refused(`From: ann@here.example\n${field}\n\nhi\n`)
    assert.match(message, `\`${name}\` has a line of more than 998 octets`)
  })

test('a message that comes back for the eleventh time is refused as a loop', async () => {
  const { refused: kind, message } = await refused(`X-Mailhorn-Ref: a\nX-Mailhorn-Answered: 10\n${LETTER}`)
  assert.equal(
    [kind, message],
    ['mail_loop', 'Mail loop detected: Mailhorn has sent this message on 10 times.'],
  )
})

for (const [what, text] of [
  ['CR', 'From: a@here.example\rTo: b@c.example\r\rhi\r'],
  ['LF', 'From: a@here.example\nTo: b@c.example\n\nhi\n'],
  ['a mixture', 'From: a@here.example\r\nTo: b@c.example\n\r\nhi\r'],
  ['nothing at its end', 'From: a@here.example\r\nTo: b@c.example\r\n\r\nhi'],
] as const)
  test(`lines that end in ${what} end in CRLF when it leaves`, async () => {
    const result = await readOctets(Buffer.from(text))
    if (isRefusal(result)) throw new Error(result.message)
    const raw = Buffer.from(result.message.raw!.message)
    assert.not.match(raw.toString(), /\r(?!\n)|(?<!\r)\n/)
    assert.is(splitMessage(raw).body.toString(), 'hi\r\n')
    assert.equal(
      splitMessage(raw)
        .fields.slice(1, 3)
        .map(({ value }) => value),
      ['a@here.example', 'b@c.example'],
    )
  })

test('text beyond ASCII in the header is encoded, as few servers take it as it is', async () => {
  const latin = 'From: J\xf6rg <j@here.example>\nTo: B\xf6b <bob@there.example>\nSubject: Gr\xfc\xdfe\n\nhi\n'
  const { message, idempotency } = await good(latin)
  assert.equal([message.from?.name, message.to[0]!.name, message.subject], ['Jörg', 'Böb', 'Grüße'])
  assert.not.match(sent({ message, idempotency }), /[^\x00-\x7f]/)
  const utf8 = Buffer.from('From: Jörg <j@here.example>\r\nSubject: 💌\r\n\r\nhi\r\n')
  const result = await readOctets(utf8)
  if (isRefusal(result)) throw new Error(result.message)
  assert.equal([result.message.from?.name, result.message.subject], ['Jörg', '💌'])
})

test('a file name beyond ASCII that stands in the header is read by the recipient as it was written', async () => {
  const name = 'Rechnung für Müller.pdf'
  const head = `From: ann@here.example\r\nContent-Type: application/pdf; name="${name}"; x-a=1\r\n`
  const rest = `Content-Disposition: attachment; filename="${name}"; size=4\r\nContent-Transfer-Encoding: base64\r\n\r\nJVBERg==\r\n`
  const result = await readOctets(Buffer.from(head + rest))
  if (isRefusal(result)) throw new Error(result.message)
  assert.equal(
    result.message.attachments.map(({ filename, contentType }) => [filename, contentType]),
    [[name, 'application/pdf']],
  )
  const text = sent({ message: result.message, idempotency: null })
  assert.not.match(text, /[^\x00-\x7f]/)
  assert.match(text, 'name="=?UTF-8?Q?Rechnung_f=C3=BCr_M=C3=BCller=2Epdf?="; x-a=1\n')
  assert.match(text, "filename*=utf-8''Rechnung%20f%C3%BCr%20M%C3%BCller.pdf; size=4\n")
  assert.not.match(text, / filename=/)
})

test('submitted header: a file name beyond ASCII without quotes keeps its blanks', async () => {
  const head = 'From: ann@here.example\r\nContent-Type: application/pdf\r\n'
  const rest = 'Content-Disposition: attachment; filename=Grüße 2026.pdf; size=4\r\n\r\n%PDF\r\n'
  const result = await readOctets(Buffer.from(head + rest))
  if (isRefusal(result)) throw new Error(result.message)
  assert.is(result.message.attachments.length, 1)
  assert.is((result.message.attachments[0] as { filename: string }).filename, 'Grüße 2026.pdf')
  assert.match(
    sent({ message: result.message, idempotency: null }),
    /filename\*=utf-8''Gr%C3%BC%C3%9Fe%202026\.pdf; size=4\n/,
  )
})

test('the line of a mailbox file in front is left out, and a line of blanks ends no header', async () => {
  const { message, idempotency } = await good(
    'From x Sat\nFrom: ann@here.example\nX-A: 1\n  \nX-B: 2\n\nhi\n',
  )
  assert.equal(message.headers, [
    ['X-A', '1'],
    ['X-B', '2'],
  ])
  assert.match(sent({ message, idempotency }), /\n\nhi\n$/)
})

test('From with a blank before its colon is a field, and no line of a mailbox file', async () => {
  const { message } = await good('From : ann@here.example\nSubject : x\n\nhi\n')
  assert.equal([message.from?.address, message.subject], ['ann@here.example', 'x'])
})

test('a message that has HTML alone is shown without a text', async () => {
  const { message } = await good('From: ann@here.example\nContent-Type: text/html\n\n<p>Hi</p>\n')
  assert.equal([message.html?.trim(), message.text], ['<p>Hi</p>', null])
})

for (const [what, text, kind, word] of [
  ['without From', 'To: b@c.example\n\nhi\n', 'missing_field', 'From'],
  [
    'with two addresses in From',
    'From: a@here.example, b@here.example\n\nhi\n',
    'invalid_from',
    'one address',
  ],
  [
    'with two From fields',
    'From: a@here.example\nFrom: b@here.example\n\nhi\n',
    'invalid_from',
    'one address',
  ],
  ['with an address that is none in From', 'From: ann\n\nhi\n', 'invalid_from', '@'],
  ['with two subjects', 'From: a@b.example\nSubject: 1\nSUBJECT: 2\n\nhi\n', 'invalid_field', 'twice'],
  ['with a line that is no field', 'From: a@b.example\nhello\n\nhi\n', 'invalid_field', 'Line 2'],
  ['with NUL', 'From: a@b.example\n\nh\0i\n', 'invalid_field', 'NUL'],
  ['that loops', `${'Received: x\n'.repeat(101)}From: a@b.example\n\nhi\n`, 'mail_loop', 'Mail loop'],
  ['scheduled for some time', 'From: a@b.example\nX-Scheduled-At: tomorrow\n\nhi\n', 'invalid_field', 'ISO'],
  ['with an empty key', 'From: a@b.example\nX-Idempotency-Key:\n\nhi\n', 'invalid_field', '256'],
  ['with too many tags', `From: a@b.example\n${'X-Tag-a: b\n'.repeat(51)}\nhi\n`, 'invalid_field', 'tags'],
  ['with too many fields', `From: a@b.example\n${'X-A: b\n'.repeat(1_000)}\nhi\n`, 'invalid_field', 'fields'],
] as const)
  test(`a message ${what} is refused, and told why`, async () => {
    const refusal = await refused(text)
    assert.is(refusal.refused, kind)
    assert.match(refusal.message, word)
  })

test('whoever tries again with a message put together anew is known', async () => {
  const keyed = `Resend-Idempotency-Key: k\n${LETTER}`
  const again = keyed
    .replace('<one@', '<two@')
    .replace('11:59', '12:01')
    .replaceAll('--b', '--c')
    .replace('"b"', '"c"')
  const [first, second, other] = [
    await good(keyed),
    await good(again),
    await good(keyed.replace('<p>Hi', '<p>Bye')),
  ]
  assert.equal(first.idempotency, second.idempotency)
  assert.not.equal(first.idempotency, other.idempotency)
})

for (const [what, body] of [
  [
    'a text that is shown cut',
    (end: string) => `Content-Type: text/plain\n\n${'x'.repeat(2_000_100)}${end}\n`,
  ],
  [
    'more files than are shown',
    (end: string) =>
      `Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: a/b\n\nx\n'.repeat(101)}--b\nContent-Type: a/b\n\n${end}\n--b--\n`,
  ],
] as const)
  test(`a message with ${what} is another one where only the rest differs`, async () => {
    const keyed = (end: string) => good(`Resend-Idempotency-Key: k\nFrom: ann@here.example\n${body(end)}`)
    const [first, again, other] = [await keyed('one'), await keyed('one'), await keyed('two')]
    assert.equal(first.idempotency, again.idempotency)
    assert.not.equal(first.idempotency, other.idempotency)
  })

test('a file that grows when it is decoded is not shown, and is sent as it came', async () => {
  const text = `From: ann@here.example
To: bob@there.example
Date: Sat, 21 Nov 2026 11:59:00 +0000
Message-ID: <one@here.example>
MIME-Version: 1.0
Content-Type: application/octet-stream; name=a
Content-Transfer-Encoding: x-uuencode

begin 644 a
${'_\n'.repeat(1_000)}end
`
  const { message, idempotency } = await good(text)
  assert.equal(message.attachments, [])
  assert.is(sent({ message, idempotency }), text)
})

test('a file has its name without the folders that its sender had it in', async () => {
  const { message } = await good(
    'From: ann@here.example\nContent-Type: a/b\nContent-Disposition: attachment; filename="../b/c.txt"\n\nhi\n',
  )
  assert.equal(
    message.attachments.map(({ filename }) => filename),
    ['c.txt'],
  )
})

test('a message that nobody has taken apart is sent as any other', async () => {
  const { message, idempotency } = await good(LETTER, { inParts: false })
  assert.is(sent({ message, idempotency }), LETTER)
  assert.equal([message.html, message.text, message.attachments], [null, null, []])
})

test('a header line that is too long does not leave as it came', async () => {
  const to = Array.from({ length: 40 }, (_, i) => `Reader <reader-number-${i}@there.example>`).join(', ')
  const { message } = await good(`From: ann@here.example\nTo: ${to}\nSubject: hi\n\nhi\n`)
  assert.ok(
    sent({ message, idempotency: null })
      .split('\n')
      .every(line => line.length <= 998),
  )
  assert.is(message.to.length, 40)
})

test.run()
