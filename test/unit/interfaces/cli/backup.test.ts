import { createHash, randomBytes } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import { CURRENT_SCHEMA, snapshotName } from '../../../../src/store/opening/snapshots.ts'
import { S3_KEY, S3_REGION, type S3Call, startFakeS3 } from '../../../kit/fake-s3.ts'
import { postOver } from '../../../kit/mail.ts'
import { openSqliteStore, tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { until } from '../../../kit/until.ts'

const test = suite('cli: backups')
const SECRET = 'ab'.repeat(32)
const PASSPHRASE = 'correct horse battery staple'
const ATTACHMENT_BYTES = 100_000
/** It is uploaded in two parts. */
const LARGE_ATTACHMENT_BYTES = 9_000_000

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
    s3: {
      endpoint: null as string | null,
      region: 'test',
      accessKeyId: 'the key',
      secretAccessKey: 'the secret',
    },
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
  const sendOf = async (bytes: number, to: string[]) => {
    const content = randomBytes(bytes)
    await post.send(accountId, {
      to,
      attachments: [{ filename: 'a.bin', contentType: 'application/octet-stream', contentId: null, content }],
    })
    return createHash('sha256').update(content).digest('hex')
  }
  const send = Object.assign((...to: string[]) => sendOf(ATTACHMENT_BYTES, to), {
    large: (...to: string[]) => sendOf(LARGE_ATTACHMENT_BYTES, to),
  })
  return { ...store, ...post, parent, dataDir, backups: join(parent, 'backups'), settings, type, json, send }
}

test('backup: what was written is counted, and a file that is lost is a failure', async t => {
  const { type, json, send, backups, dataDir, clock } = await open(t)
  await send('a@there.test')
  const first = await type('backup', backups)
  assert.is(first.code, 0, first.err)
  const [path, contents, key] = first.out.split('\n')
  assert.is(path, `Backup ${join(backups, '20261121T130000Z')}`)
  assert.match(contents!, /^Database: \d\.\d MB\. Files: 1 \(0\.1 MB\), 1 of them new\.$/)
  assert.is(key, 'Secret key: not included. Copy secret.key to a safe place, or use --with-secret-key.')
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
  assert.equal(
    readdirSync(join(parent, 'calm')).filter(name => /restoring|-wal|-shm/.test(name)),
    [],
  )
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

test('restore: the backup of a SQLite database does not go into PostgreSQL', async t => {
  const { type, send, json, backups, settings } = await open(t)
  await send('a@there.test')
  await json('backup', backups)
  settings.databaseUrl = 'postgres://user:password@127.0.0.1:5432/mailhorn'
  const { code, err } = await type('restore', backups)
  assert.is(code, 1)
  assert.match(
    err,
    /^mailhorn: \S+ is the backup of a SQLite database, and database\.url is PostgreSQL: remove that setting/,
  )
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

/** Backups to a bucket of a store on loopback. */
async function openWithBucket(t: TestContext) {
  const store = await t.using(startFakeS3())
  const opened = await open(t)
  Object.assign(opened.settings.s3, { ...S3_KEY, endpoint: store.url, region: S3_REGION })
  const manifests = () => [...store.objects.keys()].filter(key => key.endsWith('/manifest.json'))
  return { ...opened, store, manifests }
}

const BUCKET = 's3://backups/mail/one'

test('backup to S3: only what is new is uploaded, the manifest last, and old backups are removed', async t => {
  const { type, json, send, store, manifests, clock, settings, parent } = await openWithBucket(t)
  settings.passphrase = PASSPHRASE
  const large = await send.large('a@there.test')
  const small = await send('b@there.test')
  const first = await json('backup', `${BUCKET}/`, '--with-secret-key')
  assert.equal([first.path, first.blobs.added], [`${BUCKET}/20261121T130000Z`, 2])
  assert.equal(
    [...store.objects.keys()].sort(),
    [
      ...['blobs.sha256', 'mailhorn.db', 'manifest.json', 'secret.key.sealed'].map(
        name => `mail/one/20261121T130000Z/${name}`,
      ),
      ...[large, small].sort().map(name => `mail/one/blobs/${name.slice(0, 2)}/${name}`),
    ].sort(),
  )
  const stored = () => store.calls.filter(({ method, key }) => method === 'PUT' && !key.endsWith('lock'))
  assert.is(stored().at(-1)!.key, 'mail/one/20261121T130000Z/manifest.json')
  assert.ok(
    stored().every(({ body }) => body.length <= 8 * 1024 * 1024),
    'memory is bounded',
  )
  const before = stored().length
  clock.advance(1_000)
  const second = await json('backup', BUCKET, '--with-secret-key', '--keep', '1')
  assert.equal([second.blobs.added, second.removed], [0, [first.path]])
  assert.ok(
    stored()
      .slice(before)
      .every(({ key }) => !key.includes('/blobs/')),
  )
  assert.equal(manifests(), ['mail/one/20261121T130001Z/manifest.json'])
  const verified = await json('verify', BUCKET)
  assert.equal([verified.path, verified.faults, verified.secret_key_opens], [second.path, [], true])
  assert.is(verified.messages.rebuilt, 2)
  const into = join(parent, 'restored')
  const { held, secret_key_restored } = await json('restore', second.path, '--into', into)
  assert.equal([held.deliveries, secret_key_restored], [2, true])
  assert.is(statSync(join(into, 'blobs', large.slice(0, 2), large)).size, LARGE_ATTACHMENT_BYTES)
  const none = await type('restore', first.path, '--into', join(parent, 'none'))
  assert.match(none.err, /^mailhorn: s3:\S+ is not complete, or not there: it has no manifest\.json\n$/)
})

test('backup to S3: a file that no backup names is removed', async t => {
  const { json, store } = await openWithBucket(t)
  const name = 'ab'.repeat(32)
  store.objects.set(`mail/one/blobs/ab/${name}`, Buffer.from('left'))
  store.objects.set('mail/one/notes.txt', Buffer.from('of somebody else'))
  await json('backup', BUCKET)
  assert.not.ok(store.objects.has(`mail/one/blobs/ab/${name}`))
  assert.ok(store.objects.has('mail/one/notes.txt'))
})

const REPLIES: [name: string, status: number, code: string, line: RegExp][] = [
  [
    'a wrong key',
    403,
    'InvalidAccessKeyId',
    /the store refuses the key .*: correct backup\.s3\.access_key_id and/,
  ],
  ['a key without rights', 403, 'AccessDenied', /denies the key this request .*: let it list the bucket/],
  ['a missing bucket', 404, 'NoSuchBucket', /there is no such bucket: create it, or correct the name/],
  ['another region', 301, 'PermanentRedirect', /in another region: set backup\.s3\.region to there-2$/m],
  ['a full store', 507, 'XMinioStorageFull', /the store is full .*: free some, keep fewer backups/],
  ['a wrong clock', 403, 'RequestTimeTooSkewed', /the clock of this machine or of the store is wrong/],
]
for (const [name, status, code, line] of REPLIES)
  test(`backup to S3: ${name} is one line, and the former backup stays`, async t => {
    const { type, json, store, manifests, clock, settings } = await openWithBucket(t)
    await json('backup', BUCKET)
    const [former] = manifests()
    clock.advance(1_000)
    store.instead = ({ method, key }) =>
      method === 'PUT' && key.endsWith('.db') ? { status, code, region: 'there-2' } : undefined
    const { code: exit, err } = await type('backup', BUCKET)
    assert.is(exit, 1)
    assert.match(err, line)
    assert.match(err, /^mailhorn: the backup to s3:\/\/backups\/mail\/one failed: [^\n]+\n$/)
    assert.equal(manifests(), [former])
    const left = readdirSync(join(settings.dataDir, 'backup-upload'), { recursive: true })
    assert.not(
      left.some(file => String(file).endsWith('.db')),
      `${left}`,
    )
    store.instead = () => undefined
    assert.equal((await json('verify', BUCKET)).faults, [])
  })

test('backup to S3: a wrong secret, no key and a wrong address are one line', async t => {
  const { type, settings } = await openWithBucket(t)
  settings.s3.secretAccessKey = 'another'
  assert.match(
    (await type('backup', BUCKET)).err,
    /^mailhorn: .* the store refuses the key \(.*SignatureDoes/,
  )
  assert.match(
    (await type('verify', BUCKET)).err,
    /^mailhorn: s3:\S+ cannot be read: the store refuses the key/,
  )
  settings.s3.secretAccessKey = null as never
  assert.is(
    (await type('backup', BUCKET)).err,
    `mailhorn: ${BUCKET} needs backup.s3.secret_access_key: set MAILHORN_BACKUP_S3_SECRET_ACCESS_KEY\n`,
  )
  for (const address of ['s3://', 's3://Upper', 's3://backups/a b', 's3://backups/../x', 's3://backups//x'])
    assert.match((await type('backup', address)).err, /^mailhorn: s3:.* must be s3:\/\/bucket or/, address)
})

test('backup to S3: a lost connection is tried again, and after four times it is a failure', async t => {
  const { type, json, send, store, manifests, clock } = await openWithBucket(t)
  await send.large('a@there.test')
  /** Waits for the end of a command, and moves the clock over its pauses. */
  const passing = async <T>(run: Promise<T>): Promise<T> => {
    let end: { value: T } | undefined
    const ended = run.then(value => {
      end = { value }
    })
    await until(() => {
      clock.advance(1_000)
      return end
    })
    await ended
    return end!.value
  }
  let breaks = 2
  store.instead = ({ query }) => (query.get('partNumber') === '2' && breaks-- > 0 ? 'break' : undefined)
  await passing(json('backup', BUCKET))
  assert.is(breaks, -1)
  const former = manifests()
  await send.large('b@there.test')
  store.instead = ({ query }) => (query.get('partNumber') === '2' ? 'break' : undefined)
  const { code, err } = await passing(type('backup', BUCKET))
  assert.is(code, 1)
  assert.match(
    err,
    /failed: the store cannot be reached \(.*\): check backup\.s3\.endpoint and the network\n$/,
  )
  assert.equal([manifests(), store.uploads.size], [former, 0])
})

test('backup to S3: what another data folder is backing up stays', async t => {
  const { type, json, store, clock } = await openWithBucket(t)
  const lock = (holder: string, at = clock.now()) =>
    store.objects.set(
      'mail/one/lock',
      Buffer.from(JSON.stringify({ holder, at: new Date(at).toISOString() })),
    )
  lock('another')
  store.objects.set('mail/one/20261121T120000Z/mailhorn.db', Buffer.from('half'))
  const { code, err } = await type('backup', BUCKET)
  assert.is(code, 1)
  assert.match(err, /^mailhorn: another data folder is making a backup to s3:\S+: give each its own prefix/)
  assert.ok(store.objects.has('mail/one/20261121T120000Z/mailhorn.db'))
  lock('another', clock.now() - 25 * 3_600_000)
  await json('backup', BUCKET)
  assert.not.ok(store.objects.has('mail/one/lock'))
  assert.not.ok(store.objects.has('mail/one/20261121T120000Z/mailhorn.db'), 'an incomplete backup is removed')
})

test('backup to S3: a store that refuses conditional requests holds the lock, too', async t => {
  const { json, send, store } = await openWithBucket(t)
  await send.large('a@there.test')
  store.instead = ({ headers }) =>
    headers['if-none-match'] === undefined ? undefined : { status: 501, code: 'NotImplemented' }
  await json('backup', BUCKET)
  const isLock = ({ method, key }: S3Call) => method === 'PUT' && key.endsWith('/lock')
  const { holder } = JSON.parse(`${store.calls.filter(isLock).at(-1)!.body}`)
  assert.ok(holder)
  assert.not.ok(store.objects.has('mail/one/lock'), 'it is released')
  assert.equal((await json('verify', BUCKET)).faults, [])
})

test('verify: each fault of a backup in S3 is a line', async t => {
  const { type, json, send, store } = await openWithBucket(t)
  const [one, other] = [await send('a@there.test'), await send('b@there.test')]
  const { path } = await json('backup', BUCKET)
  const key = (name: string) => `mail/one/blobs/${name.slice(0, 2)}/${name}`
  store.objects.delete(key(one))
  store.objects.set(key(other), Buffer.alloc(ATTACHMENT_BYTES))
  const { code, out } = await type('verify', BUCKET)
  assert.is(code, 1)
  assert.equal(
    out.trim().split('\n').sort(),
    [
      `s3://backups/${key(one)} is missing`,
      `s3://backups/${key(other)} is damaged: its SHA-256 is not its name`,
    ].sort(),
  )
  store.objects.set(`${path.slice('s3://backups/'.length)}/mailhorn.db`, Buffer.from('not a database'))
  assert.match((await type('verify', path)).out, /^s3:\S+\/mailhorn\.db has 14 bytes, and \d+ were written$/m)
})

/** Damages a file of the backups. */
function damage(backups: string, name: string) {
  const file = join(backups, 'blobs', name.slice(0, 2), name)
  rmSync(file) // it may be the file in use by another name
  writeFileSync(file, 'damaged')
}

test.run()
