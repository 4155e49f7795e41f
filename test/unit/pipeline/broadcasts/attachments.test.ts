import * as assert from 'uvu/assert'
import { type Id, wireId } from '../../../../src/lib/ids.ts'
import { isRefusal } from '../../../../src/pipeline/accept/refusal.ts'
import { storedAttachments } from '../../../../src/pipeline/accept/stored-attachments.ts'
import type { SubmittedAttachment } from '../../../../src/pipeline/accept/submission.ts'
import {
  attachmentList,
  type NewAttachment,
  type WantedAttachment,
  withStagedFiles,
} from '../../../../src/pipeline/broadcasts/attachments.ts'
import { versionOf } from '../../../../src/pipeline/broadcasts/version.ts'
import { blobName } from '../../../../src/store/blobs/staged.ts'
import { mailbox, newId } from '../../../kit/mail.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { manyContacts, openBroadcasts } from './scene.ts'

const test = suite('broadcasts/attachments')
const LARGE_BYTES = 70_000
const AUTHOR = { by: null }

function file(filename: string, content = filename): SubmittedAttachment {
  return { filename, contentType: 'text/plain', contentId: null, content: Buffer.from(content) }
}
const large = (fill: string) => file('large.txt', fill.repeat(LARGE_BYTES))

function staged(sizeBytes: number, contentId: string | null = null): NewAttachment {
  const hash = new Uint8Array(32)
  const id = wireId('att', newId(1))
  return {
    file: {
      id,
      filename: 'a.pdf',
      contentType: 'application/pdf',
      contentId,
      sizeBytes,
      hash: blobName(hash),
    },
    blob: { hash, sizeBytes, body: null, draft: null },
  }
}

const [FIRST, SECOND] = [staged(10, 'logo'), staged(20)]
const BEFORE = (attachmentList(null, [FIRST, SECOND]) as { attachments: string }).attachments
const [FIRST_ID, SECOND_ID] = storedAttachments(BEFORE).map(({ id }) => id) as [string, string]

for (const [what, wanted, sizes] of [
  ['no file', [], []],
  ['1.5 MB', [staged(1_500_000)], [1_500_000]],
  ['a file that stays', [{ existingId: SECOND_ID }], [20]],
  [
    'files that stay, in another order, and a new one',
    [{ existingId: SECOND_ID }, staged(5), { existingId: FIRST_ID }],
    [20, 5, 10],
  ],
  ['a new file with the content id of one that goes', [staged(5, 'logo')], [5]],
] as const)
  test(`the list of a broadcast may have ${what}`, () => {
    const list = attachmentList(BEFORE, wanted)
    if (isRefusal(list)) throw new Error(list.message)
    assert.equal(
      storedAttachments(list.attachments).map(({ sizeBytes }) => sizeBytes),
      sizes,
    )
    assert.equal(
      list.blobs.map(({ sizeBytes }) => sizeBytes),
      sizes,
    )
    assert.is(list.attachments === null, sizes.length === 0)
  })

for (const [what, wanted, refused, path, says] of [
  [
    'more than 2 MB, encoded',
    [staged(1_600_000)],
    'invalid_attachment',
    'attachments',
    /larger than 2 MB .* got 2\.09 MB/,
  ],
  [
    '2 MB together',
    [staged(800_000), staged(800_000)],
    'invalid_attachment',
    'attachments',
    /each recipient gets a copy/,
  ],
  [
    'a file that it does not have',
    [staged(1), { existingId: wireId('att', newId(1)) }],
    'unknown_reference',
    'attachments[1].id',
    /not found/,
  ],
  [
    'a file that stays twice',
    [{ existingId: FIRST_ID }, { existingId: FIRST_ID }],
    'invalid_attachment',
    'attachments[1].id',
    /must be unique/,
  ],
  [
    'a content id twice',
    [{ existingId: FIRST_ID }, staged(1, 'logo')],
    'invalid_attachment',
    'attachments[1].content_id',
    /"logo" is used twice/,
  ],
] as const)
  test(`the list of a broadcast may not have ${what}`, () => {
    const list = attachmentList(BEFORE, wanted)
    if (!isRefusal(list)) throw new Error('accepted')
    assert.equal([list.refused, list.errors?.[0]?.path], [refused, path])
    assert.match(list.message, says)
  })

async function openScene(t: TestContext) {
  const scene = await openBroadcasts(t)
  const { broadcasts, accountId, draft, taken, rows } = scene
  return {
    ...scene,
    set: scene.change,
    async created(attachments: readonly WantedAttachment[], send?: { at: null }) {
      const made = await broadcasts.create(accountId, { ...draft(), ...AUTHOR, attachments }, send)
      return taken(made).broadcast
    },
    change: (id: Id, wanted: readonly WantedAttachment[]) =>
      broadcasts.change(
        accountId,
        id,
        { changes: {}, scheduledAt: undefined, version: null, ...AUTHOR },
        wanted,
      ),
    /** Uses of each stored blob, by its size. */
    uses: () =>
      rows<{ size: number; refs: number }>(
        'select size_bytes as size, refs from blobs order by size_bytes',
      ).map(({ size, refs }) => [Number(size), Number(refs)]),
  }
}

test('a file is stored once, and the broadcast and each of its emails use it', async t => {
  // given: a broadcast with a large file and twice the same small one
  const scene = await openScene(t)
  const { created, contacts, work, rows, uses, run, accountId, clock } = scene
  contacts(manyContacts(300))
  const { id, attachments } = await created([large('x'), file('a'), file('b', 'a')], { at: null })
  assert.equal(uses(), [
    [1, 2],
    [LARGE_BYTES, 1],
  ])

  // when: its emails are made
  await work()

  // then: each has the files of the broadcast, and uses them
  assert.equal(rows('select distinct attachments from emails'), [{ attachments }])
  assert.equal(uses(), [
    [1, 2 * 301],
    [LARGE_BYTES, 301],
  ])
  const refusal = await scene.change(id, [])
  assert.is(isRefusal(refusal) && refusal.refused, 'wrong_state', 'they cannot be changed any more')

  // when, then: the emails go by their retention, and the broadcast with its account
  scene.set('update emails set ended_at = ?', clock.now())
  for (let more = true; more; ) more = (await run('deleteBeyond', { accountId, horizon: clock.now() })).more
  assert.equal(uses(), [
    [1, 2],
    [LARGE_BYTES, 1],
  ])
  const { more, unusedFiles } = await run('deleteBroadcastOf', accountId)
  assert.equal([more, unusedFiles.length, uses()], [true, 1, []])
  assert.equal(await run('deleteBroadcastOf', accountId), { more: false, unusedFiles: [] })
})

test('a change replaces the files, keeps those that it names, and removes the others', async t => {
  const { created, change, taken, uses } = await openScene(t)
  const { id, attachments } = await created([file('a'), file('bb'), large('x')])
  const [a, bb] = storedAttachments(attachments).map(each => each.id) as [string, string]
  const namesAfter = async (wanted: readonly WantedAttachment[]) => {
    const { broadcast } = taken(await change(id, wanted))
    return storedAttachments(broadcast.attachments).map(({ filename }) => filename)
  }
  assert.equal(await namesAfter([{ existingId: bb }, file('ccc'), { existingId: a }]), ['bb', 'ccc', 'a'])
  assert.equal(
    uses(),
    [1, 2, 3].map(size => [size, 1]),
  )
  assert.equal(await namesAfter([file('a')]), ['a'])
  assert.equal(uses(), [[1, 1]])
  assert.equal(await namesAfter([]), [])
  assert.equal(uses(), [])
})

test('a refused request leaves no file, and a change of the words keeps the files', async t => {
  const { created, change, broadcasts, accountId, draft, uses, detail, blobs } = await openScene(t)
  const files = async () => (await Array.fromAsync(blobs.names())).flat().length
  const tooMuch = [large('x'), file('b', 'y'.repeat(1_600_000))]
  const refusal = await broadcasts.create(accountId, { ...draft(), ...AUTHOR, attachments: tooMuch })
  assert.ok(isRefusal(refusal))
  assert.equal([uses(), await files()], [[], 0])

  const { id, attachments } = await created([large('x')])
  assert.ok(isRefusal(await change(id, tooMuch)))
  const words = { changes: { subject: 'New' }, scheduledAt: undefined, version: null, ...AUTHOR }
  await broadcasts.change(accountId, id, words)
  assert.is((await detail(id)).broadcast.attachments, attachments)
  assert.equal([uses(), await files()], [[[LARGE_BYTES, 1]], 1])
})

test('a file is in its place before the command runs, and stays if its outcome is not known', async t => {
  const { blobs, reservations, clock } = await openScene(t)
  const files = async () => (await Array.fromAsync(blobs.names())).flat().length
  const staging = withStagedFiles({ blobs, reservations, newId, clock }, [large('x')], async () => {
    assert.is(await files(), 1)
    throw new Error('the process died')
  })
  await staging.then(assert.unreachable, error => assert.match(error.message, /died/))
  assert.is(await files(), 1)
})

test('a duplicate has the files of its original, and neither needs the other', async t => {
  const { created, broadcasts, accountId, taken, uses, contacts, work, rows } = await openScene(t)
  contacts(manyContacts(2))
  const { id, attachments } = await created([large('x'), file('a')])
  const copy = taken(await broadcasts.duplicate(accountId, id, AUTHOR)).broadcast
  assert.equal(storedAttachments(copy.attachments), storedAttachments(attachments))
  assert.is(versionOf(copy), versionOf(taken(await broadcasts.find(accountId, id)).broadcast))
  assert.is(await broadcasts.delete(accountId, id), true)
  assert.equal(uses(), [
    [1, 1],
    [LARGE_BYTES, 1],
  ])
  taken(await broadcasts.send(accountId, copy.id, { at: null }, null))
  await work()
  assert.equal(rows('select distinct attachments from emails'), [{ attachments: copy.attachments }])
  assert.equal(uses(), [
    [1, 3],
    [LARGE_BYTES, 3],
  ])
})

test('a broadcast that is deleted while it is duplicated is not found', async t => {
  const { created, broadcasts, accountId, run, uses } = await openScene(t)
  const { id } = await created([file('a')])
  const copying = broadcasts.duplicate(accountId, id, AUTHOR)
  const deleting = run('deleteBroadcast', { accountId, id, now: 1 })
  const [copy] = await Promise.all([copying, deleting])
  assert.is(uses().length, copy === undefined ? 0 : 1)
})

test('the version names the files, and not their ids', async t => {
  const { created, change, taken } = await openScene(t)
  const first = await created([])
  const changed = async (wanted: readonly WantedAttachment[]) =>
    versionOf(taken(await change(first.id, wanted)).broadcast)
  const bare = versionOf(first)
  const withFile = await changed([file('a')])
  assert.is.not(withFile, bare)
  assert.is(await changed([file('a')]), withFile)
  for (const other of [file('b', 'a'), file('a', 'b'), { ...file('a'), contentId: 'x' }])
    assert.is.not(await changed([other]), withFile)
  assert.is(await changed([]), bare)
})

test('a test email has the files', async t => {
  const { created, broadcasts, accountId, taken, rows } = await openScene(t)
  const { id } = await created([large('x'), file('a')])
  const sender = { accountId, apiKeyId: null, domain: null }
  taken(await broadcasts.test(sender, id, [mailbox('ann@there.test'), mailbox('bob@there.test')], null))
  const stored = rows<{ attachments: string }>('select attachments from emails')
  assert.equal(
    stored.map(({ attachments }) => storedAttachments(attachments).map(({ sizeBytes }) => sizeBytes)),
    [
      [LARGE_BYTES, 1],
      [LARGE_BYTES, 1],
    ],
  )
})

test.run()
