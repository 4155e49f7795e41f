import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { sweepFiles } from '../../../../src/resources/retention/sweepers.ts'
import { createBlobFiles } from '../../../../src/store/blobs/blobs.ts'
import { HOUR_MS, postOver } from '../../../kit/mail.ts'
import { openSqliteStore } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('retention/file-sweeper')
const LARGE_BYTES = 70_000
const bytesOf = (fill: string) => Buffer.alloc(LARGE_BYTES, fill)
const nameOf = ({ hash }: { hash: Uint8Array }) => Buffer.from(hash).toString('hex')

async function open(t: TestContext) {
  const store = await t.using(openSqliteStore())
  const folder = join(store.file, '..', 'blobs')
  const post = postOver(store)
  const files = createBlobFiles(folder, post.clock.now)
  /** Files of blobs, put in their places at once. */
  const blobs = {
    ...files,
    async stage(bytes: Uint8Array) {
      const blob = await files.stage(bytes)
      await files.place(blob)
      return blob
    },
  }
  const accountId = post.account()
  return {
    ...store,
    ...postOver({ ...store, blobs: files }, post),
    accountId,
    blobs,
    draft: files.stage,
    folder,
    files: () =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && !entry.parentPath.endsWith('drafts'))
        .map(({ name }) => name)
        .sort(),
    async sweep() {
      let steps = 0
      for await (const _ of sweepFiles({ db: store.db, blobs })) steps++
      return steps
    },
  }
}

const withAttachment = (fill: string) => ({
  attachments: [{ filename: 'x', contentType: 'text/plain', contentId: null, content: bytesOf(fill) }],
})

test('file sweeper: files of mail that was not stored are deleted after 1 h, those of accepted mail are kept', async t => {
  const { submit, accountId, domain, files, sweep, clock, blobs } = await open(t)
  await blobs.stage(bytesOf('lost'))
  domain(accountId, 'here.test')
  await submit(accountId, withAttachment('accepted'))
  assert.is(files().length, 2)
  clock.advance(HOUR_MS - 1)
  await sweep()
  assert.is(files().length, 2)
  clock.advance(1)
  await sweep()
  assert.equal(files(), [nameOf(await blobs.stage(bytesOf('accepted')))])
})

test('file sweeper: a file that is staged again is kept', async t => {
  const { blobs, files, sweep, clock } = await open(t)
  await blobs.stage(bytesOf('x'))
  clock.advance(100 * HOUR_MS)
  const staged = await blobs.stage(bytesOf('x'))
  await sweep()
  assert.equal(files(), [nameOf(staged)])
})

test('file sweeper: content staged during the removal of its file is written again', async t => {
  const { blobs, draft, db, clock, files } = await open(t)
  const name = nameOf(await blobs.stage(bytesOf('x')))
  for (let i = 0; i < 20; i++) {
    clock.advance(HOUR_MS)
    const [first, second] = [await draft(bytesOf('x')), await draft(bytesOf('x'))]
    const [removed] = await Promise.all([blobs.discard(db, name), blobs.place(first)])
    assert.is(removed, true)
    assert.equal(files(), [name])
    clock.advance(HOUR_MS)
    const [, removedAfter] = await Promise.all([blobs.place(second), blobs.discard(db, name)])
    assert.is(removedAfter, false)
    assert.equal(files(), [name])
  }
})

test('file sweeper: unfinished files are deleted, foreign files are kept', async t => {
  const { blobs, folder, files, sweep, clock } = await open(t)
  const name = nameOf(await blobs.stage(bytesOf('x')))
  const inner = join(folder, name.slice(0, 2))
  mkdirSync(join(folder, 'lost+found'))
  const strangers = ['README', join('lost+found', 'x'), join(name.slice(0, 2), 'note')]
  const old = (clock.now() - 10 * HOUR_MS) / 1_000
  for (const path of [join(inner, `${name}.0123456789ab`), ...strangers.map(file => join(folder, file))]) {
    writeFileSync(path, '')
    utimesSync(path, old, old)
  }
  await sweep()
  assert.equal(files(), ['README', 'note', 'x', name].sort())
})

test('file sweeper: it yields every 50 files and accepts a missing folder', async t => {
  const { blobs, files, sweep, clock } = await open(t)
  assert.is(await sweep(), 0)
  for (let i = 0; i < 120; i++) await blobs.stage(bytesOf(`${i}`))
  clock.advance(HOUR_MS)
  assert.equal([await sweep(), files()], [2, []])
})

test.run()
