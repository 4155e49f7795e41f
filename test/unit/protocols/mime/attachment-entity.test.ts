import * as assert from 'uvu/assert'
import {
  type Attachment,
  attachmentEntity,
  bareContentId,
} from '../../../../src/protocols/mime/attachment-entity.ts'
import { boundariesOf } from '../../../../src/protocols/mime/boundary.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('mime/attachment-entity')
const boundaries = boundariesOf('eml_1')
const png: Attachment = {
  filename: 'a.png',
  contentType: 'image/png',
  contentId: null,
  content: Buffer.from('\x89PNG', 'latin1'),
}

test('a file is base64 with its name in both fields', () => {
  assert.equal(written(png), {
    'Content-Type': 'image/png; name="a.png"',
    'Content-Disposition': 'attachment; filename="a.png"',
    'Content-Transfer-Encoding': 'base64',
    content: 'iVBORw==',
  })
})

test('an inline picture carries its id in angle brackets', () => {
  const fields = attachmentEntity({ ...png, contentId: 'logo' }, 'inline', boundaries).fields
  assert.equal(fields.slice(1), [
    { name: 'Content-Disposition', value: 'inline; filename="a.png"' },
    { name: 'Content-Transfer-Encoding', value: 'base64' },
    { name: 'Content-ID', value: '<logo>' },
  ])
})

test('a name outside ASCII is in each field once, in the form that readers of the field expect', () => {
  const fields = written({ ...png, filename: '請求書.png' })
  assert.is(fields['Content-Type'], 'image/png; name="=?UTF-8?B?6KuL5rGC5pu4LnBuZw==?="')
  assert.is(fields['Content-Disposition'], "attachment;\r\n filename*=utf-8''%E8%AB%8B%E6%B1%82%E6%9B%B8.png")
})

test('a file without a name is called attachment', () => {
  assert.is(written({ ...png, filename: '' })['Content-Disposition'], 'attachment; filename="attachment"')
})

test('a calendar keeps the parameters that make it an invitation', () => {
  const type = written({ ...png, contentType: 'text/calendar; method=REQUEST; charset=utf-8' })[
    'Content-Type'
  ]
  assert.is(type, 'text/calendar; method=REQUEST; charset=utf-8; name="a.png"')
})

test('a calendar without parameters gets those that make it an invitation', () => {
  const content = Buffer.from('BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n')
  const fields = written({ ...png, filename: 'invite.ics', contentType: 'text/calendar', content })
  assert.is(fields['Content-Type'], 'text/calendar; charset=utf-8; method=REQUEST;\r\n name="invite.ics"')
})

const ids: [input: string, bare: string][] = [
  ['logo', 'logo'],
  ['<logo@b.test>', 'logo@b.test'],
  [' <a> ', 'a'],
  ['my logo', 'my%20logo'],
  ['ü', '%C3%BC'],
  ['a>\r\nX-Evil: 1', 'a%3E%0D%0AX-Evil:%201'],
  ['\ud800', '%EF%BF%BD'],
  ['', ''],
]
for (const [input, bare] of ids)
  test(`the content id ${JSON.stringify(input)} is ${bare}`, () => {
    assert.is(bareContentId(input), bare)
  })

for (const contentId of ['', 'x'.repeat(2000)])
  test(`an id of ${contentId.length} characters is left out`, () => {
    assert.is(written({ ...png, contentId })['Content-ID'], undefined)
  })

const message: Attachment = {
  filename: 'mail.eml',
  contentType: 'message/rfc822',
  contentId: null,
  content: Buffer.from('Subject: x\nFrom: a@b.test\n\nhi \n.\n'),
}

test('an attached message goes out as it is, with CRLF (RFC 2046 §5.2.1)', () => {
  const { content, ...fields } = written(message)
  assert.is(fields['Content-Type'], 'message/rfc822; name="mail.eml"')
  assert.is(fields['Content-Transfer-Encoding'], '7bit')
  assert.is(content, 'Subject: x\r\nFrom: a@b.test\r\n\r\nhi \r\n.\r\n')
})

const unfit: [what: string, content: string][] = [
  ['8-bit octets', 'Subject: x\r\n\r\n\xe9\r\n'],
  ['a line of 999 octets', `Subject: x\r\n\r\n${'x'.repeat(999)}\r\n`],
  ['NUL', 'Subject: x\r\n\r\n\0\r\n'],
  ['a CR alone', 'Subject: x\r\n\r\na\rb\r\n'],
  ['our boundary', `Subject: x\r\n\r\n--${boundaries.of('mixed')}\r\n`],
]
for (const [what, text] of unfit)
  test(`an attached message with ${what} is sent as opaque octets instead`, () => {
    const { content, ...fields } = written({ ...message, content: Buffer.from(text, 'latin1') })
    assert.is(fields['Content-Type'], 'application/octet-stream; name="mail.eml"')
    assert.is(fields['Content-Transfer-Encoding'], 'base64')
    assert.is(Buffer.from(content!, 'base64').toString('latin1'), text)
  })

test('another message of ours, with other boundaries, may be attached', () => {
  const foreign = Buffer.from(`Subject: x\r\n\r\n--${boundariesOf('eml_2').of('mixed')}--\r\n`)
  assert.is(written({ ...message, content: foreign })['Content-Transfer-Encoding'], '7bit')
})

test('a message in UTF-8 may be encoded (RFC 6532 §3.7)', () => {
  const fields = written({ ...message, contentType: 'message/global' })
  assert.is(fields['Content-Type'], 'message/global; name="mail.eml"')
  assert.is(fields['Content-Transfer-Encoding'], 'base64')
})

function written(attachment: Attachment): Record<string, string> {
  const entity = attachmentEntity(attachment, 'attachment', boundaries)
  const out = Buffer.alloc(entity.sizeBytes)
  entity.write(out, 0)
  const fields = Object.fromEntries(entity.fields.map(({ name, value }) => [name, value]))
  return { ...fields, content: out.toString('latin1') }
}

test.run()
