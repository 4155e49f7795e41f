import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { sharedDoctorRun } from '../../../../src/app/doctor.ts'
import { certificate, givenCertificate } from '../../../../src/interfaces/doctor/certificate.ts'
import {
  type Examination,
  examineAll,
  good,
  unknownFinding,
} from '../../../../src/interfaces/doctor/finding.ts'
import { diskSpace, diskSync, filePermissions, openFiles } from '../../../../src/interfaces/doctor/machine.ts'
import { wallClock } from '../../../../src/interfaces/doctor/wall-clock.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createOutbound } from '../../../../src/protocols/http-client/outbound.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { certificateFiles, testCertificate } from '../../../kit/tls.ts'
import { startWebHost } from '../../../kit/web-host.ts'

const test = suite('doctor: the machine')
const look = ({ examine }: Examination) => examine(new AbortController().signal)
const statuses = async (examination: Examination) => (await look(examination)).map(({ status }) => status)
const DAY_MS = 86_400_000

test('disk: free space and sync latency are measured without leaving files', async t => {
  const { path: folder } = await t.using(tempFolder())
  const [space] = await look(diskSpace({ folder, clock: systemClock }))
  assert.match(space!.message, /^\d+ MB of \d+ MB are free\.$/)
  const [sync] = await look(diskSync({ folder, clock: systemClock }))
  assert.match(sync!.message, /^fsync latency is \d+\.\d ms \(median\)\.$/)
  assert.equal(readdirSync(folder), [])
  const slow = {
    ...systemClock,
    monotonic: (() => {
      let at = 0
      return () => (at += 150)
    })(),
  }
  assert.equal(await statuses(diskSync({ folder, clock: slow })), ['warning'])
})

test('open files limit: sufficient and insufficient limits', async () => {
  const facts = { limit: 1_024, wanted: 1_000, allowed: 190, requests: 100 }
  assert.equal(await statuses(openFiles({ ...facts, allowed: 1_000 })), ['ok'])
  assert.equal(await statuses(openFiles({ ...facts, limit: undefined })), ['unknown'])
  const [few] = await look(openFiles(facts))
  assert.is(few!.status, 'warning')
  assert.match(few!.message, /limit is 1024: .* 190 concurrent deliveries .* 100 connections/)
  assert.match(few!.advice!, /LimitNOFILE/)
})

test('data folder permissions: private, listable and readable by others', async t => {
  const { path: dataDir } = await t.using(tempFolder())
  const databaseFile = join(dataDir, 'mailhorn.db')
  writeFileSync(databaseFile, '', { mode: 0o600 })
  const of = async (folderMode: number, fileMode: number) => {
    chmodSync(dataDir, folderMode)
    chmodSync(databaseFile, fileMode)
    const [finding] = await look(
      filePermissions({ dataDir, blobFolder: join(dataDir, 'blobs'), databaseFile }),
    )
    return finding!
  }
  assert.is((await of(0o700, 0o600)).status, 'ok')
  assert.is((await of(0o700, 0o644)).status, 'ok', 'nobody gets to the file')
  const listed = await of(0o755, 0o600)
  assert.is(listed.status, 'warning')
  assert.match(listed.advice!, `chmod 700 ${dataDir}`)
  const read = await of(0o750, 0o640)
  assert.is(read.status, 'failed')
  assert.match(read.message, databaseFile)
  assert.match(read.advice!, `chmod go-rwx ${databaseFile}`)
  const nowhere = join(dataDir, 'none')
  const none = filePermissions({
    dataDir: nowhere,
    blobFolder: join(nowhere, 'blobs'),
    databaseFile: undefined,
  })
  assert.equal(await statuses(none), ['unknown'])
})

test('ACME certificate: an error of the next order is reported', async () => {
  const of = (row: { chain: string | null; fault: string | null } | undefined) =>
    statuses(
      givenCertificate({
        find: async () => row && { ...row, nextAt: 0 },
        mailHost: 'mx.test',
        clock: systemClock,
      }),
    )
  const { cert: chain } = testCertificate('good')
  assert.equal(await of(undefined), ['warning'])
  assert.equal(await of({ chain: null, fault: 'rateLimited' }), ['failed'])
  assert.equal(await of({ chain, fault: null }), ['ok'])
  assert.equal(await of({ chain, fault: 'rateLimited' }), ['ok', 'failed'])
})

test('certificate: valid, expiring, expired, wrong name or missing', async t => {
  const { path } = await t.using(tempFolder())
  const file = (name: Parameters<typeof testCertificate>[0]) => {
    writeFileSync(join(path, name), testCertificate(name).cert)
    return join(path, name)
  }
  const clock = createManualClock()
  const of = (
    certFile: string,
    { mailHost = 'mx.test', keyFile = certificateFiles.key as string | null, at = clock } = {},
  ) => statuses(certificate({ certFile, keyFile, mailHost, clock: at }))
  assert.equal(await of(file('good')), ['ok'])
  assert.equal(await of(file('good'), { mailHost: 'mail.elsewhere.org' }), ['ok', 'warning'])
  assert.equal(await of(file('expired')), ['failed'])
  assert.equal(await of(file('good'), { keyFile: join(path, 'none') }), ['ok', 'failed'])
  assert.equal(await of(file('good'), { at: createManualClock(Date.UTC(2125, 0, 1) + 400 * DAY_MS) }), [
    'failed',
  ])
  assert.equal(await of(join(path, 'none')), ['failed'])
  writeFileSync(join(path, 'text'), 'hello')
  assert.equal(await of(join(path, 'text')), ['failed'])
})

async function clockLook(t: TestContext, offMs: number, date?: string) {
  const real = systemClock
  const host = await t.using(
    startWebHost({
      certificate: null,
      answer: (_, response) =>
        void response.writeHead(200, { date: date ?? new Date(real.now() - offMs).toUTCString() }).end('x'),
    }),
  )
  const resolver = {
    addresses4: async () => ({ kind: 'no-data' as const }),
    addresses6: async () => ({ kind: 'no-data' as const }),
  }
  const outbound = createOutbound({ resolver, clock: real, allowInsecureLoopback: true })
  t.after(() => outbound.close())
  const [finding] = await look(wallClock({ outbound, clock: real, url: `http://127.0.0.1:${host.port}/` }))
  return finding!
}

test('clock: it is compared with a Date header', async t => {
  assert.is((await clockLook(t, 0)).status, 'ok')
  const ahead = await clockLook(t, 60_000)
  assert.is(ahead.status, 'warning')
  assert.match(ahead.message, /s ahead of 127/)
  const behind = await clockLook(t, -3_600_000)
  assert.is(behind.status, 'failed')
  assert.match(behind.message, /s behind 127/)
  assert.is((await clockLook(t, 0, 'noon')).status, 'unknown')
})

test('report: checks run concurrently, errors and timeouts are findings, and the worst status counts', async () => {
  const clock = createManualClock()
  const over: boolean[] = []
  const examinations: Examination[] = [
    { check: 'a', examine: async () => [good('a', null, 'fine')] },
    { check: 'b', examine: async () => Promise.reject(new Error('broken')) },
    {
      check: 'c',
      examine: signal => new Promise(() => signal.addEventListener('abort', () => over.push(true))),
    },
  ]
  const running = examineAll(examinations, clock)
  await settled()
  clock.advance(20_000)
  const report = await running
  assert.equal(report.findings, [
    good('a', null, 'fine'),
    unknownFinding('b', null, 'The check failed: broken.'),
    unknownFinding('c', null, 'The check timed out after 20 s.'),
  ])
  assert.equal([report.status, report.took_ms, over], ['unknown', 20_000, [true]])
  assert.is((await examineAll([examinations[0]!], clock)).status, 'ok')
  assert.is(clock.timerCount, 0)
})

test('report: concurrent requests share one run, which is repeated later', async () => {
  const clock = createManualClock()
  let count = 0
  const examine = sharedDoctorRun(async () => {
    if (++count === 3) throw new Error('broken')
    return examineAll([], clock)
  }, clock)
  assert.is((await Promise.all([examine(), examine(), examine()])).length, 3)
  await examine()
  assert.is(count, 1)
  clock.advance(30_000)
  await examine()
  assert.is(count, 2)
  clock.advance(30_000)
  assert.is(await examine().catch(error => error.message), 'broken')
  await examine()
  assert.is(count, 4)
})

test.run()
