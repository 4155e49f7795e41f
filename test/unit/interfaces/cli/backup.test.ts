import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import { CURRENT_SCHEMA, snapshotName } from '../../../../src/store/opening/snapshots.ts'
import { postOver } from '../../../kit/mail.ts'
import { openSqliteStore, tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('cli: backups')
const SECRET = 'ab'.repeat(32)
const PASSPHRASE = 'correct horse battery staple'
const ATTACHMENT_BYTES = 100_000

/** A data folder with a database and a secret key, and the program with its settings. */
async function open(t: TestContext) {
  const store = await t.using(openSqliteStore())
  const post = postOver(store)
  const accountId = post.account()
  post.domain(accountId, 'here.test')
  const parent = (await t.using(tempFolder())).path
  const dataDir = dirname(store.file)
  writeFileSync(join(dataDir, 'secret.key'), SECRET)
  const settings = {
    ...{ databaseUrl: 'sqlite:test.db', passphrase: null as string | null, secretKey: null as string | null },
    dataDir,
  }
  const type = async (...args: string[]) => {
    let [out, err] = ['', '']
    const unused = () => assert.unreachable() as never
    const code = await runProgram(args, {
      ...{ version: '1.2.3', openInstallation: unused, checkSources: unused, zoneRecords: unused },
      ...{ sourceSettings: unused, examine: unused, examineHost: unused, interfaceAddresses: unused },
      ...{ ask: unused, say: unused, pause: unused, importSettings: unused, readInput: unused },
      backupSettings: (folder = settings.dataDir) => ({
        ...{ ...settings, dataDir: folder, version: '1.2.3', clock: post.clock },
        writerThread: new URL('../../../../src/workers/writer.ts', import.meta.url),
      }),
      out: text => {
        out += text
      },
      err: text => {
        err += text
      },
    })
    return { code, out, err }
  }
  const json = async (...args: string[]) => {
    const { code, out, err } = await type(...args, '--json')
    assert.is(code, 0, err || out)
    return JSON.parse(out)
  }
  /** Sends an email with an attachment that is stored as a file. @returns the name of the file */
  const send = async (...to: string[]) => {
    const content = randomBytes(ATTACHMENT_BYTES)
    await post.send(accountId, {
      to,
      attachments: [{ filename: 'a.bin', contentType: 'application/octet-stream', contentId: null, content }],
    })
    return createHash('sha256').update(content).digest('hex')
  }
  return { ...store, ...post, parent, dataDir, backups: join(parent, 'backups'), settings, type, json, send }
}

test('backup: what was written is counted, and a file that is lost is a failure', async t => {
  const { type, json, send, backups, dataDir, clock } = await open(t)
  await send('a@there.test')
  const first = await type('backup', backups)
  assert.is(first.code, 0, first.err)
  const [path, contents] = first.out.split('\n')
  assert.is(path, `Backup ${join(backups, '20261121T130000Z')}`)
  assert.match(contents!, /^Database: \d\.\d MB\. Files: 1 \(0\.1 MB\), 1 of them new\.$/)
  clock.advance(1_000)
  const lost = await send('b@there.test')
  const second = await json('backup', backups, '--keep', '1')
  assert.equal(
    [second.blobs, second.removed, second.lost_blobs],
    [{ count: 2, bytes: 2 * ATTACHMENT_BYTES, added: 1 }, [join(backups, '20261121T130000Z')], []],
  )
  clock.advance(1_000)
  const name = await send('c@there.test')
  rmSync(join(dataDir, 'blobs', name.slice(0, 2), name))
  const third = await type('backup', backups)
  assert.is(third.code, 1)
  assert.ok(
    third.out.includes(`File ${name} is missing in the data directory and not in the backup.`),
    third.out,
  )
  assert.not.ok(third.out.includes(lost))
})

for (const keep of ['0', '-1', '1.5', '10001', 'all'])
  test(`backup: it refuses to keep ${keep}`, async t => {
    const { type, backups } = await open(t)
    const { code, err } = await type('backup', backups, `--keep=${keep}`)
    assert.equal([code, err], [2, 'mailhorn: --keep must be a number from 1 to 10000\n'])
    assert.not.ok(existsSync(backups))
  })

test('backup: the greatest number to keep is accepted', async t => {
  const { json, backups } = await open(t)
  assert.equal((await json('backup', backups, '--keep', '10000')).removed, [])
})

test('backup: a secret key is included only where a file and a passphrase are', async t => {
  const { type, json, backups, settings, dataDir, parent } = await open(t)
  const secretly = () => type('backup', backups, '--with-secret-key')
  assert.match((await secretly()).err, /^mailhorn: --with-secret-key needs a passphrase: /)
  settings.passphrase = PASSPHRASE
  settings.secretKey = SECRET
  assert.match((await secretly()).err, /^mailhorn: the secret key is the setting secret_key /)
  settings.secretKey = null
  rmSync(join(dataDir, 'secret.key'))
  assert.is((await secretly()).err, `mailhorn: there is no ${join(dataDir, 'secret.key')}\n`)
  assert.not.ok(existsSync(backups))
  await json('backup', backups)
  const without = await json('verify', backups)
  assert.equal([without.has_secret_key, without.secret_key_opens], [false, false])
  assert.match((await type('verify', backups)).out, /^Secret key: not included\.$/m)
  const nothing = await type('backup', backups, '--data-dir', parent)
  assert.is(nothing.code, 1)
  assert.ok(nothing.err.startsWith(`mailhorn: no database in ${parent}: specify`), nothing.err)
})

test('verify: a sound backup is described, and each fault of a damaged one is a line', async t => {
  const { type, json, send, backups, settings } = await open(t)
  const name = await send('a@there.test')
  settings.passphrase = PASSPHRASE
  const { path } = await json('backup', backups, '--with-secret-key')
  const opened = await json('verify', backups)
  assert.equal(opened, {
    ...{ path, created_at: '2026-11-21T13:00:00.000Z', version: '1.2.3', has_secret_key: true },
    ...{ secret_key_opens: true, messages: { rebuilt: 1, proven: 0 }, faults: [] },
  })
  const told = await type('verify', path)
  assert.equal(told.out.split('\n').slice(2), [
    'Messages: 1 rebuilt, 0 equal to what was sent by their signatures.',
    'Secret key: opens.',
    'No faults.',
    '',
  ])
  settings.passphrase = null
  const closed = await type('verify', path)
  assert.equal(closed.out.split('\n').slice(2, 4), [
    'Messages: 1 rebuilt.',
    'Secret key: was not checked: set backup.passphrase.',
  ])
  assert.is((await json('verify', path)).secret_key_opens, false)
  damage(backups, name)
  const ill = await type('verify', path)
  assert.is(ill.code, 1)
  assert.match(ill.out, name)
  assert.not.match(ill.out, /No faults|rebuilt/)
})

test('restore: mail that was due is held, and the key comes with its passphrase', async t => {
  const { type, json, send, backups, settings, parent } = await open(t)
  settings.passphrase = PASSPHRASE
  await json('backup', backups, '--with-secret-key')
  const calm = await type('restore', backups, '--into', join(parent, 'calm'))
  assert.match(
    calm.out,
    /^The backup of 2026-11-21T13:00:00\.000Z was restored to .*calm\.\nNo mail was due\.$/m,
  )
  assert.match(calm.out, /^The secret key was restored\.$/m)
  assert.ok(existsSync(join(parent, 'calm', 'secret.key')))
  await send('a@there.test')
  await send('b@there.test', 'c@there.test')
  await json('backup', backups, '--with-secret-key')
  const dataDir = join(parent, 'several')
  const { held, ...rest } = await json('restore', backups, '--into', dataDir, '--without-secret-key')
  assert.equal([held.deliveries, held.emails, held.broadcast_ids], [3, 2, []])
  assert.equal(rest, {
    ...{ data_dir: dataDir, created_at: '2026-11-21T13:00:00.000Z' },
    ...{ secret_key_restored: false, skipped_blobs: [] },
  })
  assert.not.ok(existsSync(join(dataDir, 'secret.key')))
  settings.passphrase = null
  const closed = await type('restore', backups, '--into', join(parent, 'closed'))
  assert.is(closed.code, 1)
  assert.match(closed.err, /^mailhorn: the backup holds the secret key: set MAILHORN_BACKUP_PASSPHRASE/)
  assert.not.ok(existsSync(join(parent, 'closed')))
})

test('restore: damaged files are left out on request alone', async t => {
  const { type, send, json, backups, parent } = await open(t)
  const name = await send('a@there.test')
  await json('backup', backups)
  damage(backups, name)
  const into = join(parent, 'restored')
  const refused = await type('restore', backups, '--into', into)
  assert.equal([refused.code, readdirSync(into)], [1, []])
  assert.match(refused.err, `${name} is missing or damaged`)
  const { out } = await type('restore', backups, '--into', into, '--skip-damaged')
  assert.match(out, `File ${name} was left out.`)
  assert.match(out, /^The secret key is not in the backup: put secret\.key into the data directory/m)
})

test('restore: PostgreSQL has tools of its own', async t => {
  const { type, backups, settings } = await open(t)
  settings.databaseUrl = 'postgres://user:password@127.0.0.1:5432/mailhorn'
  const { code, err } = await type('restore', backups)
  assert.is(code, 1)
  assert.match(err, /^mailhorn: database\.url is PostgreSQL: restore its dump with pg_restore/)
})

test('restore: a snapshot becomes the database of a folder that has none, with the options of a snapshot', async t => {
  const { type, json, send, backups, dataDir, parent, clock } = await open(t)
  await send('a@there.test')
  const { path } = await json('backup', backups)
  const snapshots = join(parent, 'snapshots')
  mkdirSync(snapshots)
  const other = join(snapshots, snapshotName('001-schema', clock.now()))
  writeFileSync(other, '')
  const into = join(parent, 'again')
  const restore = (from: string, ...more: string[]) => type('restore', from, '--into', into, ...more)
  const alone = await restore(snapshots)
  assert.is(alone.code, 1)
  assert.ok(
    alone.err.startsWith(
      `mailhorn: ${snapshots} has no snapshot of the schema ${CURRENT_SCHEMA} of this version, only of 001-schema: `,
    ),
    alone.err,
  )
  const snapshot = join(snapshots, snapshotName(CURRENT_SCHEMA, clock.now()))
  copyFileSync(join(path, 'mailhorn.db'), snapshot)
  for (const option of ['--without-secret-key', '--skip-damaged']) {
    const { code, err } = await restore(snapshot, option)
    assert.equal(
      [code, err],
      [2, 'mailhorn: --without-secret-key and --skip-damaged are for backups, not for snapshots\n'],
    )
  }
  assert.is((await restore(snapshot)).err, `mailhorn: there is no data folder ${into}\n`)
  mkdirSync(into)
  const { out } = await restore(snapshots)
  assert.equal(
    [out.split('\n')[0], out.trimEnd().split('\n').at(-1)],
    [
      `The snapshot of 2026-11-21T13:00:00Z is the database of ${into} again.`,
      '1 stored file was deleted since.',
    ],
  )
  assert.match(out, /^1 delivery of 1 email that were due are on hold: .* since the snapshot\.$/m)
  assert.not.match(out, 'set aside')
  const twice = await type('restore', snapshot)
  assert.match(twice.err, /so that there is nothing to go back from/)
  assert.ok(existsSync(join(dataDir, 'test.db')))
  rmSync(join(into, 'test.db'))
  const { held, ...rest } = await json('restore', snapshot, '--into', into)
  assert.is(held.deliveries, 1)
  assert.equal(rest, {
    ...{ data_dir: into, created_at: '2026-11-21T13:00:00Z', schema: CURRENT_SCHEMA },
    ...{ set_aside: null, missing_blobs: 1 },
  })
})

/** Damages a file of the backups. */
function damage(backups: string, name: string) {
  const file = join(backups, 'blobs', name.slice(0, 2), name)
  rmSync(file) // it may be the file in use by another name
  writeFileSync(file, 'damaged')
}

test.run()
