import { createHash } from 'node:crypto'
import * as assert from 'uvu/assert'
import { idText, idTime } from '../../../../src/lib/ids.ts'
import { type AcceptInput, acceptCommands } from '../../../../src/pipeline/accept/commit.ts'
import { isRefusal, REFUSALS } from '../../../../src/pipeline/accept/refusal.ts'
import { decodeContent } from '../../../../src/resources/emails/content.ts'
import { HOUR_MS, mailbox, newId, postOver } from '../../../kit/mail.ts'
import { openLocalStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('accept/accept')

async function open(t: TestContext) {
  const store = await t.using(openLocalStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const email = () => store.rows<Record<string, unknown>>('select * from emails')[0]!
  const refusal = async (submission: Parameters<typeof post.submit>[1]) => {
    const result = await post.submit(accountId, submission)
    if (!isRefusal(result)) throw new Error('the submission was taken')
    return result
  }
  return { ...store, ...post, accountId, email, refusal }
}

test('acceptance: requests wait for each other if they share an idempotency key, a quota or a file', () => {
  const [ann, bob] = [newId(1), newId(2)]
  const keysOf = (accountId: typeof ann, over: object) =>
    acceptCommands.accept.conflictKeys!({
      ...{ sender: { accountId }, idempotency: null, quota: null, emails: [] },
      ...over,
    } as unknown as AcceptInput)
  const wait = (...[first, second]: ReturnType<typeof keysOf>[]) => first!.some(key => second!.includes(key))
  const withKey = (accountId: typeof ann, key: string) => keysOf(accountId, { idempotency: { key } })
  const withFile = (accountId: typeof ann, letter: string) =>
    keysOf(accountId, { emails: [{ blobs: [{ hash: createHash('sha256').update(letter).digest() }] }] })
  const limited = (accountId: typeof ann) => keysOf(accountId, { quota: { limit: 1 } })
  assert.equal(keysOf(ann, {}), [])
  assert.ok(wait(withKey(ann, 'k'), withKey(ann, 'k')))
  assert.not.ok(wait(withKey(ann, 'k'), withKey(ann, 'l')))
  assert.not.ok(wait(withKey(ann, 'k'), withKey(bob, 'k')))
  assert.ok(wait(limited(ann), limited(ann)))
  assert.not.ok(wait(limited(ann), limited(bob)))
  assert.ok(wait(withFile(ann, 'a'), withFile(bob, 'a')))
  assert.not.ok(wait(withFile(ann, 'a'), withFile(bob, 'b')))
})

test('acceptance: an email is stored with all its fields and one delivery per recipient', async t => {
  const { send, accountId, email, rows, clock } = await open(t)
  const id = await send(accountId, {
    from: 'Ann <ann@here.test>',
    to: ['Bob <bob@there.test>'],
    cc: ['c@far.test'],
    bcc: ['d@there.test'],
    replyTo: [mailbox('r@here.test')],
    subject: 'Grüße',
    html: '<p>Hi</p>',
    text: 'Hi',
    headers: [['X-A', 'b']],
    tags: [{ name: 'kind', value: 'test' }],
  })
  const stored = email()
  assert.equal(idText(stored.id as Uint8Array), idText(id))
  assert.is(idTime(id), clock.now())
  assert.equal(
    ['sender', 'to_list', 'cc_list', 'bcc_list', 'reply_to_list', 'headers', 'tags'].map(column =>
      JSON.parse(stored[column] as string),
    ),
    [
      [{ name: 'Ann', address: 'ann@here.test' }],
      [{ name: 'Bob', address: 'bob@there.test' }],
      [{ address: 'c@far.test' }],
      [{ address: 'd@there.test' }],
      [{ address: 'r@here.test' }],
      [['X-A', 'b']],
      [{ name: 'kind', value: 'test' }],
    ],
  )
  assert.equal(
    [stored.subject, stored.status, stored.recipient_count, stored.feedback, stored.created_at],
    ['Grüße', 'queued', 3, 1, clock.now()],
  )
  const content = rows<Parameters<typeof decodeContent>[0]>('select encoding, body from contents')[0]!
  assert.equal(decodeContent(content), { html: '<p>Hi</p>', text: 'Hi' })
  assert.equal(
    rows(
      'select ordinal, address, domain, kind, class, state, status, attempts, next_at, expires_at from deliveries',
    ),
    [
      ['to', 'bob@there.test'],
      ['cc', 'c@far.test'],
      ['bcc', 'd@there.test'],
    ].map(([kind, address], ordinal) => ({
      ordinal,
      address,
      domain: address!.split('@')[1],
      kind,
      class: 0,
      state: 0,
      status: 'queued',
      attempts: 0,
      next_at: clock.now(),
      expires_at: clock.now() + 48 * HOUR_MS,
    })),
  )
})

test('acceptance: empty lists are stored as null', async t => {
  const { send, accountId, email } = await open(t)
  await send(accountId, { to: [], bcc: ['a@there.test'] })
  const { to_list, cc_list, reply_to_list, headers, attachments, tags } = email()
  assert.equal(
    [to_list, cc_list, reply_to_list, headers, attachments, tags],
    [null, null, null, null, null, null],
  )
})

test('acceptance: the Message-ID is that of the user, or made from id and sender domain', async t => {
  const { send, accountId, rows } = await open(t)
  const id = await send(accountId)
  await send(accountId, { messageId: '<mine@here.test>' })
  assert.equal(rows('select message_id from emails order by id'), [
    { message_id: `<${idText(id)}@here.test>` },
    { message_id: '<mine@here.test>' },
  ])
})

test('acceptance: attachments are stored by hash, small ones in a row, large ones in a file', async t => {
  const { send, accountId, email, rows, db, blobs } = await open(t)
  const [small, large] = [Buffer.from('small'), Buffer.alloc(100_000, 'large')]
  const attachment = (filename: string, content: Buffer, contentId: string | null = null) => ({
    filename,
    contentType: 'text/plain',
    contentId,
    content,
  })
  await send(accountId, {
    attachments: [
      attachment('a.txt', small),
      attachment('b.txt', large, 'cid-b'),
      attachment('c.txt', small),
    ],
  })
  const stored = JSON.parse(email().attachments as string) as Record<string, unknown>[]
  const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
  assert.equal(
    stored.map(({ filename, contentId, sizeBytes, hash }) => [filename, contentId, sizeBytes, hash]),
    [
      ['a.txt', null, 5, hashOf(small)],
      ['b.txt', 'cid-b', 100_000, hashOf(large)],
      ['c.txt', null, 5, hashOf(small)],
    ],
  )
  for (const { id } of stored) assert.match(String(id), /^att_[0-9a-f-]{36}$/)
  assert.is(new Set(stored.map(({ id }) => id)).size, 3)
  assert.equal(
    rows(
      'select refs, size_bytes, case when body is null then 1 else 0 end as filed from blobs order by size_bytes',
    ),
    [
      { refs: 2, size_bytes: 5, filed: 0 },
      { refs: 1, size_bytes: 100_000, filed: 1 },
    ],
  )
  assert.equal(await blobs.read(db, new Uint8Array(Buffer.from(hashOf(large), 'hex'))), large)
})

test('acceptance: 50 recipients are accepted and 51 refused, duplicates included', async t => {
  const { send, refusal, accountId, rows } = await open(t)
  const many = (count: number) => Array.from({ length: count }, (_, i) => `a${i}@there.test`)
  await send(accountId, { to: many(20), cc: many(20), bcc: many(10) })
  assert.is(rows('select * from deliveries').length, 20)
  const refused = await refusal({ to: many(20), cc: many(20), bcc: many(11) })
  assert.is(refused.refused, 'too_many_recipients')
  assert.match(refused.message, /at most 50 recipients/)
  assert.is(
    (await refusal({ to: Array.from({ length: 51 }, () => 'same@there.test') })).refused,
    'too_many_recipients',
  )
})

test('acceptance: a message over 40 MB is refused, with the attachments named if there are any', async t => {
  const { refusal, rows } = await open(t)
  const content = Buffer.alloc(31 * 1024 * 1024)
  const attachments = [{ filename: 'a', contentType: 'text/plain', contentId: null, content }]
  const large = await refusal({ attachments })
  assert.equal([large.refused, large.errors?.[0]?.path], ['invalid_attachment', 'attachments'])
  assert.is((await refusal({ text: 'x'.repeat(41 * 1024 * 1024) })).refused, 'message_too_large')
  assert.equal(rows('select * from emails'), [])
})

test('acceptance: stored emails are announced to the queue once per domain', async t => {
  const { send, accountId, announced, clock } = await open(t)
  await send(accountId, { to: ['a@there.test', 'b@far.test', 'c@there.test'] })
  const due = (domain: string) => ({ domain, class: 0, accountId, at: clock.now() })
  assert.equal(announced('due'), [due('there.test'), due('far.test')])
})

test('refusals: each kind has an HTTP and an SMTP reply', () => {
  for (const [kind, { http, name, reply }] of Object.entries(REFUSALS)) {
    assert.ok((http >= 400 && http < 500) || (http === 503 && reply.startsWith('4')), kind)
    assert.match(name, /^[a-z_]+$/)
    assert.match(reply, /^[45]\d\d [45]\.\d\.\d+$/)
    assert.is(reply[0], reply[4], kind)
  }
})

test.run()
