import * as assert from 'uvu/assert'
import { ApiError } from '../../../../../src/interfaces/api/api-error.ts'
import {
  readBroadcastChange,
  readNewBroadcast,
  readSendOrder,
  readTestOrder,
} from '../../../../../src/interfaces/api/broadcasts/schema.ts'
import { wireId } from '../../../../../src/lib/ids.ts'
import type { SubmittedAttachment } from '../../../../../src/pipeline/accept/submission.ts'
import { newId } from '../../../../kit/new-id.ts'
import { suite } from '../../../../kit/suite.ts'

const test = suite('api: bodies of broadcasts')
const [AUDIENCE, SEGMENT, TOPIC, TEMPLATE] = [newId(1), newId(2), newId(3), newId(4)]
const audience_id = wireId('aud', AUDIENCE)
const segment_id = wireId('seg', SEGMENT)
const template_id = wireId('tpl', TEMPLATE)
const GOOD = { audience_id, from: 'Ann <ann@here.example>', subject: 'News' }
const AT = '2026-01-01T00:00:00Z'
const mailboxes = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@here.example`)

/** @returns status, name and field of the refusal */
function refusalOf(read: (body: unknown) => unknown, body: unknown) {
  try {
    read(body)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return [error.status, error.errorName, error.errors?.[0]?.path]
  }
  throw new Error(`accepted ${JSON.stringify(body)}`)
}

const without = (...keys: (keyof typeof GOOD)[]) => ({
  ...GOOD,
  ...Object.fromEntries(keys.map(key => [key, undefined])),
})
const MISSING = [422, 'missing_required_field'] as const
const INVALID = [422, 'validation_error'] as const

for (const [name, body, refusal] of [
  ['no sender', without('from'), [...MISSING, 'from']],
  ['null as sender', { ...GOOD, from: null }, [...MISSING, 'from']],
  ['an empty sender', { ...GOOD, from: '' }, [...MISSING, 'from']],
  ['no subject', without('subject'), [...MISSING, 'subject']],
  ['an empty subject', { ...GOOD, subject: '' }, [...MISSING, 'subject']],
  ['neither sender nor subject', without('from', 'subject'), [...MISSING, 'from']],
  ['no audience', without('audience_id'), [...MISSING, 'audience_id']],
  ['no audience, but a template', { template_id }, [...MISSING, 'audience_id']],
  ['a time without sending', { ...GOOD, send: false, scheduled_at: AT }, [...INVALID, 'scheduled_at']],
  ['a time that is none', { ...GOOD, scheduled_at: 'tomorrow' }, [...INVALID, 'scheduled_at']],
  [
    'an id of another kind as audience',
    { ...GOOD, audience_id: template_id },
    [404, 'not_found', 'audience_id'],
  ],
  [
    'an id of another kind as segment',
    { ...GOOD, segment_id: template_id },
    [404, 'not_found', 'segment_id'],
  ],
  ['an id of another kind as topic', { ...GOOD, topic_id: segment_id }, [404, 'not_found', 'topic_id']],
  ['an object of attachments', { ...GOOD, attachments: {} }, [...INVALID, 'attachments']],
  ['51 reply addresses', { ...GOOD, reply_to: mailboxes(51) }, [...INVALID, 'reply_to']],
] as const)
  test(`a new broadcast with ${name} is refused: ${refusal[1]}, ${refusal[2]}`, () => {
    assert.equal(refusalOf(readNewBroadcast, body), refusal)
  })

test('a new broadcast has the words of its request, and nothing else', () => {
  const { fields, template, send } = readNewBroadcast(GOOD)
  const { sender, ...rest } = fields
  assert.match(`${sender}`, 'ann@here.example')
  assert.equal(rest, {
    ...{ audienceId: AUDIENCE, segmentId: null, topicId: null, templateId: null },
    ...{ subject: 'News', replyToList: null, previewText: null, html: null, text: null, name: '' },
    noUnsubscribeReason: null,
    emailsPerHour: null,
  })
  assert.equal([template, send], [null, undefined])
})

test('a segment is enough as audience, and a template as sender and subject', () => {
  assert.equal(readNewBroadcast({ ...without('audience_id'), segment_id }).fields.segmentId, SEGMENT)
  const { fields, template } = readNewBroadcast({ audience_id, template_id })
  assert.equal([fields.sender, fields.subject, template], [null, null, TEMPLATE])
})

for (const [more, send] of [
  [{}, undefined],
  [{ send: false }, undefined],
  [{ send: null, scheduled_at: null }, undefined],
  [{ send: true }, { at: null }],
  [{ scheduled_at: AT }, { at: Date.parse(AT) }],
  [{ send: true, scheduled_at: AT }, { at: Date.parse(AT) }],
] as const)
  test(`a new broadcast with ${JSON.stringify(more)} is ${send ? `sent (${send.at ?? 'now'})` : 'a draft'}`, () => {
    assert.equal(readNewBroadcast({ ...GOOD, ...more }).send, send)
  })

const FILE = { filename: 'a.txt', content: Buffer.from('hello').toString('base64') }
const FILE_ID = wireId('att', newId(6))
const KEPT = { id: FILE_ID, filename: 'b.txt', content_type: 'text/plain', content_id: null, size: 3 }
const BAD_FILE = [422, 'invalid_attachment'] as const

for (const [what, file, refusal] of [
  ['no content', { filename: 'a.txt' }, [...BAD_FILE, 'attachments[1]']],
  ['content that is no base64', { filename: 'a.pdf', content: '?' }, [...BAD_FILE, 'attachments[1].content']],
  ['a file name of several lines', { ...FILE, filename: 'a\nb' }, [...BAD_FILE, 'attachments[1].filename']],
  ['a media type that is none', { ...FILE, content_type: 'x' }, [...BAD_FILE, 'attachments[1].content_type']],
  ['a content id with blanks', { ...FILE, content_id: 'a b' }, [...BAD_FILE, 'attachments[1].content_id']],
  ['a URL', { path: 'https://there.example/a.pdf' }, [...BAD_FILE, 'attachments[1].path']],
] as const)
  test(`an attachment with ${what} is refused: ${refusal[2]}`, () => {
    const attachments = [FILE, file]
    assert.equal(refusalOf(readNewBroadcast, { ...GOOD, attachments }), refusal)
    assert.equal(refusalOf(readBroadcastChange, { attachments }), refusal)
  })

test('attachments are those of an email', () => {
  const { attachments, doubtfulContents } = readNewBroadcast({
    ...GOOD,
    attachments: [FILE, { ...FILE, filename: 'b.txt', content: '/w==', content_id: '<logo>' }],
  })
  const [a, b] = attachments as SubmittedAttachment[]
  assert.equal(a, {
    ...{ filename: 'a.txt', contentType: 'text/plain', contentId: null, content: Buffer.from('hello') },
  })
  assert.equal([b!.filename, b!.contentId, doubtfulContents], ['b.txt', 'logo', ['attachments[1].content']])
  assert.equal(
    refusalOf(readNewBroadcast, { ...GOOD, attachments: Array.from({ length: 101 }, () => FILE) }),
    [...BAD_FILE, 'attachments'],
  )
})

test('a change replaces or removes the attachments, or leaves them as they are', () => {
  const filesOf = (body: object) => readBroadcastChange(body).files?.attachments
  assert.is(filesOf({}), undefined)
  for (const attachments of [[], null]) assert.equal(filesOf({ attachments }), [])
  const [kept, fresh] = filesOf({ attachments: [KEPT, { ...FILE, id: FILE_ID }] })!
  assert.equal(kept, { existingId: FILE_ID })
  assert.is((fresh as SubmittedAttachment).filename, 'a.txt', 'an entry with content is a new file')
  for (const [id, status, name] of [
    ['att_nobody', 404, 'not_found'],
    [template_id, 404, 'not_found'],
    [7, 422, 'invalid_attachment'],
  ] as const)
    assert.equal(refusalOf(readBroadcastChange, { attachments: [{ id }] }), [
      status,
      name,
      'attachments[0].id',
    ])
  assert.equal(refusalOf(readNewBroadcast, { ...GOOD, attachments: [KEPT] }), [...BAD_FILE, 'attachments[0]'])
})

test('no attachments, null and 50 reply addresses are accepted', () => {
  for (const attachments of [[], null])
    assert.equal(readNewBroadcast({ ...GOOD, attachments }).attachments, [])
  assert.match(readNewBroadcast({ ...GOOD, reply_to: mailboxes(50) }).fields.replyToList!, 'a49@here.example')
})

for (const [body, changes] of [
  [{}, {}],
  [{ subject: null, html: null, text: null, audience_id: null, segment_id: null }, {}],
  [
    { segment_id: '', topic_id: '' },
    { segmentId: null, topicId: null },
  ],
  [{ segment_id: audience_id }, { segmentId: AUDIENCE }],
  [
    { topic_id: wireId('top', TOPIC), audience_id },
    { topicId: TOPIC, audienceId: AUDIENCE },
  ],
  [
    { html: '', text: '', preview_text: '' },
    { html: null, text: '', previewText: null },
  ],
  [
    { html: 'h', text: 't', preview_text: 'p' },
    { html: 'h', text: 't', previewText: 'p' },
  ],
  [
    { name: 'n\ud800', subject: 's\ud800' },
    { name: 'n\ufffd', subject: 's\ufffd' },
  ],
  [{ reply_to: '' }, { replyToList: null }],
  [{ derive_text: true }, { text: null }],
  [{ derive_text: false }, {}],
] as const)
  test(`a change with ${JSON.stringify(body)} changes ${JSON.stringify(Object.keys(changes))}`, () => {
    const read = readBroadcastChange(body)
    assert.equal(read.changes, changes)
    assert.equal([read.template, read.scheduledAt, read.version], [undefined, undefined, null])
  })

test('a change has its template, its time and the version that it expects', () => {
  const read = readBroadcastChange({ template_id, scheduled_at: AT, version: 'v' })
  assert.equal([read.template, read.scheduledAt, read.version], [TEMPLATE, Date.parse(AT), 'v'])
  assert.is(readBroadcastChange({ template_id: '' }).template, null)
  assert.equal(refusalOf(readBroadcastChange, { derive_text: true, text: 't' }), [...INVALID, 'derive_text'])
})

test('an order to send is for now, or for a time; only the Go SDK may send an empty one', () => {
  const broadcast_id = wireId('brd', newId(5))
  const now = { at: null, delayMs: 0, noUnsubscribeReason: null, version: null, emailsPerHour: undefined }
  const later = { ...now, at: Date.parse(AT) }
  assert.equal(readSendOrder({}), now)
  assert.equal(readSendOrder({ scheduled_at: AT, version: 'v' }), { ...later, version: 'v' })
  assert.equal(readSendOrder({ broadcast_id, scheduled_at: '' }), now)
  assert.equal(readSendOrder({ broadcast_id, scheduled_at: AT }), later)
  assert.equal(readSendOrder({ delay_seconds: 30 }), { ...now, delayMs: 30_000 })
  assert.equal(refusalOf(readSendOrder, { scheduled_at: '' }), [...INVALID, 'scheduled_at'])
})

test('a rate of 0 is no limit, and none changes nothing', () => {
  assert.is(readNewBroadcast({ ...GOOD, emails_per_hour: 500 }).fields.emailsPerHour, 500)
  assert.equal(readBroadcastChange({ emails_per_hour: 0 }).changes, { emailsPerHour: null })
  assert.equal(readBroadcastChange({}).changes, {})
  assert.is(readSendOrder({ emails_per_hour: 0 }).emailsPerHour, null)
  for (const emails_per_hour of [-1, 1.5, 10_000_001])
    assert.equal(refusalOf(readSendOrder, { emails_per_hour }), [...INVALID, 'emails_per_hour'])
})

test('a test is sent to one to ten addresses', () => {
  assert.is(readTestOrder({ to: 'ann@there.example' }).to.length, 1)
  assert.is(readTestOrder({ to: mailboxes(10) }).to.length, 10)
  assert.equal(refusalOf(readTestOrder, { to: mailboxes(11) }), [...INVALID, 'to'])
  assert.equal(refusalOf(readTestOrder, { to: [] }), [...MISSING, 'to'])
  assert.equal(refusalOf(readTestOrder, { to: ['nobody'] }).slice(0, 1), [422])
})

test.run()
