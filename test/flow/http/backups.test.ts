import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { findBackup, listBackups } from '../../../src/store/backup/layout.ts'
import { verifyBackup } from '../../../src/store/backup/verify.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'

const test = suite('backups on a schedule')
const HOUR_MS = 3_600_000
/** Step by which the clock goes on while the test waits, so that the service looks at its schedule. */
const STEP_MS = 5_000
const PASSPHRASE = 'correct horse battery staple'

/** A service that backs itself up, and keeps two backups. */
async function start(t: TestContext, env: Record<string, string> = {}) {
  const parent = mkdtempSync(join(tmpdir(), 'mailhorn-scheduled-'))
  t.after(() => rmSync(parent, { recursive: true }))
  const folder = join(parent, 'backups')
  const mailhorn = await t.using(
    startMailhorn({
      env: {
        MAILHORN_BACKUP_FOLDER: folder,
        MAILHORN_BACKUP_EVERY_HOURS: '6',
        MAILHORN_BACKUP_KEEP: '2',
        ...env,
      },
    }),
  )
  const session = await mailhorn.signIn()
  return {
    ...{ mailhorn, folder },
    /** Resolves with the names of the backups once the newest is another one. */
    next: (before?: string) =>
      until(() => {
        mailhorn.clock.advance(STEP_MS)
        const names = listBackups(folder).map(({ name }) => name)
        return names.length > 0 && names.at(-1) !== before ? names : undefined
      }),
    alerts: async () => {
      const { body } = await mailhorn.call('GET', '/alerts', { session })
      return body.data.filter(({ kind }: { kind: string }) => kind === 'backup')
    },
    /** Resolves with the finding of the doctor once a backup is complete, and its process has ended. */
    made: () =>
      until(async () => {
        mailhorn.clock.advance(STEP_MS)
        const { body } = await mailhorn.call('GET', '/doctor', { session })
        const found = body.findings.find(({ check }: { check: string }) => check === 'backup')
        return found.status === 'ok' ? found : undefined
      }),
  }
}

test('the service backs itself up at each time, and removes old backups', async t => {
  const { mailhorn, folder, next, made } = await start(t)
  const [first] = await next()
  const id = await mailhorn.send({
    from: 'ann@here.example',
    to: 'delivered@simulator.test',
    subject: 'hi',
    text: 'hello',
  })
  await mailhorn.emailWhen(id, 'delivered')
  mailhorn.clock.advance(6 * HOUR_MS)
  const [, second] = await next(first)
  mailhorn.clock.advance(6 * HOUR_MS)
  await next(second)
  const names = await until(() => {
    const left = listBackups(folder).map(({ name }) => name)
    return left.length === 2 ? left : undefined
  })
  assert.not.ok(names.includes(first!))
  assert.equal((await verifyBackup(findBackup(folder), null)).faults, [])
  const { message } = await made()
  assert.match(message, /^The last backup was made \d+ (?:minute|hour)s? ago\.$/)
})

test('with a passphrase, backups have the secret key', async t => {
  const { folder, next } = await start(t, { MAILHORN_BACKUP_PASSPHRASE: PASSPHRASE })
  await next()
  const { faults, secret } = await verifyBackup(findBackup(folder), PASSPHRASE)
  assert.equal([faults, secret !== null], [[], true])
})

test('a backup that fails is an alert, which lasts until one is made', async t => {
  const { mailhorn, folder, next, alerts, made } = await start(t)
  await next()
  await made()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'in the way')
  mailhorn.clock.advance(6 * HOUR_MS)
  const [alert] = await until(async () => {
    mailhorn.clock.advance(STEP_MS)
    const active = (await alerts()).filter((one: { active: boolean }) => one.active)
    return active.length > 0 ? active : undefined
  })
  assert.is(alert.provider, folder)
  assert.match(alert.reply, /^The scheduled backup failed at .*Z: the backup to .* failed: /)
  rmSync(folder)
  await until(async () => {
    mailhorn.clock.advance(STEP_MS)
    return (await alerts()).every((one: { active: boolean }) => !one.active)
  })
  assert.is(listBackups(folder).length, 1)
})

const ABOUT_BACKUP = /^Subject: Mailhorn needs attention: The scheduled backup failed/m

test('a backup that fails is mailed to operators through the smart host of alerts, when no domain can send', async t => {
  const smartHost = await t.using(startFakeMx({ host: '127.0.0.2' }))
  const { mailhorn, folder, next, made } = await start(t, {
    MAILHORN_ALERTS_SMART_HOST: `smtp://127.0.0.2:${smartHost.port}?tls=opportunistic`,
    MAILHORN_NOTICES_FROM: 'alerts@elsewhere.example',
  })
  await next()
  await made()
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'in the way')
  mailhorn.clock.advance(6 * HOUR_MS)
  // a busy machine has alerts of its own
  const taken = await until(() => {
    mailhorn.clock.advance(STEP_MS)
    return smartHost.messages.find(({ headers }) => ABOUT_BACKUP.test(headers))
  })
  assert.equal([taken.mailFrom, taken.rcptTo], ['alerts@elsewhere.example', [mailhorn.admin.email]])
  assert.is(mailhorn.rows('select id from emails').length, 0)
})

test('operators list the backups, make one beside the schedule, and check one', async t => {
  const { mailhorn, folder, next, made } = await start(t)
  const session = await mailhorn.signIn()
  const view = async () => (await mailhorn.call('GET', '/installation/backups', { session })).body
  const act = async (what: string, body?: object) =>
    (await mailhorn.call('POST', `/installation/backups/${what}`, { session, body })).body
  const [first] = await next()
  await made()
  const before = await view()
  assert.equal([before.folder, before.every_hours, before.keep, before.failure], [folder, 6, 2, null])
  assert.equal(
    before.data.map(({ name }: { name: string }) => name),
    [first],
  )
  assert.ok(before.data[0].database_bytes > 0)
  assert.is(before.data[0].secret_key, false)
  assert.ok(Date.parse(before.next_at) > mailhorn.clock.now())
  assert.is(before.last.folder, folder)
  assert.equal(await act('run'), { object: 'backup_run', started: true, reason: null })
  const [, second] = await next(first)
  const { started } = await act('verify', { name: second })
  assert.is(started, true)
  const checked = async (name: string) =>
    until(async () => {
      const { verification } = await view()
      return verification.name === name && verification.faults ? verification.faults : undefined
    })
  assert.equal(await checked(second!), [])
  writeFileSync(join(folder, first!, 'blobs.sha256'), 'other')
  await act('verify', { name: first })
  assert.match((await checked(first!)).join(), /blobs\.sha256/)
  await act('verify', { name: '20200101T000000Z' })
  assert.match((await checked('20200101T000000Z')).join(), /there is no folder/)
  const refused = await mailhorn.call('POST', '/installation/backups/verify', {
    ...{ session, body: { name: '../../etc' } },
  })
  assert.equal([refused.status, refused.body.errors[0].path], [422, 'name'])
})

test('without a place of backups, none is made at an operator’s wish, and the reply names the setting', async t => {
  const mailhorn = await t.using(startMailhorn())
  const session = await mailhorn.signIn()
  const { body } = await mailhorn.call('GET', '/installation/backups', { session })
  assert.equal([body.folder, body.data, body.next_at, body.last], [null, [], null, null])
  const { body: run } = await mailhorn.call('POST', '/installation/backups/run', { session })
  assert.is(run.started, false)
  assert.match(run.reason, /backup\.folder/)
})

test.run()
