import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { commandsFor, folder, PASSPHRASE, sendEmail, startScene } from '../kit/backups.ts'
import { mailhornCommand } from '../kit/command-line.ts'
import { SQLITE_ONLY } from '../kit/database.ts'
import { runProgram, startProgram } from '../kit/process.ts'
import { suite, type TestContext } from '../kit/suite.ts'
import { until } from '../kit/until.ts'

const test = suite('mailhorn restore', { limitMs: 300_000 })
const HOUR_MS = 3_600_000
const env = { MAILHORN_BACKUP_PASSPHRASE: PASSPHRASE }

/** A backup with two emails that are due, one of which is delivered afterwards, and one that is scheduled. */
async function backedUp(t: TestContext) {
  const scene = await startScene(t, { ROLES: 'api' })
  const { program, token, send, done, backups } = scene
  const due = [await send(), await send()]
  const scheduledAt = new Date(Date.now() + HOUR_MS).toISOString()
  const scheduled = await sendEmail(program, token, Buffer.from('small'), { scheduled_at: scheduledAt })
  const { path } = await done(['backup', backups, '--with-secret-key'], { env })
  return { ...scene, due, scheduled, path }
}

test(
  'what was due stays on hold until it is released, and new mail is sent',
  async t => {
    const { due, scheduled, path, parent, token, program } = await backedUp(t)
    await program.end('SIGTERM')
    const dataDir = join(parent, 'restored')
    const { type, done } = commandsFor(dataDir)
    const restored = await done(['restore', path], { env })
    assert.equal(
      [
        restored.held.deliveries,
        restored.held.emails,
        restored.held.broadcast_ids,
        restored.secret_key_restored,
      ],
      [2, 2, [], true],
    )
    assert.is(statSync(dataDir).mode & 0o777, 0o700)
    assert.equal(
      readdirSync(dataDir, { recursive: true, withFileTypes: true })
        .filter(entry => entry.isFile() && (statSync(join(entry.parentPath, entry.name)).mode & 0o077) !== 0)
        .map(({ name }) => name),
      [],
    )
    assert.equal(
      readdirSync(dataDir).filter(name => name.includes('restoring')),
      [],
    )
    const before = restored.held.entered_before as string
    const holds = await type(['queue', 'holds'])
    assert.match(
      holds.out,
      new RegExp(
        `^entered before ${before} .* restored from the backup of .*; may have been sent since$`,
        'm',
      ),
    )

    const again = await t.using(startProgram({ dataDir }))
    const statusOf = async (id: string) =>
      (await again.call('GET', `/emails/${id}`, { token })).body.last_event as string
    const fresh = await sendEmail(again, token, Buffer.from('small'))
    await until(async () => (await statusOf(fresh)) === 'delivered')
    await until(async () => (await done(['queue'])).held === 2)
    assert.equal(await Promise.all(due.map(statusOf)), ['queued', 'queued'])
    const { body } = await again.call('GET', `/emails/${due[0]}`, { token })
    assert.match(body.explanation.summary, /held|hold/i)
    assert.is(await statusOf(scheduled), 'scheduled')
    await done(['queue', 'cancel', '--email', due[1]!])
    await done(['queue', 'release', '--entered-before', before])
    await until(async () => (await statusOf(due[0]!)) === 'delivered')
    assert.is(await statusOf(due[1]!), 'canceled')
    assert.equal(await done(['queue', 'holds']), [])
    const doctor = await type(['verify', path], { env })
    assert.is(doctor.code, 0, doctor.out)
  },
  SQLITE_ONLY,
)

test(
  'it refuses a folder in use or with contents, a wrong passphrase and a damaged backup, and leaves nothing',
  async t => {
    const { path, parent, backups, dataDir: inUse } = await backedUp(t)
    const dataDir = join(parent, 'restored')
    const type = (args: readonly string[], more = {}) => mailhornCommand(args, { dataDir, env, ...more })
    const used = await type(['restore', path, '--into', inUse])
    assert.is(used.code, 1)
    assert.match(
      used.err,
      /^mailhorn: \S+data is not empty \(it holds .*\): stop the service, and move the folder away/,
    )
    const unopened = await type(['restore', path], { env: {} })
    assert.match(
      unopened.err,
      /^mailhorn: the backup holds the secret key: set MAILHORN_BACKUP_PASSPHRASE or/,
    )
    const wrong = await type(['restore', path], { env: { MAILHORN_BACKUP_PASSPHRASE: 'another passphrase' } })
    assert.match(
      wrong.err,
      /the passphrase \(backup\.passphrase\) does not open the secret key of the backup/,
    )
    assert.not.ok(existsSync(dataDir))

    const [inner] = readdirSync(join(backups, 'blobs'))
    const [blob] = readdirSync(join(backups, 'blobs', inner!))
    const file = join(backups, 'blobs', inner!, blob!)
    rmSync(file) // it may be the file in use by another name
    writeFileSync(file, 'damaged')
    const damaged = await type(['restore', path])
    assert.is(damaged.code, 1)
    assert.ok(
      damaged.err.includes(`${blob} is missing or damaged: use another backup, or restore`),
      damaged.err,
    )
    assert.equal(readdirSync(dataDir), [])
    const skipped = await type(['restore', path, '--skip-damaged', '--without-secret-key'])
    assert.is(skipped.code, 0, skipped.err)
    assert.ok(skipped.out.includes(`File ${blob} was left out.`), skipped.out)
    assert.ok(skipped.out.includes('put secret.key into the data directory'), skipped.out)
    const keyless = await runProgram({ dataDir })
    assert.match(keyless.output, /secret\.key is missing/)
    writeFileSync(join(dataDir, 'secret.key'), readFileSync(join(inUse, 'secret.key')), { mode: 0o600 })
    await t.using(startProgram({ dataDir }))
  },
  SQLITE_ONLY,
)

test(
  'a service does not start where a restore was interrupted',
  async t => {
    const dataDir = join(folder(t), 'restored')
    mkdirSync(dataDir)
    writeFileSync(join(dataDir, 'mailhorn.db.restoring'), '')
    const { code, output } = await runProgram({ dataDir })
    assert.is(code, 1)
    assert.match(
      output,
      /a restore into \S+restored was interrupted: empty the folder, and run `mailhorn restore` again/,
    )
    assert.equal(readdirSync(dataDir), ['mailhorn.db.restoring'])
  },
  SQLITE_ONLY,
)

test.run()
