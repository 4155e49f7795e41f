import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import * as assert from 'uvu/assert'
import { createIdSource } from '../../../src/lib/ids.ts'
import { createRecentEmails } from '../../../src/store/model/recent.ts'
import { locate, openWriting } from '../../../src/store/opening/dialect.ts'
import { type Cluster, startCluster } from '../../kit/cluster.ts'
import { mailhornCommand } from '../../kit/command-line.ts'
import { type Program, printedApiKey, startProgram } from '../../kit/process.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { testAuthority } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'

const test = suite('a PostgreSQL as its administrators set it up')

/**
 * Opens the store, and resolves with what the server says of its connections. @throws in words for the
 * operator
 */
async function opened(t: TestContext, cluster: Cluster, url: string): Promise<{ encrypted: boolean }[]> {
  const options = { commands: {}, recent: createRecentEmails(), newId: createIdSource() }
  await t.using(openWriting(locate({ dataDir: '/nowhere', url }), options, 1))
  const out = cluster.tool('psql', [
    ...['-X', '-A', '-t', '-c'],
    "select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'mailhorn'",
    'postgres',
  ])
  return out
    .trim()
    .split('\n')
    .map(ssl => ({ encrypted: ssl === 't' }))
}

async function refusal(opening: Promise<unknown>): Promise<string> {
  try {
    await opening
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('it was opened')
}

async function authorityFile(t: TestContext): Promise<string> {
  const { path } = await t.using(tempFolder())
  writeFileSync(join(path, 'ca.pem'), testAuthority())
  return join(path, 'ca.pem')
}

test('TLS is used when it is asked for, and the certificate is looked at by verify-full alone', async t => {
  const ca = await authorityFile(t)
  const cluster = await t.using(startCluster({ fsync: false, certificate: 'good' }))
  assert.equal(await opened(t, cluster, `${cluster.url()}?sslmode=require`), [{ encrypted: true }])
  const trusting = `${cluster.url()}?sslmode=verify-full&sslrootcert=${ca}`
  assert.equal(await opened(t, cluster, trusting), [{ encrypted: true }])
  assert.match(
    await refusal(opened(t, cluster, `${cluster.url()}?sslmode=verify-full`)),
    /^database "postgres" at 127\.0\.0\.1:\d+ as user "postgres" cannot be reached: .*certificate/,
  )
})

test('a certificate for another name is refused', async t => {
  const ca = await authorityFile(t)
  const cluster = await t.using(startCluster({ fsync: false, certificate: 'wrong-name' }))
  const url = `${cluster.url()}?sslmode=verify-full&sslrootcert=${ca}`
  assert.match(await refusal(opened(t, cluster, url)), /cannot be reached: .*altnames/)
})

test('a server without TLS, and one that insists on it, are told apart', async t => {
  const plain = await t.using(startCluster({ fsync: false }))
  assert.match(await refusal(opened(t, plain, `${plain.url()}?sslmode=require`)), /does not support SSL/)
  const strict = await t.using(
    startCluster({
      fsync: false,
      certificate: 'good',
      access: 'local all all trust\nhostssl all all 127.0.0.1/32 trust\n',
    }),
  )
  assert.match(await refusal(opened(t, strict, strict.url())), /refuses the user or the password \(no pg_hba/)
  assert.equal(await opened(t, strict, `${strict.url()}?sslmode=require`), [{ encrypted: true }])
})

test('a role with a password needs no more than to own its database, or to create in its schema', async t => {
  const access = 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n'
  const cluster = await t.using(startCluster({ fsync: false, access }))
  const { port } = new URL(cluster.url())
  const url = (user: string, database: string, password = 'secret%2F1') =>
    `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
  for (const user of ['owner', 'guest', 'nobody'])
    cluster.sql(`create role ${user} login password 'secret/1'`)
  cluster.sql('create database mail owner owner')
  await opened(t, cluster, url('owner', 'mail'))
  cluster.sql('create database shared')
  assert.match(
    await refusal(opened(t, cluster, url('nobody', 'shared'))),
    /the user may not create tables there .*make it the owner of the database, or grant it "create" on the schema$/,
  )
  cluster.tool('psql', ['-X', '-q', '-c', 'grant create on schema public to guest', 'shared'])
  await opened(t, cluster, url('guest', 'shared'))
  const wrong = await refusal(opened(t, cluster, url('owner', 'mail', 'wrong')))
  assert.match(wrong, /refuses the user or the password \(password authentication failed for user "owner"\)$/)
  assert.not.match(wrong, 'wrong@')
  assert.match(await refusal(opened(t, cluster, url('owner', 'elsewhere'))), /there is no such database/)
})

test('a backup is made and restored over TLS, with the password of a role that is no superuser', async t => {
  const ca = await authorityFile(t)
  const access = 'local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n'
  const cluster = await t.using(startCluster({ fsync: false, certificate: 'good', access }))
  cluster.sql("create role owner login password 'secret/1'")
  for (const name of ['mail', 'restored']) cluster.sql(`create database ${name} owner owner`)
  const { port } = new URL(cluster.url())
  const url = (name: string) =>
    `postgres://owner:secret%2F1@127.0.0.1:${port}/${name}?sslmode=verify-full&sslrootcert=${ca}`
  await opened(t, cluster, url('mail'))
  const { path } = await t.using(tempFolder())
  const run = async (args: readonly string[], name: string) => {
    const env = { MAILHORN_DATABASE_URL: url(name) }
    const { code, out, err } = await mailhornCommand(args, { dataDir: join(path, name), env })
    assert.is(code, 0, out + err)
  }
  mkdirSync(join(path, 'mail'))
  await run(['backup', join(path, 'backups')], 'mail')
  await run(['verify', join(path, 'backups')], 'mail')
  await run(['restore', join(path, 'backups')], 'restored')
  const names = (database: string) =>
    cluster.tool('psql', ['-X', '-A', '-t', '-c', 'select name from migrations order by 1', database])
  assert.ok(names('mail').includes('001-schema'))
  assert.is(names('restored'), names('mail'))
})

test('a dump by pg_dump, restored elsewhere, goes on where the service was', async t => {
  const cluster = await t.using(startCluster({ fsync: false }))
  const [first, second] = [await t.using(tempFolder()), await t.using(tempFolder())]
  const urlOf = (name: string) => cluster.url().replace(/postgres$/, name)
  for (const name of ['before', 'after']) cluster.sql(`create database ${name}`)
  const secret = Buffer.alloc(32, 7).toString('base64')
  const settings = (name: string) => ({
    DATABASE_URL: urlOf(name),
    SECRET_KEY: secret,
    ADMIN_PASSWORD: 'x'.repeat(12),
  })

  const program = await t.using(
    startProgram({ dataDir: join(first.path, 'data'), settings: settings('before') }),
  )
  const token = printedApiKey(program)
  const content = Buffer.alloc(300_000, 'mailhorn ')
  const body = {
    ...{ from: 'ann@here.example', to: 'delivered@simulator.test', subject: 'kept', text: 't' },
    attachments: [{ filename: 'a.bin', content: content.toString('base64') }],
  }
  const { body: sent } = await program.call('POST', '/emails', { token, body })
  const later = { ...body, scheduled_at: new Date(Date.now() + 86_400_000).toISOString() }
  const { body: scheduled } = await program.call('POST', '/emails', { token, body: later })
  const statusAt = async (service: Program, { id }: { id: string }) =>
    (await service.call('GET', `/emails/${id}`, { token })).body.status
  await until(async () => (await statusAt(program, sent)) === 'delivered')
  const dump = cluster.tool('pg_dump', ['--no-owner', 'before'])
  await program.end('SIGTERM')
  cluster.tool('psql', ['-X', '-q', '-v', 'ON_ERROR_STOP=1', 'after'], dump)

  const restored = await t.using(
    startProgram({ dataDir: join(second.path, 'data'), settings: settings('after') }),
  )
  assert.equal(
    [await statusAt(restored, sent), await statusAt(restored, scheduled)],
    ['delivered', 'scheduled'],
  )
  const { body: files } = await restored.call('GET', `/emails/${sent.id}/attachments`, { token })
  const file = await fetch(
    new URL(new URL(files.data[0].download_url).search, `${restored.baseUrl}/downloads`),
  )
  assert.equal(Buffer.from(await file.arrayBuffer()), content)
  const env = { MAILHORN_DATABASE_URL: urlOf('after') }
  const keys = await mailhornCommand(['key', 'list', '--json'], { dataDir: join(second.path, 'data'), env })
  assert.is(JSON.parse(keys.out).keys.length, 1)
  const client = new pg.Client(urlOf('after'))
  await client.connect()
  t.after(() => client.end())
  const { rows } = await client.query('select min(id) < max(id) as apart from emails')
  assert.equal(rows, [{ apart: true }])
})

test.run()
