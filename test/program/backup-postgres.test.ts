import { type ChildProcess, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  type BackupScene,
  commandsFor,
  LARGE_BYTES,
  PASSPHRASE,
  sendEmail,
  startScene,
} from '../kit/backups.ts'
import { createDatabase, POSTGRES_ONLY, settingsFor } from '../kit/database.ts'
import { startFakeS3 } from '../kit/fake-s3.ts'
import { runProgram, startProgram } from '../kit/process.ts'
import { createRandom } from '../kit/random.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('mailhorn backup of PostgreSQL', { limitMs: 300_000 })
const env = { MAILHORN_BACKUP_PASSPHRASE: PASSPHRASE }
const HOUR_MS = 3_600_000
const KILLS = Number(process.env.BACKUP_KILLS ?? 4)
/** Time from the beginning of a draft in which a backup is killed. */
const WRITING_MS = 300
const SEED = Number(process.env.BACKUP_SEED ?? Date.now() % 1_000_000)
/** A test that needs another version of the programs, or none, puts its own in front of them. */
const PATH = process.env.PATH ?? ''

/** An empty database, and the command line with a data folder of its own on it. */
function emptyTarget(t: TestContext, { parent }: BackupScene, name = 'restored') {
  const database = createDatabase('')
  t.after(() => database.drop())
  const dataDir = join(parent, name)
  const onIt = { env: { ...env, MAILHORN_DATABASE_URL: database.url } }
  const { type, done } = commandsFor(dataDir)
  return {
    ...{ database, dataDir },
    type: (args: readonly string[], more = {}) => type(args, { ...onIt, ...more }),
    done: (args: readonly string[]) => done(args, onIt),
    start: () =>
      t.using(
        startProgram({
          dataDir,
          settings: {
            DATABASE_URL: database.url,
            DELIVERY_THREADS: '1',
            RATE_LIMIT_REQUESTS_PER_SECOND: '0',
          },
        }),
      ),
    tables: () =>
      database.rows(
        "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
      ),
  }
}

/** @returns the bytes of the large attachment of an email, as the API returns them */
async function attachmentOf(program: Awaited<ReturnType<typeof startProgram>>, token: string, id: string) {
  const { body } = await program.call('GET', `/emails/${id}/attachments`, { token })
  const large = body.data.find(({ filename }: { filename: string }) => filename === 'large.bin')
  const { body: one } = await program.call('GET', `/emails/${id}/attachments/${large.id}`, { token })
  const reply = await fetch(one.download_url)
  assert.is(reply.status, 200)
  return Buffer.from(await reply.arrayBuffer())
}

/** Sends all the while. @returns a function that ends it, with the ids of the emails */
function sendOn({ send }: BackupScene): () => Promise<string[]> {
  let isOver = false
  const ids: string[] = []
  const client = async () => {
    while (!isOver) ids.push(await send(randomBytes(LARGE_BYTES)))
  }
  const clients = [client(), client()]
  return async () => {
    isOver = true
    await Promise.all(clients)
    return ids
  }
}

const namesIn = (folder: string) => readdirSync(folder)
const completeIn = (backups: string) => namesIn(backups).filter(name => /^\d{8}T/.test(name))
const blobsIn = (backups: string) =>
  readdirSync(join(backups, 'blobs'), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ name }) => name)
    .sort()
const blobFile = (backups: string, name: string) => join(backups, 'blobs', name.slice(0, 2), name)

const realTool = (name: string) => execFileSync('which', [name], { encoding: 'utf8' }).trim()

/** A folder with a program that takes the place of one of PostgreSQL's. */
function program(parent: string, name: string, script: string): string {
  const folder = join(parent, `programs-${name}-${randomBytes(4).toString('hex')}`)
  mkdirSync(folder)
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return folder
}

test(
  'restored into an empty database, emails and attachments can be read, and what was due is on hold',
  async t => {
    const scene = await startScene(t, { ROLES: 'api' })
    const { program, token, done, backups, dataDir } = scene
    const attachments = [randomBytes(LARGE_BYTES), randomBytes(1_000_000)]
    const due = [await scene.send(attachments[0]), await scene.send(attachments[1])]
    const scheduledAt = new Date(Date.now() + HOUR_MS).toISOString()
    const scheduled = await sendEmail(program, token, Buffer.from('small'), { scheduled_at: scheduledAt })
    const made = await done(['backup', backups, '--with-secret-key'], { env })
    assert.equal([made.blobs.count, made.blobs.added, made.lost_blobs], [2, 2, []])
    assert.equal(readdirSync(made.path).sort(), [
      'blobs.sha256',
      'mailhorn.dump',
      'manifest.json',
      'secret.key.sealed',
    ])
    assert.equal(
      readdirSync(backups, { recursive: true, withFileTypes: true })
        .filter(entry => (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
        .map(({ name }) => name),
      [],
    )
    const verified = await done(['verify', backups], { env })
    assert.equal([verified.faults, verified.secret_key_opens], [[], true])
    assert.equal(verified.messages, { rebuilt: 3, proven: 0 })
    await program.end('SIGTERM')

    const target = emptyTarget(t, scene)
    const restored = await target.done(['restore', backups])
    assert.equal(
      [restored.held.deliveries, restored.held.emails, restored.secret_key_restored, restored.skipped_blobs],
      [2, 2, true, []],
    )
    assert.is(
      readFileSync(join(target.dataDir, 'secret.key'), 'utf8'),
      readFileSync(join(dataDir, 'secret.key'), 'utf8'),
    )
    const again = await target.start()
    const statusOf = async (id: string) =>
      (await again.call('GET', `/emails/${id}`, { token })).body.last_event as string
    for (const [i, id] of due.entries())
      assert.ok((await attachmentOf(again, token, id)).equals(attachments[i]!), `attachment ${i} is the same`)
    const fresh = await sendEmail(again, token, randomBytes(LARGE_BYTES))
    await until(async () => (await statusOf(fresh)) === 'delivered')
    assert.equal(await Promise.all([...due, scheduled].map(statusOf)), ['queued', 'queued', 'scheduled'])
    await target.done(['queue', 'release', '--entered-before', restored.held.entered_before])
    for (const id of due) await until(async () => (await statusOf(id)) === 'delivered')
  },
  POSTGRES_ONLY,
)

test(
  'while mail is accepted, a backup has every file that its dump names, and copies only what is new',
  async t => {
    const scene = await startScene(t)
    const { done, send, backups, token } = scene
    for (let i = 0; i < 3; i++) await send()
    const end = sendOn(scene)
    const first = await done(['backup', backups])
    const second = await done(['backup', backups])
    const ids = await end()
    assert.ok(ids.length > 3, 'the service accepted mail meanwhile')
    const third = await done(['backup', backups, '--keep', '3'])
    const fourth = await done(['backup', backups, '--keep', '2'])
    assert.equal(
      [third.blobs.count, fourth.blobs.added, fourth.removed],
      [ids.length + 3, 0, [first.path, second.path]],
    )
    for (const { path } of [third, fourth]) assert.equal((await done(['verify', path])).faults, [])
    const target = emptyTarget(t, scene)
    await target.done(['restore', third.path])
    cpSync(join(scene.dataDir, 'secret.key'), join(target.dataDir, 'secret.key'))
    const again = await target.start()
    for (const id of ids)
      assert.is(
        (await attachmentOf(again, token, id)).length,
        LARGE_BYTES,
        `the attachment of ${id} is there`,
      )
  },
  POSTGRES_ONLY,
)

test(
  `killed ${KILLS} times at any moment (BACKUP_SEED=${SEED}), it leaves former backups and no half one that looks whole`,
  async t => {
    const scene = await startScene(t)
    const { done, send, type, backups } = scene
    const random = createRandom(SEED)
    for (let i = 0; i < 20; i++) await send()
    await done(['backup', backups])
    const end = sendOn(scene)
    let killed = 0
    let left = 0
    for (let cycle = 0; cycle < KILLS; cycle++) {
      const before = completeIn(backups)
      const isWriting = () => namesIn(backups).some(name => name.startsWith('incomplete-'))
      const later = WRITING_MS * random.next()
      const { code } = await type(['backup', backups], {
        onStart: child => void until(isWriting).then(() => setTimeout(() => child.kill('SIGKILL'), later)),
      })
      if (code === null) killed += 1
      if (namesIn(backups).some(name => name.startsWith('incomplete-'))) left += 1
      const after = completeIn(backups)
      assert.equal(
        before.filter(name => !after.includes(name)),
        [],
        'no former backup is lost',
      )
    }
    await end()
    for (const name of completeIn(backups))
      assert.equal((await done(['verify', join(backups, name)])).faults, [])
    const last = await done(['backup', backups, '--keep', '1'])
    assert.equal((await done(['verify', last.path])).faults, [])
    assert.equal(namesIn(backups).sort(), [last.path.slice(backups.length + 1), 'blobs', 'lock'].sort())
    assert.ok(killed > 0, 'it was killed')
    console.log(`${killed} of ${KILLS} killed, ${left} of them in the middle of writing`)
  },
  POSTGRES_ONLY,
)

test(
  'killed in the middle of a dump, it leaves no pg_dump behind, and the next backup is complete',
  async t => {
    const { type, done, send, backups, parent } = await startScene(t)
    await send()
    const pidFile = join(parent, 'pid')
    const started = join(parent, 'started')
    const script = `[ "$1" = --version ] && exec ${realTool('pg_dump')} --version
echo $$ > ${pidFile}; head -c 100000 /dev/zero; touch ${started}; exec cat /dev/zero`
    const path = `${program(parent, 'pg_dump', script)}:${PATH}`
    const { code } = await type(['backup', backups], {
      env: { PATH: path },
      onStart: child => void until(() => existsSync(started)).then(() => child.kill('SIGKILL')),
    })
    assert.is(code, null)
    const pid = Number(readFileSync(pidFile, 'utf8'))
    await until(() => !existsSync(`/proc/${pid}`))
    assert.equal(completeIn(backups), [])
    const refused = await type(['verify', backups])
    assert.equal([refused.code, refused.err], [1, `mailhorn: there is no backup in ${backups}\n`])
    const { path: made } = await done(['backup', backups])
    assert.equal((await done(['verify', made])).faults, [])
  },
  POSTGRES_ONLY,
)

test(
  'restore refuses what is not empty or not sound, and leaves the database empty',
  async t => {
    const scene = await startScene(t)
    const { type, done, send, backups, parent, dataDir } = scene
    await send()
    await send()
    await done(['backup', backups, '--with-secret-key'], { env })
    const used = await type(['restore', backups], { env })
    assert.is(used.code, 1)
    assert.match(used.err, /^mailhorn: the data folder \S+ is in use|^mailhorn: \S+data is in use/)
    await scene.program.end('SIGTERM')
    const full = await type(['restore', backups], { env })
    assert.match(
      full.err,
      /^mailhorn: database "\w+" at .* is not empty \(it holds .*, …\): stop the service, create an empty database, and/,
    )
    const sqlite = await type(['restore', backups, '--into', join(parent, 'sqlite')], {
      env: { ...env, MAILHORN_DATABASE_URL: 'sqlite:mailhorn.db' },
    })
    assert.match(
      sqlite.err,
      /^mailhorn: \S+ is the backup of a PostgreSQL database: set database\.url to an empty one/,
    )

    const target = emptyTarget(t, scene)
    mkdirSync(target.dataDir)
    writeFileSync(join(target.dataDir, 'secret.key'), 'ab'.repeat(32))
    const otherKey = await target.type(['restore', backups])
    assert.match(
      otherKey.err,
      /^mailhorn: \S+secret\.key is another secret key than that of the backup: move it away/,
    )
    cpSync(join(dataDir, 'secret.key'), join(target.dataDir, 'secret.key'))

    const [blob] = blobsIn(backups)
    rmSync(blobFile(backups, blob!))
    const lacking = await target.type(['restore', backups])
    assert.equal([lacking.code, target.tables()], [1, []])
    assert.ok(
      lacking.err.includes(`${blob} is missing or damaged: use another backup, or restore`),
      lacking.err,
    )
    const verified = await type(['verify', backups], { env })
    assert.equal([verified.code, verified.out], [1, `${blobFile(backups, blob!)} is missing\n`])
    const skipped = await target.done(['restore', backups, '--skip-damaged'])
    assert.equal(skipped.skipped_blobs, [blob])
    await target.start()

    const dump = join(backups, completeIn(backups)[0]!, 'mailhorn.dump')
    const bytes = readFileSync(dump)
    bytes[bytes.length >> 1]! ^= 0xff
    writeFileSync(dump, bytes)
    const another = emptyTarget(t, scene, 'another')
    const damaged = await another.type(['restore', backups])
    assert.equal(
      [damaged.code, damaged.err, another.tables()],
      [1, `mailhorn: ${dump} is damaged; use another backup\n`, []],
    )
    const faults = (await type(['verify', backups], { env })).out.split('\n')
    assert.is(faults[0], `${dump} is damaged: its SHA-256 is not that of manifest.json`)
  },
  POSTGRES_ONLY,
)

test(
  'a service does not start on a database into which a restore was killed, and neither does another restore',
  async t => {
    const scene = await startScene(t)
    const { done, send, backups } = scene
    for (let i = 0; i < 10; i++) await send()
    await done(['backup', backups, '--with-secret-key'], { env })
    const target = emptyTarget(t, scene)
    let child: ChildProcess | undefined
    const restoring = target.type(['restore', backups], {
      onStart: (started: ChildProcess) => {
        child = started
      },
    })
    await until(() => target.tables().length > 0)
    child!.kill('SIGKILL')
    assert.is((await restoring).code, null)
    const { code, output } = await runProgram({
      dataDir: target.dataDir,
      settings: { DATABASE_URL: target.database.url },
    })
    assert.is(code, 1)
    assert.match(
      output,
      /a restore into database "\w+" at .* was interrupted: drop the database, create it again, and run `mailhorn restore` again/,
    )
    const again = await target.type(['restore', backups])
    assert.is(again.code, 1)
    assert.match(
      again.err,
      /^mailhorn: a restore into database .* was interrupted: drop the database, create it/,
    )
    const backup = await target.type(['backup', join(scene.parent, 'other')])
    assert.match(
      backup.err,
      /^mailhorn: database .* is (?:incomplete: a restore into it was interrupted|empty)/,
    )
  },
  POSTGRES_ONLY,
)

test(
  'a program that is missing or older than the server is named, with the package',
  async t => {
    const { type, send, backups, parent } = await startScene(t)
    await send()
    const alone = join(parent, 'alone')
    mkdirSync(alone)
    for (const name of ['readlink', 'dirname', 'find', 'grep']) symlinkSync(realTool(name), join(alone, name))
    const missing = await type(['backup', backups], { env: { PATH: alone } })
    assert.is(missing.code, 1)
    assert.match(
      missing.err,
      /^mailhorn: the program pg_dump is missing: install the package postgresql-client-\d+, or a newer one/,
    )
    const old = program(parent, 'pg_dump', 'echo "pg_dump (PostgreSQL) 13.4"')
    const older = await type(['backup', backups], { env: { PATH: `${old}:${PATH}` } })
    assert.match(
      older.err,
      /^mailhorn: pg_dump has the version 13, and the server the version \d+: install the package/,
    )
    const failing = program(
      parent,
      'pg_dump',
      `[ "$1" = --version ] && exec ${realTool('pg_dump')} --version; echo half; echo "pg_dump: error: no more" >&2; exit 1`,
    )
    const failed = await type(['backup', backups], { env: { PATH: `${failing}:${PATH}` } })
    assert.equal([failed.code, failed.err], [1, 'mailhorn: pg_dump failed: pg_dump: error: no more\n'])
    assert.equal(namesIn(backups), ['lock'])
  },
  POSTGRES_ONLY,
)

test(
  'pg_dump gets the password in its environment, and not in its arguments',
  async t => {
    const { type, send, backups, parent, dataDir } = await startScene(t)
    await send()
    const seen = join(parent, 'seen')
    const script = `[ "$1" = --version ] || { echo "$@" > ${seen}.args; env > ${seen}.env; }
exec ${realTool('pg_dump')} "$@"`
    const url = new URL(settingsFor(dataDir).DATABASE_URL!)
    url.password = 'the-password'
    const { code, err } = await type(['backup', backups], {
      env: {
        PATH: `${program(parent, 'pg_dump', script)}:${PATH}`,
        MAILHORN_DATABASE_URL: url.href,
        PGOPTIONS: '-c x=y',
      },
    })
    assert.is(code, 0, err)
    assert.match(readFileSync(`${seen}.env`, 'utf8'), /^PGPASSWORD=the-password$/m)
    assert.not.match(readFileSync(`${seen}.env`, 'utf8'), /^PGOPTIONS/m)
    assert.not.match(readFileSync(`${seen}.args`, 'utf8'), /the-password/)
  },
  POSTGRES_ONLY,
)

test(
  'to S3 and back: a bucket holds the dump and the files, and a restore reads both',
  async t => {
    const store = await t.using(startFakeS3())
    const scene = await startScene(t)
    const { done, send, token, dataDir } = scene
    const content = randomBytes(LARGE_BYTES)
    const id = await send(content)
    const address = 's3://backups/mail'
    const made = await done(['backup', address], { env: store.env })
    const again = await done(['backup', address, '--keep', '1'], { env: store.env })
    assert.equal([made.blobs.added, again.blobs.added, again.removed], [1, 0, [made.path]])
    assert.equal((await done(['verify', address], { env: store.env })).faults, [])
    const target = emptyTarget(t, scene)
    const { code, err } = await target.type(['restore', address], {
      env: { ...store.env, MAILHORN_DATABASE_URL: target.database.url },
    })
    assert.is(code, 0, err)
    cpSync(join(dataDir, 'secret.key'), join(target.dataDir, 'secret.key'))
    const restored = await target.start()
    assert.ok((await attachmentOf(restored, token, id)).equals(content))
  },
  POSTGRES_ONLY,
)

test.run()
