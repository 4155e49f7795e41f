import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { startCluster } from '../../kit/cluster.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { buildImage, type Container, type Image, openContainer, whyNoImage } from './image.ts'

const test = suite('image', { limitMs: 600_000 })
const root = new URL('../../../', import.meta.url)
const skip = { skip: whyNoImage() }
const DATA = '/var/lib/mailhorn'
const MB_BYTES = 1_000_000
/** The base is the publisher's; this is what the instructions add to it. */
const ADDED_BYTES_MAX = 175 * MB_BYTES
let building: Promise<Image> | undefined

/** Builds it once for all tests, in the first one: what runs before the tests has a shorter time limit. */
function built(): Promise<Image> {
  building ??= buildImage()
  return building
}
test.after(async () => (await building)?.close())

/** @returns what `cp packaging/compose.env .env` gives to a container */
function composeEnv(): Record<string, string> {
  const text = readFileSync(new URL('packaging/compose.env', root), 'utf8')
  return Object.fromEntries(
    [...text.matchAll(/^(MAILHORN_\w+)=(.*)$/gm)].map(([, name, value]) => [name!, value!]),
  )
}

async function startService(
  t: TestContext,
  { command }: Image,
  container: Container,
  env: Record<string, string>,
) {
  const service = container.start(command, env)
  t.after(() => service.end('SIGKILL'))
  await until(() => service.log().includes('"event":"ready"') || service.hasEnded())
  assert.not.ok(service.hasEnded(), service.log())
  return service
}

test(
  'a container listens on all exposed ports and on no other, without a capability, and is healthy until it stops',
  async t => {
    const image = await built()
    const container = await t.using(openContainer(image))
    const env = composeEnv()
    const before = container.start(image.healthCheck, env)
    await until(() => before.hasEnded())
    assert.is(before.code(), 1, 'nothing answers yet')

    const service = await startService(t, image, container, env)
    assert.match(await container.run(['grep', 'CapBnd', '/proc/self/status']), /CapBnd:\s0{16}\n/)
    assert.is(await container.run(['id', '-u']), '999\n')
    assert.equal([...new Set(container.listening())].sort(), [...image.ports].sort(), service.log())
    await container.run(image.healthCheck, env)
    assert.match(await container.run(['mailhorn', 'queue'], env), /queue/i)
    const credentials = await container.run(['cat', `${DATA}/first-credentials`], env)
    assert.match(credentials, /re_\w+/)

    await service.end(image.stopSignal as NodeJS.Signals)
    assert.match(service.log(), /"event":"stopping"/)
    assert.is(service.code(), 0)
    const after = container.start(image.healthCheck, env)
    await until(() => after.hasEnded())
    assert.is(after.code(), 1, 'nothing answers any more')
  },
  skip,
)

test(
  'a container backs up a PostgreSQL database, and has the version of compose.yaml',
  async t => {
    const image = await built()
    const cluster = await t.using(startCluster({ fsync: false }))
    const url = cluster.url('socket')
    const socket = decodeURIComponent(new URL(url).searchParams.get('host')!)
    const container = await t.using(openContainer(image, [socket]))
    const env = { ...composeEnv(), MAILHORN_DATABASE_URL: url }
    const service = await startService(t, image, container, env)
    const made = await container.run(['mailhorn', 'backup', '/var/backups/mailhorn', '--json'], env)
    const { path } = JSON.parse(made) as { path: string }
    const checked = JSON.parse(await container.run(['mailhorn', 'verify', path, '--json'], env))
    assert.equal(checked.faults, [])
    await service.end('SIGTERM')

    const compose = readFileSync(new URL('compose.yaml', root), 'utf8')
    const [, server] = /image: postgres:(\d+)/.exec(compose)!
    for (const program of ['pg_dump', 'pg_restore'])
      assert.match(await container.run([program, '--version']), new RegExp(`\\(PostgreSQL\\) ${server}\\.`))
  },
  skip,
)

test(
  'the image has neither npm nor Perl, and nothing that was only needed to build it',
  async () => {
    const image = await built()
    for (const path of [
      'usr/bin/npm',
      'usr/local/bin/node',
      'usr/share/perl',
      'src',
      'out',
      'var/lib/apt/lists/lock',
    ])
      assert.not.ok(existsSync(join(image.path, path)), path)
    assert.is(statSync(join(image.path, DATA)).mode & 0o777, 0o700)
    assert.ok(image.addedBytes < ADDED_BYTES_MAX, `${image.addedBytes} bytes are added to the base`)
  },
  skip,
)

test.run()
