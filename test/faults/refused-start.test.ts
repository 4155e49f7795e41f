/**
 * A start that is refused leaves every file of the data folder as it was, and says in one line what to do.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { databaseOf, isOnPostgres } from '../kit/database.ts'
import { printedApiKey, runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('refused starts', { limitMs: 120_000 })

interface Scene {
  dataDir: string
  settings: Record<string, string>
  fileLimit?: number
}

function newFolder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'mailhorn-refused-'))
  t.after(() => rmSync(path, { recursive: true }))
  return path
}

let template: string | undefined
test.after(() => template !== undefined && rmSync(template, { recursive: true }))

/** A data folder in which the service has run. Files are copied from one that has run before. */
async function usedFolder(t: TestContext): Promise<Scene> {
  const scene = { dataDir: join(newFolder(t), 'data'), settings: {} }
  if (!isOnPostgres && template !== undefined) {
    cpSync(template, scene.dataDir, { recursive: true })
    return scene
  }
  await (await startProgram(scene)).end('SIGTERM')
  if (isOnPostgres) return scene
  template = mkdtempSync(join(tmpdir(), 'mailhorn-template-'))
  cpSync(scene.dataDir, template, { recursive: true })
  return scene
}

/**
 * Kind, mode and digest of every entry. The index of the log (`-shm`) holds no data, and every reader writes
 * it anew.
 */
function listing(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()
  return names.map(name => {
    const path = join(folder, name)
    const entry = statSync(path)
    const isHashed = entry.isFile() && !name.endsWith('-shm')
    const digest = isHashed ? createHash('sha256').update(readFileSync(path)).digest('hex') : ''
    return `${name} ${entry.mode.toString(8)} ${digest}`
  })
}

function schemaOf(dataDir: string): unknown[] {
  return databaseOf(dataDir).rows('select name from migrations order by name')
}

/**
 * Given a scene, when the service starts, then it is refused in one line that says so, and nothing was
 * written.
 */
async function isRefused(scene: Scene, says: RegExp | string): Promise<void> {
  const before = listing(scene.dataDir)
  const schema = isOnPostgres ? schemaOf(scene.dataDir) : []
  const { code, output } = await runProgram(scene)
  assert.is(code, 1, output)
  assert.match(output, /^mailhorn: [^\n]+\n$/)
  assert.match(output, says)
  assert.equal(listing(scene.dataDir), before)
  if (isOnPostgres) assert.equal(schemaOf(scene.dataDir), schema)
}

const OTHER_KEY = `${'ab'.repeat(32)}\n`
const onFile = (name: string, change: (path: string) => void) => (scene: Scene) =>
  change(join(scene.dataDir, name))

interface Refusal {
  when: string
  input(scene: Scene): void
  says: RegExp | string
  /** Cannot happen to PostgreSQL. */
  isOfFiles?: boolean
}

const REFUSALS: Refusal[] = [
  {
    when: 'secret.key is another one',
    input: onFile('secret.key', path => writeFileSync(path, OTHER_KEY)),
    says: /the secret key is not the one this database was written with: \S+secret\.key holds another one; restore the former one, or set MAILHORN_SECRET_KEY again/,
  },
  {
    when: 'MAILHORN_SECRET_KEY is another one',
    input(scene) {
      scene.settings = { SECRET_KEY: 'quite another secret' }
    },
    says: /the secret key is not the one this database was written with: secret_key \(MAILHORN_SECRET_KEY\) has another value, and \S+secret\.key holds the right one; remove the setting/,
  },
  {
    when: 'secret.key is missing',
    input: onFile('secret.key', path => rmSync(path)),
    says: /the secret key is not the one .*: \S+secret\.key is missing; restore the former one, or set MAILHORN_SECRET_KEY again/,
  },
  {
    when: 'secret.key is cut off',
    input: onFile('secret.key', path => writeFileSync(path, 'ab'.repeat(31))),
    says: 'secret.key is damaged; restore it from a backup',
  },
  {
    when: 'secret.key is a folder',
    input: onFile('secret.key', path => {
      rmSync(path)
      mkdirSync(path)
    }),
    says: 'secret.key is a folder; a file is needed',
  },
  {
    when: 'MAILHORN_SECRET_KEY is too short',
    input: scene => {
      scene.settings = { SECRET_KEY: 'fifteen letters' }
    },
    says: 'MAILHORN_SECRET_KEY) is too short: it has 15 bytes and needs at least 16',
  },
  {
    when: 'the database is of a newer version',
    input({ dataDir }) {
      databaseOf(dataDir).change(
        "insert into migrations (name, applied_at) values ('998-from-the-future', 1)",
      )
      databaseOf(dataDir).release()
    },
    says: 'the database was made by a newer version (998-from-the-future); upgrade Mailhorn',
  },
  {
    when: 'the service may open 64 files',
    input: scene => {
      scene.fileLimit = 64
    },
    says: 'the limit of open files is 64, and the service needs at least 224: raise it',
  },
  {
    when: 'the lock is a folder',
    input: onFile('lock', path => {
      rmSync(path)
      mkdirSync(path)
    }),
    says: /lock is a folder; a file is needed/,
  },
  {
    when: 'a file stands in place of the folder for stored files',
    input: onFile('blobs', path => {
      rmSync(path, { recursive: true, force: true })
      writeFileSync(path, '')
    }),
    says: /blobs is not a folder \(ENOTDIR\)/,
  },
  {
    when: 'the database is a folder',
    input: onFile('mailhorn.db', path => {
      rmSync(path)
      mkdirSync(path)
    }),
    says: 'mailhorn.db is a folder; a file is needed',
    isOfFiles: true,
  },
  {
    when: 'the database is gone and that of the former product lies beside the key',
    input({ dataDir }) {
      rmSync(join(dataDir, 'mailhorn.db'))
      writeFileSync(join(dataDir, 'posthorn.db'), 'former data')
    },
    says: /it holds posthorn\.db, secret\.key.*\. The data of posthorn\.db, .*, is not carried over$/m,
    isOfFiles: true,
  },
]

for (const { when, input, says, isOfFiles = false } of REFUSALS)
  test(`a start is refused and writes nothing when ${when}`, async t => {
    if (isOfFiles && isOnPostgres) return
    const scene = await usedFolder(t)
    input(scene)
    await isRefused(scene, says)
  })

test('a start with another secret.key leaves the write-ahead log of a killed service', async t => {
  if (isOnPostgres) return
  const scene = await usedFolder(t)
  await (await startProgram(scene)).end('SIGKILL')
  assert.ok(statSync(join(scene.dataDir, 'mailhorn.db-wal')).size > 0)
  const former = readFileSync(join(scene.dataDir, 'secret.key'))
  writeFileSync(join(scene.dataDir, 'secret.key'), OTHER_KEY)
  await isRefused(scene, 'the secret key is not the one')
  rmSync(join(scene.dataDir, 'mailhorn.db-shm'))
  await isRefused(scene, 'the secret key is not the one')
  writeFileSync(join(scene.dataDir, 'secret.key'), former)
  await t.using(startProgram(scene))
})

test('the text of secret.key as MAILHORN_SECRET_KEY is the same key, in any case of its letters', async t => {
  const scene = await usedFolder(t)
  const text = readFileSync(join(scene.dataDir, 'secret.key'), 'utf8')
  for (const key of [text.trim(), text.trim().toUpperCase()]) {
    rmSync(join(scene.dataDir, 'secret.key'), { force: true })
    const program = await startProgram({ ...scene, settings: { SECRET_KEY: key } })
    await program.end('SIGTERM')
    assert.not(existsSync(join(scene.dataDir, 'secret.key')))
  }
  writeFileSync(join(scene.dataDir, 'secret.key'), text)
  await t.using(startProgram(scene))
})

test('an installation that began with 64 hexadecimal digits as MAILHORN_SECRET_KEY can move them to secret.key', async t => {
  const scene = await usedFolder(t)
  const begun = { dataDir: join(scene.dataDir, 'other'), settings: { SECRET_KEY: 'cd'.repeat(32) } }
  const first = await startProgram(begun)
  await first.end('SIGTERM')
  writeFileSync(join(begun.dataDir, 'secret.key'), `${'cd'.repeat(32)}\n`)
  await t.using(startProgram({ ...begun, settings: {} }))
})

const isRoot = process.getuid?.() === 0 && process.platform === 'linux'

/**
 * Mounts a file system over the data folder for as long as the test runs. The child processes of a service
 * may end, and give up the folder, a moment after it.
 */
function mount(t: TestContext, ...args: string[]) {
  execFileSync('mount', args)
  t.after(() => until(() => spawnSync('umount', [args.at(-1)!]).status === 0))
}

test('a start is refused and writes nothing when the disk is full', async t => {
  if (!isRoot || isOnPostgres) return
  const scene = await usedFolder(t)
  const small = { ...scene, dataDir: newFolder(t) }
  mount(t, '-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', small.dataDir)
  cpSync(scene.dataDir, small.dataDir, { recursive: true })
  await isRefused(small, /the disk of \S+ is full: [\d.]+ MB are free, and a start needs 32 MB: free some/)
})

test('a service whose disk fills up is not ready, accepts nothing, and is ready again when there is room', async t => {
  if (!isRoot || isOnPostgres) return
  const dataDir = newFolder(t)
  mount(t, '-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', dataDir)
  const program = await t.using(startProgram({ dataDir, settings: {} }))
  const body = {
    from: 'a@here.example',
    to: 'delivered@simulator.test',
    subject: 's',
    text: 'x'.repeat(300_000),
  }
  const send = () => program.call('POST', '/emails', { token: printedApiKey(program), body })
  assert.is((await send()).status, 200)
  fillUp(join(dataDir, 'filling'))
  assert.is(await until(async () => ((await send()).status === 503 ? true : undefined)), true)
  await until(async () => (await program.call('GET', '/readyz')).status === 503)
  rmSync(join(dataDir, 'filling'))
  assert.is((await send()).status, 200)
  await until(async () => (await program.call('GET', '/readyz')).status === 200)
})

/** Writes until no space is left. */
function fillUp(path: string) {
  const file = openSync(path, 'w')
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096))
  } catch (error) {
    assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC')
  } finally {
    closeSync(file)
  }
}

test('a start is refused and writes nothing when the file system is read-only', async t => {
  if (!isRoot || isOnPostgres) return
  const scene = await usedFolder(t)
  mount(t, '--bind', scene.dataDir, scene.dataDir)
  execFileSync('mount', ['-o', 'remount,ro,bind', scene.dataDir])
  await isRefused(scene, 'cannot be written (EROFS): its file system is mounted read-only')
})

test('a start is refused and writes nothing when only the database is read-only', async t => {
  if (!isRoot || isOnPostgres) return
  const scene = await usedFolder(t)
  const file = join(scene.dataDir, 'mailhorn.db')
  mount(t, '--bind', file, file)
  execFileSync('mount', ['-o', 'remount,ro,bind', file])
  await isRefused(scene, 'mailhorn.db cannot be written (EROFS)')
})

/**
 * Requirements of SQLite for the first 100 octets (file format, section 1.3), with one octet altered in each
 * case.
 */
const HEADERS: [string, number, number[]][] = [
  ['another magic text', 3, [0x58]],
  ['a page size that is no power of two', 16, [0x10, 0x01]],
  ['a file format to come, for writing', 18, [9]],
  ['a file format to come, for reading', 19, [9]],
  ['another payload fraction', 21, [0]],
  ['a schema format to come', 44, [0, 0, 0, 9]],
  ['an unknown text encoding', 56, [0, 0, 0, 7]],
]

for (const [what, at, octets] of HEADERS)
  test(`a start is refused and writes nothing when the header of the database has ${what}`, async t => {
    if (isOnPostgres) return
    const scene = await usedFolder(t)
    overwrite(join(scene.dataDir, 'mailhorn.db'), at, Buffer.from(octets))
    await isRefused(scene, /the database \S+mailhorn\.db is damaged .*restore a backup/)
  })

function overwrite(path: string, position: number, octets: Uint8Array) {
  const file = openSync(path, 'r+')
  writeSync(file, octets, 0, octets.length, position)
  closeSync(file)
}

test('a first start beside the database of the former product begins, and says that its data stays behind', async t => {
  const path = newFolder(t)
  writeFileSync(join(path, 'posthorn.db'), 'former data')
  const program = await t.using(startProgram({ dataDir: path }))
  const [note] = program.logs.filter(({ event }) => event === 'start_note')
  assert.match(`${note!.msg}`, 'posthorn.db')
  assert.is(readFileSync(join(path, 'posthorn.db'), 'utf8'), 'former data')
})

test.run()
