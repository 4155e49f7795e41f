import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { sharedDoctorRun } from '../../../../src/app/doctor.ts'
import { certificate, givenCertificate } from '../../../../src/interfaces/doctor/certificate.ts'
import {
  type DoctorFinding,
  type Examination,
  examineAll,
  good,
  unknownFinding,
} from '../../../../src/interfaces/doctor/finding.ts'
import {
  diskSpace,
  diskSync,
  filePermissions,
  openFiles,
  serviceState,
} from '../../../../src/interfaces/doctor/machine.ts'
import { mtaSts } from '../../../../src/interfaces/doctor/mta-sts.ts'
import { backgroundTasks } from '../../../../src/interfaces/doctor/tasks.ts'
import { wallClock } from '../../../../src/interfaces/doctor/wall-clock.ts'
import { systemClock } from '../../../../src/lib/clock.ts'
import { createOutbound } from '../../../../src/protocols/http-client/outbound.ts'
import { createManualClock, settled } from '../../../kit/manual-clock.ts'
import { tempFolder } from '../../../kit/store.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'
import { certificateFiles, testCertificate } from '../../../kit/tls.ts'
import { startWebHost } from '../../../kit/web-host.ts'

const test = suite('doctor: the machine')
const poll = ({ examine }: Examination) => examine(new AbortController().signal)
const statuses = async (examination: Examination) => (await poll(examination)).map(({ status }) => status)
const DAY_MS = 86_400_000

test('service: a mode other than the normal one is a warning with its reason', async () => {
  const mode = { mode: 'draining', since: 0, reason: 'move' } as const
  const [finding] = await poll(serviceState({ isRunning: true, version: '1.2.3', folder: '/data', mode }))
  assert.equal(
    [finding!.status, finding!.message],
    ['warning', 'Version 1.2.3 is running and is draining, so it accepts no new email. Reason: move.'],
  )
})

test('service: whether it runs with the data folder is said first', async () => {
  const of = async (isRunning: boolean) => {
    const [finding] = await poll(
      serviceState({ isRunning, version: '1.2.3', folder: '/data', mode: undefined }),
    )
    return [finding!.status, finding!.subject, finding!.message]
  }
  assert.equal(await of(true), ['ok', '/data', 'Version 1.2.3 is running.'])
  assert.equal(await of(false), [
    'warning',
    '/data',
    'No service is running with this data folder. The checks use the settings of this command.',
  ])
})

test('disk: free space and sync latency are measured without leaving files', async t => {
  const { path: folder } = await t.using(tempFolder())
  const [space] = await poll(diskSpace({ folder }))
  assert.match(space!.message, /^[\d.]+ [MG]B of [\d.]+ [MG]B free \(\d+ %\)\.$/)
  const [sync] = await poll(diskSync({ folder, clock: systemClock }))
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

const MB_BYTES = 1024 * 1024
for (const [freeMb, sizeMb, status, text] of [
  [0, 1_000, 'failed', '0 MB of 1000 MB free (0 %).'],
  [199, 10_000, 'failed', '199 MB of 9.7 GB free (1 %).'],
  [200, 4_000, 'warning', '200 MB of 3.9 GB free (5 %).'],
  [1_023, 10_000, 'warning', '1023 MB of 9.7 GB free (10 %).'],
  [1_024, 10_000, 'ok', '1 GB of 9.7 GB free (10 %).'],
  [4_999, 100_000, 'warning', '4.8 GB of 97 GB free (4 %).'],
  [5_000, 100_000, 'ok', '4.8 GB of 97 GB free (5 %).'],
  [12_800, 264_192, 'warning', '12 GB of 258 GB free (4 %).'],
] as const)
  test(`disk: ${freeMb} MB of ${sizeMb} MB are ${status}`, async () => {
    const read = async () => ({ bavail: freeMb, blocks: sizeMb, bsize: MB_BYTES })
    const [space] = await poll(diskSpace({ folder: '/data', read }))
    assert.equal([space!.status, space!.subject, space!.message], [status, '/data', text])
    assert.is(space!.advice !== null, status !== 'ok')
  })

test('open files limit: sufficient and insufficient limits', async () => {
  const facts = { limit: 1_024, wanted: 1_000, allowed: 190, requests: 100 }
  assert.equal(await statuses(openFiles({ ...facts, allowed: 1_000 })), ['ok'])
  assert.equal(await statuses(openFiles({ ...facts, limit: undefined })), ['unknown'])
  const [none] = await poll(openFiles({ ...facts, limit: Number.POSITIVE_INFINITY, allowed: 1_000 }))
  assert.match(none!.message, /^There is no open files limit: sufficient for 1000 /)
  const [few] = await poll(openFiles(facts))
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
    const [finding] = await poll(
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
  assert.equal(await of(undefined), ['failed'])
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

test('certificate: the days that are left, on both sides of each limit', async () => {
  const { validFrom, validTo } = new X509Certificate(testCertificate('good').cert)
  const [from, until] = [Date.parse(validFrom), Date.parse(validTo)]
  const at = async (now: number) => {
    const options = { certFile: certificateFiles.cert, keyFile: null, mailHost: 'mx.test' }
    const [{ status, message }] = (await poll(
      certificate({ ...options, clock: createManualClock(now) }),
    )) as [DoctorFinding]
    return `${status}: ${message}`
  }
  const day = new Date(until).toISOString().slice(0, 10)
  assert.is(await at(from - 1), `failed: The certificate is not valid before ${validFrom}.`)
  assert.match(await at(from), /^ok: /)
  assert.is(await at(until - 21 * DAY_MS), `ok: The certificate is valid for 21 days, until ${day}.`)
  assert.is(await at(until - 21 * DAY_MS + 1), `warning: The certificate expires in 20 days, on ${day}.`)
  assert.is(await at(until - 1), `warning: The certificate expires in 0 days, on ${day}.`)
  assert.is(await at(until), `failed: The certificate expired on ${day}.`)
})

test('certificate: a private key of another certificate is a failure', async t => {
  const { path } = await t.using(tempFolder())
  const keyFile = join(path, 'key')
  writeFileSync(keyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }))
  const options = { certFile: certificateFiles.cert, mailHost: 'mx.test', clock: createManualClock() }
  const [, wrong] = await poll(certificate({ ...options, keyFile }))
  assert.equal(
    [wrong!.status, wrong!.subject, wrong!.message],
    ['failed', keyFile, 'The private key does not match the certificate.'],
  )
})

test('background tasks: each parked one is a failure, with its time and reason', async () => {
  const parked = [
    { task: 'expand broadcasts', until: Date.UTC(2026, 10, 21), reason: 'out of memory' },
    { task: 'send notices', until: 0, reason: 'x' },
  ]
  const findings = await poll(backgroundTasks(() => parked, true))
  assert.equal(
    findings.map(({ status, subject }) => [status, subject]),
    [
      ['failed', 'expand broadcasts'],
      ['failed', 'send notices'],
    ],
  )
  assert.match(findings[0]!.message, /is not run until 2026-11-21T00:00:00\.000Z: out of memory\.$/)
  const messages = async (isRunning: boolean) =>
    (await poll(backgroundTasks(() => [], isRunning))).map(({ status, message }) => [status, message])
  assert.equal(await messages(true), [['ok', 'All background tasks run.']])
  assert.equal(await messages(false), [['ok', 'No background task is parked.']])
})

for (const [what, fault, enforced, testing, advice] of [
  ['a good certificate', undefined, 'ok', 'ok', undefined],
  ['no address', { address: null, isReached: false }, 'failed', 'warning', /dns\.addresses/],
  [
    'a bad certificate',
    { address: '192.0.2.1', isReached: true },
    'failed',
    'warning',
    /smtp\.tls\.cert_file/,
  ],
  ['no connection', { address: '192.0.2.1', isReached: false }, 'failed', 'warning', /hairpin NAT/],
] as const)
  test(`MTA-STS: an MX host with ${what} is ${enforced} while the policy is enforced`, async () => {
    const found = fault && { host: 'mx.test', reason: 'of a test', ...fault }
    const of = (publishedMode: 'enforce' | 'testing' | null) =>
      poll(mtaSts({ mailHost: 'mail.test', port: 25, publishedMode, findFault: async () => found }))
    const [[enforce], [test], [none]] = await Promise.all([of('enforce'), of('testing'), of(null)])
    assert.equal([enforce!.status, test!.status, none!.status], [enforced, testing, testing])
    assert.match(enforce!.message, /in the mode enforce\.$/)
    assert.match(none!.message, /The MTA-STS policy is not published\.$/)
    if (advice === undefined) assert.equal([enforce!.subject, enforce!.advice], ['mail.test', null])
    else {
      assert.is(enforce!.subject, 'mx.test')
      assert.match(enforce!.advice!, advice)
    }
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
  const [finding] = await poll(wallClock({ outbound, clock: real, url: `http://127.0.0.1:${host.port}/` }))
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
