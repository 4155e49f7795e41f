import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { freePort } from '../kit/free-port.ts'
import { battery } from './battery.ts'
import type { Field } from './field.ts'
import { hostileMail, SHAPES } from './hostile-mail.ts'
import { startLogged } from './logged-program.ts'
import { sendHostile } from './mail-client.ts'
import { MIB, pause } from './scale.ts'

/**
 * A disk of 64 MB that holds the data and the log, and is filled: the process stays, puts off what it cannot
 * keep, and goes on.
 */
const DISK_MIB = 64
const ROUNDS = 2
const FREED_WITHIN_MS = 15_000
const LOOK_EVERY_MS = 250
const WITHOUT_ROOT =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'a file system of 64 MB is mounted, which needs root'
    : undefined

const disk = mkdtempSync(join(tmpdir(), 'mailhorn-full-disk-'))
const dataDir = join(disk, 'data')
if (!WITHOUT_ROOT) {
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', disk])
  if (mounted.status !== 0) throw new Error(`mount: ${mounted.stderr}`)
  mkdirSync(dataDir)
  process.once('exit', () => {
    spawnSync('umount', ['-l', disk])
    rmSync(disk, { recursive: true, force: true })
  })
}

const { attack, run } = battery('full disk', {
  ...{ dataDir, logFile: join(disk, 'mailhorn.log') },
  settings: { LOG_LEVEL: 'debug' },
})

/** Writes until nothing fits any more. @returns what makes room again */
function fill(): () => void {
  const file = join(disk, 'filler')
  const handle = openSync(file, 'w')
  for (const size of [MIB, 4_096, 1])
    for (;;)
      try {
        if (writeSync(handle, Buffer.alloc(size)) < size) break
      } catch (error) {
        assert.is((error as NodeJS.ErrnoException).code, 'ENOSPC')
        break
      }
  closeSync(handle)
  return () => rmSync(file)
}

interface Answers {
  send: number
  inbound: string
  submission: string
}

/** One of each kind, large enough that it needs room. */
async function tryAll({ call, ports, ann }: Field): Promise<Answers> {
  const body = {
    ...{ from: 'ann@acme.example', to: 'delivered@simulator.test', subject: 'room' },
    text: `${Math.random()} `.repeat(5_000),
  }
  const { status: send } = await call('POST', '/emails', { token: ann.apiKey, body })
  const mail = hostileMail(SHAPES[0]!, 'text/plain', 'quoted-printable', 200_000, `room ${Math.random()}`)
  const envelope = { sender: 'x@there.example', recipient: 'bob@acme.example' }
  const inbound = await sendHostile({ port: ports.inbound }, envelope, mail)
  const listener = { port: ports.submissionTls, apiKey: ann.apiKey }
  const own = { ...mail, head: mail.head.replace('ann@there.example', 'ann@acme.example') }
  const submitted = { sender: 'ann@acme.example', recipient: 'delivered@simulator.test' }
  const submission = await sendHostile(listener, submitted, own)
  return { send, inbound: inbound.slice(0, 3), submission: submission.slice(0, 3) }
}

attack(
  'a log that cannot be written from the start',
  async ({ t, note }) => {
    const folder = mkdtempSync(join(tmpdir(), 'mailhorn-dev-full-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const [http, dns] = [await freePort(), await freePort()]
    const settings = {
      ...{ HTTP_LISTEN: `127.0.0.1:${http}`, DNS_LISTEN: `127.0.0.1:${dns}`, DNS_RESOLVERS: '127.0.0.1:9' },
      ...{ SMTP_INBOUND_LISTEN: '127.0.0.1:0', SMTP_SUBMISSION_LISTEN: '', SMTP_SUBMISSION_TLS_LISTEN: '' },
    }
    const program = await t.using(startLogged({ dataDir: folder, settings, logFile: '/dev/full' }))
    for (let i = 0; i < 20; i++) assert.is((await program.call('GET', '/healthz')).status, 200)
    note('serves')
  },
  { kinds: [], skip: process.platform === 'linux' ? undefined : 'there is no /dev/full here' },
)

attack(
  `filled ${ROUNDS} times, with its log on it`,
  async ({ field, note }) => {
    assert.equal(await tryAll(field), { send: 200, inbound: '250', submission: '250' })
    for (let round = 0; round < ROUNDS; round++) {
      const makeRoom = fill()
      try {
        // what is left in files that have been made larger beforehand is used up first
        for (let spare = 0; spare < 200 && (await tryAll(field)).send === 200; spare++) await pause(0)
        const full = await tryAll(field)
        note(`full: ${full.send}, ${full.inbound}, ${full.submission}`)
        assert.is(full.send, 503)
        assert.match(full.inbound, /^45[12]$/)
        assert.match(full.submission, /^45[12]$/)
        assert.is((await field.call('GET', '/healthz')).status, 200)
        assert.is((await field.call('GET', '/emails?limit=5', { token: field.ann.apiKey })).status, 200)
      } finally {
        makeRoom()
      }
      const deadline = performance.now() + FREED_WITHIN_MS
      let again = await tryAll(field)
      while (again.send !== 200 || again.inbound !== '250' || again.submission !== '250') {
        assert.ok(performance.now() < deadline, `with room: ${JSON.stringify(again)}`)
        await pause(LOOK_EVERY_MS)
        again = await tryAll(field)
      }
    }
  },
  { kinds: [], skip: WITHOUT_ROOT },
)

run()
