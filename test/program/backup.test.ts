import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { type BackupScene, folder, LARGE_BYTES, PASSPHRASE, sendEmail, startScene } from '../kit/backups.ts'
import { mailhornCommand } from '../kit/command-line.ts'
import { isOnPostgres, SQLITE_ONLY } from '../kit/database.ts'
import { printedApiKey, startProgram } from '../kit/process.ts'
import { createRandom } from '../kit/random.ts'
import { suite } from '../kit/suite.ts'

const test = suite('mailhorn backup', { limitMs: 300_000 })
const rootOnly = {
  skip: isOnPostgres || process.getuid?.() !== 0 ? 'it needs root and a database of its own' : undefined,
}
const KILLS = Number(process.env.BACKUP_KILLS ?? 5)
const SEED = Number(process.env.BACKUP_SEED ?? Date.now() % 1_000_000)

/** Sends all the while. @returns a function that ends it, with the number of emails */
function sendOn({ send }: BackupScene): () => Promise<number> {
  let isOver = false
  let count = 0
  const shared = randomBytes(LARGE_BYTES)
  const client = async () => {
    for (; !isOver; count++) await send(count % 3 === 0 ? shared : randomBytes(LARGE_BYTES))
  }
  const clients = [client(), client(), client()]
  return async () => {
    isOver = true
    await Promise.all(clients)
    return count
  }
}

const completeIn = (backups: string) =>
  existsSync(backups) ? readdirSync(backups).filter(name => /^\d{8}T/.test(name)) : []
const filesIn = (pool: string) =>
  readdirSync(pool, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ name }) => name)

test(
  'while mail is accepted, backups are consistent, and copy only what is new',
  async t => {
    const scene = await startScene(t)
    const { done, send, backups } = scene
    for (let i = 0; i < 5; i++) await send()
    const end = sendOn(scene)
    const first = await done(['backup', backups])
    const second = await done(['backup', backups])
    assert.ok((await end()) > 3, 'the service accepted mail meanwhile')
    const third = await done(['backup', backups])
    const fourth = await done(['backup', backups])
    assert.ok(first.blobs.count >= 5 && first.blobs.added >= first.blobs.count)
    assert.ok(third.blobs.count > first.blobs.count)
    assert.equal(fourth.blobs.added, 0, 'nothing is copied again')
    for (const { path } of [first, second, third, fourth]) {
      const verified = await done(['verify', path])
      assert.equal([verified.faults, verified.has_secret_key], [[], false])
      assert.ok(verified.messages.rebuilt >= 5)
    }
    assert.is((await done(['verify', backups])).path, fourth.path, 'a folder stands for its newest backup')
    const list = execFileSync('sha256sum', ['--check', '--quiet', join(fourth.path, 'blobs.sha256')], {
      cwd: backups,
      encoding: 'utf8',
    })
    assert.is(list, '')
    const modes = ['', 'blobs', ...completeIn(backups)].map(
      name => statSync(join(backups, name)).mode & 0o777,
    )
    assert.equal([...new Set(modes)], [0o700])
    assert.is(statSync(join(fourth.path, 'mailhorn.db')).mode & 0o777, 0o600)
  },
  SQLITE_ONLY,
)

test(
  'old backups are removed beyond --keep, with the files that no other one names',
  async t => {
    const { done, type, send, program, token, dataDir, backups } = await startScene(t)
    await send()
    const first = await done(['backup', backups])
    const [gone] = filesIn(join(backups, 'blobs'))
    await program.end('SIGTERM')
    rmSync(dataDir, { recursive: true })
    const again = await t.using(startProgram({ dataDir }))
    const [remaining, last] = [randomBytes(LARGE_BYTES), randomBytes(LARGE_BYTES)]
    await sendEmail(again, printedApiKey(again), remaining)
    const second = await done(['backup', backups, '--keep', '2'])
    assert.equal(second.removed, [])
    await sendEmail(again, printedApiKey(again), last)
    const third = await done(['backup', backups, '--keep', '2'])
    assert.equal(third.removed, [first.path])
    assert.not.ok(filesIn(join(backups, 'blobs')).includes(gone!))
    assert.is(filesIn(join(backups, 'blobs')).length, 2)
    for (const { path } of [second, third]) await done(['verify', path])
    const wrong = await type(['backup', backups, '--keep', '0'])
    assert.equal([wrong.code, wrong.err], [2, 'mailhorn: --keep must be a number from 1 to 10000\n'])
    assert.ok(token)
  },
  SQLITE_ONLY,
)

test(
  `killed ${KILLS} times at any moment (BACKUP_SEED=${SEED}), it leaves former backups and no half one that looks whole`,
  async t => {
    const scene = await startScene(t)
    const { done, send, type, backups } = scene
    const random = createRandom(SEED)
    for (let i = 0; i < 40; i++) await send()
    await done(['backup', backups])
    const startedAt = performance.now()
    await done(['backup', join(scene.parent, 'measured')])
    const tookMs = performance.now() - startedAt
    const end = sendOn(scene)
    let killed = 0
    let left = 0
    for (let cycle = 0; cycle < KILLS; cycle++) {
      const before = completeIn(backups)
      const { code } = await type(['backup', backups], {
        onStart: child => void setTimeout(() => child.kill('SIGKILL'), tookMs * (0.2 + random.next())),
      })
      if (code === null) killed += 1
      if (readdirSync(backups).some(name => name.startsWith('incomplete-'))) left += 1
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
    const last = await done(['backup', backups, '--keep', '3'])
    assert.equal((await done(['verify', last.path])).faults, [])
    assert.equal(
      readdirSync(backups).filter(name => name.startsWith('incomplete-')),
      [],
    )
    assert.ok(killed > 0, 'it was killed')
    console.log(`${killed} of ${KILLS} killed, ${left} of them in the middle of writing`)
  },
  SQLITE_ONLY,
)

test(
  'the secret key is included only encrypted, and only the passphrase opens it',
  async t => {
    const { type, done, send, dataDir, parent, backups } = await startScene(t)
    await send()
    const none = await type(['backup', backups, '--with-secret-key'])
    assert.is(none.code, 1)
    assert.match(
      none.err,
      /^mailhorn: --with-secret-key needs a passphrase: set MAILHORN_BACKUP_PASSPHRASE, or/,
    )
    const short = await type(['backup', backups, '--with-secret-key'], {
      env: { MAILHORN_BACKUP_PASSPHRASE: 'short' },
    })
    assert.match(
      short.err,
      /the passphrase \(backup\.passphrase\) is too short: it needs at least 12 characters/,
    )
    assert.equal(completeIn(backups), [])
    const file = join(parent, 'passphrase')
    writeFileSync(file, `${PASSPHRASE}\n`)
    const env = { MAILHORN_BACKUP_PASSPHRASE_FILE: file }
    const { path } = await done(['backup', backups, '--with-secret-key'], { env })
    const secret = readFileSync(join(dataDir, 'secret.key'), 'utf8').trim()
    for (const name of readdirSync(path)) {
      const bytes = readFileSync(join(path, name))
      assert.not.ok(bytes.includes(secret) || bytes.includes(Buffer.from(secret, 'hex')), name)
    }
    const opened = await done(['verify', path], { env })
    assert.equal([opened.secret_key_opens, opened.faults], [true, []])
    const unopened = await done(['verify', path])
    assert.equal([unopened.has_secret_key, unopened.secret_key_opens], [true, false])
    const wrong = await type(['verify', path], { env: { MAILHORN_BACKUP_PASSPHRASE: 'another passphrase' } })
    assert.equal(
      [wrong.code, wrong.out],
      [
        1,
        `${join(path, 'secret.key.sealed')}: the passphrase (backup.passphrase) does not open the secret key of the backup\n`,
      ],
    )
    const configured = await type(['backup', backups, '--with-secret-key'], {
      env: { ...env, MAILHORN_SECRET_KEY: 'a secret of the settings' },
    })
    assert.match(configured.err, /the secret key is the setting secret_key \(MAILHORN_SECRET_KEY\)/)
  },
  SQLITE_ONLY,
)

test(
  'verify tells each fault in one line',
  async t => {
    const { type, done, send, parent, backups } = await startScene(t)
    await send()
    await send()
    const { path } = await done(['backup', backups])
    const name = path.slice(backups.length + 1)
    const faultsAfter = async (damage: (copy: string) => void): Promise<string[]> => {
      const copy = mkdtempSync(join(parent, 'damaged-'))
      cpSync(backups, copy, { recursive: true })
      damage(copy)
      const { code, out, err } = await type(['verify', join(copy, name)])
      assert.is(code, 1)
      return (out + err)
        .trimEnd()
        .split('\n')
        .map(line => line.replaceAll(`${copy}/`, '').replaceAll(/[0-9a-f]{64}/g, '<hash>'))
    }
    const change = (file: string, at: number) => {
      const bytes = readFileSync(file)
      bytes[at] = bytes[at]! ^ 0xff
      writeFileSync(file, bytes)
    }
    const blobOf = (copy: string) => {
      const [blob] = filesIn(join(copy, 'blobs')).sort()
      return join(copy, 'blobs', blob!.slice(0, 2), blob!)
    }
    const short = 'blobs/xx'.replace('xx', filesIn(join(backups, 'blobs')).sort()[0]!.slice(0, 2))
    assert.equal(await faultsAfter(copy => change(blobOf(copy), 5_000)), [
      `${short}/<hash> is damaged: its SHA-256 is not its name`,
    ])
    assert.equal(await faultsAfter(copy => rmSync(blobOf(copy))), [`${short}/<hash> is missing`])
    assert.equal(await faultsAfter(copy => writeFileSync(blobOf(copy), 'x')), [
      `${short}/<hash> has 1 bytes instead of ${LARGE_BYTES}`,
    ])
    const inDatabase = await faultsAfter(copy => {
      const file = join(copy, name, 'mailhorn.db')
      const bytes = readFileSync(file)
      change(file, bytes.indexOf('ann@here.example'))
    })
    assert.equal(inDatabase[0], `${name}/mailhorn.db is damaged: its SHA-256 is not that of manifest.json`)
    const header = await faultsAfter(copy => change(join(copy, name, 'mailhorn.db'), 0))
    assert.match(header[1]!, /^2\w+Z\/mailhorn\.db cannot be read: file is not a database$/)
    assert.match(
      (await faultsAfter(copy => change(join(copy, name, 'manifest.json'), 0)))[0]!,
      /^mailhorn: 2\w+Z\/manifest\.json cannot be read: /,
    )
    assert.equal(await faultsAfter(copy => rmSync(join(copy, name, 'manifest.json'))), [
      `mailhorn: ${name} is not complete: it has no manifest.json`,
    ])
  },
  SQLITE_ONLY,
)

test(
  'files that are missing or damaged in the data folder are named, and the rest is backed up',
  async t => {
    const { type, done, send, dataDir, backups } = await startScene(t)
    await send()
    await send()
    const [lost, damaged] = filesIn(join(dataDir, 'blobs')).filter(name => name.length === 64)
    rmSync(join(dataDir, 'blobs', lost!.slice(0, 2), lost!))
    writeFileSync(join(dataDir, 'blobs', damaged!.slice(0, 2), damaged!), 'other bytes')
    const { code, out } = await type(['backup', backups])
    assert.is(code, 1)
    assert.ok(out.includes(`File ${lost} is missing in the data directory and not in the backup.`), out)
    assert.ok(out.includes(`File ${damaged} is damaged in the data directory and not in the backup.`), out)
    const verified = await type(['verify', backups])
    assert.ok(verified.out.includes(`file ${lost} was missing in the data folder when the backup was made`))
    await send()
    assert.is((await type(['backup', backups])).code, 1)
    assert.is(filesIn(join(backups, 'blobs')).length, 1)
    assert.is(completeIn(backups).length, 2)
    assert.ok(done)
  },
  SQLITE_ONLY,
)

test(
  'a full disk leaves the former backups, and the line says what to do',
  async t => {
    const { type, done, send, parent } = await startScene(t)
    for (let i = 0; i < 3; i++) await send()
    const disk = join(parent, 'disk')
    mkdirSync(disk)
    const remount = (size: string) => execFileSync('mount', ['-o', `remount,size=${size}`, disk])
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=80m,mode=700', 'tmpfs', disk])
    t.after(() => execFileSync('umount', [disk]))
    const { path } = await done(['backup', disk])
    remount('20m')
    const small = await type(['backup', disk])
    assert.is(small.code, 1)
    assert.match(
      small.err,
      /^mailhorn: the disk of \S+ has \d+ MB free, and the backup needs \d+ MB, \d+ MB more: free some,/,
    )
    remount('50m')
    for (let i = 0; i < 14; i++) await send(randomBytes(4_000_000))
    const full = await type(['backup', disk])
    assert.is(full.code, 1)
    assert.match(full.err, /^mailhorn: the backup to \S+ failed: the disk is full \(ENOSPC\)\n$/)
    assert.equal(completeIn(disk), [path.slice(disk.length + 1)])
    assert.equal((await done(['verify', path])).faults, [])
    remount('300m')
    const last = await done(['backup', disk, '--keep', '1'])
    assert.equal((await done(['verify', last.path])).faults, [])
  },
  rootOnly,
)

test('a PostgreSQL server that cannot be reached is named', async t => {
  const dataDir = folder(t)
  const { code, err } = await mailhornCommand(['backup', join(dataDir, 'backups')], {
    dataDir,
    env: { MAILHORN_DATABASE_URL: 'postgres://nobody:x@127.0.0.1:9/none' },
  })
  assert.is(code, 1)
  assert.match(err, /^mailhorn: database "none" at 127\.0\.0\.1:9 as user "nobody" cannot be reached: /)
})

test.run()
