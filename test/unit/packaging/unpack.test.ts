/** The folder into which the single executable unpacks itself. */
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdCompressSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import {
  ensureUnpacked,
  type PackedFile,
  UnpackFault,
  unpackFolder,
} from '../../../packaging/one-file/unpack.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('packaging/unpack')
const CONTENTS = { 'build/main.js': 'one', 'node_modules/a/b.node': 'twice', LICENSE: '' }
const FILES: PackedFile[] = Object.entries(CONTENTS).map(([path, text]) => ({
  path,
  bytes: text.length,
  sha256: createHash('sha256').update(text).digest('hex'),
}))

async function place(t: TestContext) {
  const { path: cache } = await t.using(tempFolder())
  const folder = join(cache, 'mailhorn/version')
  let unpackedCount = 0
  const unpack = () =>
    ensureUnpacked(folder, FILES, () => {
      unpackedCount += 1
      return zstdCompressSync(Object.values(CONTENTS).join(''))
    })
  const read = () => Object.keys(CONTENTS).map(path => readFileSync(join(folder, path), 'utf8'))
  return { cache, folder, unpack, read, unpackedCount: () => unpackedCount }
}

test('unpack: the first start writes all files for their owner only, and later ones leave them', async t => {
  const { folder, unpack, read, unpackedCount } = await place(t)
  unpack()
  unpack()
  assert.equal(read(), Object.values(CONTENTS))
  assert.is(unpackedCount(), 1)
  const modes = ['', 'build', 'build/main.js'].map(path => statSync(join(folder, path)).mode & 0o777)
  assert.equal(modes, [0o700, 0o700, 0o600])
})

for (const [how, damage] of [
  ['other content of the same size', (file: string) => writeFileSync(file, 'owt')],
  ['another size', (file: string) => writeFileSync(file, '')],
  ['nothing', (file: string) => rmSync(file)],
  [
    'a symbolic link',
    (file: string) => {
      writeFileSync(`${file}.other`, 'one')
      rmSync(file)
      symlinkSync(`${file}.other`, file)
    },
  ],
] as const)
  test(`unpack: a file is written anew when ${how} is in its place, and no other file is`, async t => {
    const { folder, unpack, read } = await place(t)
    unpack()
    const others = () => statSync(join(folder, 'node_modules/a/b.node')).ino
    const before = others()
    damage(join(folder, 'build/main.js'))
    unpack()
    assert.equal(read(), Object.values(CONTENTS))
    assert.is(others(), before)
  })

test('unpack: a folder that others may read or change is refused', async t => {
  const { folder, unpack } = await place(t)
  mkdirSync(folder, { recursive: true })
  chmodSync(folder, 0o755)
  assert.throws(
    unpack,
    (error: unknown) => error instanceof UnpackFault && /only you can/.test(error.message),
  )
})

test('unpack: a symbolic link in place of the folder is refused', async t => {
  const { cache, folder, unpack } = await place(t)
  mkdirSync(join(cache, 'elsewhere'), { mode: 0o700 })
  mkdirSync(join(cache, 'mailhorn'))
  symlinkSync(join(cache, 'elsewhere'), folder)
  assert.throws(
    unpack,
    (error: unknown) => error instanceof UnpackFault && /only you can/.test(error.message),
  )
})

test('unpack: a folder above that everybody may change is refused, unless it is sticky', async t => {
  const { cache, unpack, unpackedCount } = await place(t)
  chmodSync(cache, 0o777)
  assert.throws(unpack, (error: unknown) => error instanceof UnpackFault && error.message.includes(cache))
  assert.is(unpackedCount(), 0)
  chmodSync(cache, 0o1777)
  unpack()
  assert.is(unpackedCount(), 1)
})

test('unpack: what the system refuses is one line that names the folder and the reason', async t => {
  const { cache, folder, unpack } = await place(t)
  const refusedWith = (reason: string) =>
    assert.throws(
      unpack,
      (error: unknown) =>
        error instanceof UnpackFault &&
        error.message.includes(`${folder} (${reason})`) &&
        !error.message.includes('\n'),
    )
  writeFileSync(join(cache, 'mailhorn'), 'a file')
  refusedWith('ENOTDIR: not a directory')
  rmSync(join(cache, 'mailhorn'))
  symlinkSync(join(cache, 'missing'), join(cache, 'mailhorn'))
  refusedWith('ENOENT: no such file or directory')
})

test('unpack: systemd’s cache folder comes before that of the user', () => {
  assert.is(
    unpackFolder({ CACHE_DIRECTORY: '/var/cache/mailhorn:/other', XDG_CACHE_HOME: '/x' }),
    '/var/cache/mailhorn',
  )
  assert.is(unpackFolder({ XDG_CACHE_HOME: '/x' }), '/x/mailhorn')
  assert.match(unpackFolder({}), /\/\.cache\/mailhorn$/)
})

test.run()
