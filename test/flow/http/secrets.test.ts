import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { startCloudflare } from '../../kit/cloudflare.ts'
import { databaseOf, isOnPostgres } from '../../kit/database.ts'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { type Program, printedApiKey, startProgram, verifyDomain } from '../../kit/process.ts'
import { suite } from '../../kit/suite.ts'
import { type ScriptedZone, startZone } from '../../kit/zone.ts'

const test = suite('secrets')

const PASSWORD = 'canary-password-7f3a'
const CANARIES = {
  subject: 'canary-subject-19c2',
  html: '<p>canary-html-55d0</p>',
  text: 'canary-text-a0b1',
  attachment: 'canary-attachment-c7e4',
  header: 'canary-header-2b6f',
  tag: 'canary-tag-e918',
  query: 'canary-query-d44c',
  wrongPassword: 'canary-wrong-password-0c2d',
  dnsToken: 'canary-dns-token-b7e2',
}
const ZONE = `
  there.example     MX 10 mx.there.example
  mx.there.example  A 127.0.0.2
`

interface Scene {
  dataDir: string
  zone: ScriptedZone
  mx: FakeMx
  program: Program
  /** Everything that must not be seen in the logs. */
  secrets: Record<string, string>
}

/**
 * A life of the program at its most talkative, in which every kind of secret is used, rightly and wrongly.
 */
async function live(): Promise<Scene> {
  const dataDir = mkdtempSync(join(tmpdir(), 'mailhorn-'))
  const zone = await startZone(ZONE)
  const mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  const provider = await startCloudflare()
  const program = await startProgram({
    dataDir,
    settings: {
      ADMIN_PASSWORD: PASSWORD,
      LOG_LEVEL: 'trace',
      DNS_RESOLVERS: zone.server,
      DELIVERY_PORT: String(mx.port),
      DELIVERY_THREADS: '1',
      AUTOCONFIGURE_CLOUDFLARE_BASE_URL: provider.baseUrl,
    },
  })
  const secrets: Record<string, string> = { PASSWORD, firstKey: printedApiKey(program), ...CANARIES }
  const scene = { dataDir, zone, mx, program, secrets }
  await useSecrets(scene)
  await provider.close()
  return scene
}

async function useSecrets({ program, zone, secrets }: Scene) {
  const key = secrets.firstKey!
  const login = { email: 'admin@mailhorn.test', password: PASSWORD }
  const signedIn = await program.call('POST', '/auth/login', { body: login })
  const token = signedIn.body.token as string
  secrets.session = token
  secrets.cookie = /=(phs_\w+);/.exec(signedIn.headers.getSetCookie()[0]!)![1]!
  const wrong = { ...login, password: CANARIES.wrongPassword }
  await program.call('POST', '/auth/login', { body: wrong })
  await program.call('POST', '/auth/login', { body: JSON.stringify(wrong).slice(0, -1) })

  const made = await program.call('POST', '/api-keys', { token, body: { name: 'canary' } })
  secrets.madeKey = made.body.token
  await program.call('POST', '/emails', { token: `${secrets.madeKey}x`, body: {} })
  const canary = { name: 'canary', scopes: ['domains:read'] }
  const { body: access } = await program.call('POST', '/access-tokens', { token, body: canary })
  secrets.accessToken = access.token
  await program.call('GET', '/domains', { token: access.token })
  await program.call('GET', '/domains', { token: `${access.token}x` })
  await program.call('POST', '/emails', { token: access.token, body: {} })
  await program.call('GET', `/emails/x?${CANARIES.query}`, { token: key })

  await verifyDomain(program, zone, { name: 'here.example', password: PASSWORD })
  await configureDomain(program, token)
  const email = {
    from: 'ann@here.example',
    subject: CANARIES.subject,
    html: CANARIES.html,
    text: CANARIES.text,
    headers: { 'X-Canary': CANARIES.header },
    tags: [{ name: CANARIES.tag }],
    attachments: [{ content: Buffer.from(CANARIES.attachment).toString('base64') }],
  }
  await program.call('POST', '/emails', { token: key, body: { ...email, to: 'nobody' } })
  await program.call('POST', '/emails', { token: key, body: JSON.stringify(email).slice(0, -1) })
  for (const to of [
    'ok@there.example',
    'perm-550-511@there.example',
    'dot-451@there.example',
    'a@nowhere.example',
  ])
    await finished(program, key, { ...email, to })
  await followLinks(program, secrets, { ...email, to: 'delivered@simulator.test' })
  await program.call('POST', '/auth/logout', { token })
}

/** Configures the domain with a token that the provider repeats in its refusal. */
async function configureDomain(program: Program, token: string) {
  const { body } = await program.call('GET', '/domains', { token })
  const path = `/domains/${body.data[0].id}/autoconfigure`
  for (const dnsToken of [CANARIES.dnsToken, `${CANARIES.dnsToken} and more`]) {
    const answer = await program.call('POST', path, { token, body: { dns_api_token: dnsToken } })
    if (answer.status !== 422) throw new Error(`autoconfigure answered ${JSON.stringify(answer.body)}`)
  }
}

/** Links open something by themselves. */
async function followLinks(program: Program, secrets: Record<string, string>, email: object) {
  const token = secrets.firstKey!
  const { body: sent } = await program.call('POST', '/emails', { token, body: email })
  const { body: share } = await program.call('POST', `/emails/${sent.id}/share`, { token, body: {} })
  const { body: list } = await program.call('GET', `/emails/${sent.id}/attachments`, { token })
  const { href: download, searchParams } = new URL(list.data[0].download_url)
  secrets.shareToken = share.url.split('/').at(-1)
  secrets.downloadToken = searchParams.get('token')!
  for (const url of [share.url, `${share.url}/html`, `${share.url}/none`, download, `${download}x`])
    await (await fetch(url)).arrayBuffer()
}

async function finished(program: Program, token: string, email: object) {
  const { body } = await program.call('POST', '/emails', { token, body: email })
  for (;;) {
    const { body: shown } = await program.call('GET', `/emails/${body.id}`, { token })
    if (!['queued', 'sent'].includes(shown.status)) return
  }
}

let scene: Scene
let output = ''
test.before(async () => {
  scene = await live()
  output = (await scene.program.end('SIGTERM')).output
})
test.after(async () => {
  await scene.zone.close()
  await scene.mx.close()
  rmSync(scene.dataDir, { recursive: true })
})

test('the program was talkative', () => {
  const lines = output.split('\n').filter(line => line.startsWith('{'))
  assert.ok(lines.length > 20)
  assert.ok(lines.some(line => line.includes('/auth/login')))
  assert.ok(lines.some(line => line.includes('perm-550-511@there.example')))
  assert.is(scene.mx.messages.length, 1)
})

test('none of them reaches the logs, but the first key in the welcome', () => {
  const logged = output.slice(output.indexOf('{"level"'))
  const welcome = output.replace(/^\{.*$/gm, '')
  for (const [what, secret] of Object.entries(scene.secrets)) {
    const lines = logged.split('\n').filter(line => line.startsWith('{') && line.includes(secret))
    assert.equal(lines, [], what)
    if (what !== 'firstKey') assert.not(welcome.includes(secret), what)
  }
  assert.is(welcome.split(`API key     ${scene.secrets.firstKey}`).length, 2)
})

test('no private key is logged or stored in the clear', () => {
  assert.not.match(output, /PRIVATE KEY|MII[A-Za-z0-9+/]{40}/)
  const bytes = stored(scene.dataDir)
  for (const secret of [
    PASSWORD,
    scene.secrets.firstKey!,
    scene.secrets.madeKey!,
    scene.secrets.accessToken!,
    scene.secrets.session!,
  ])
    assert.not(bytes.includes(secret))
  assert.not(bytes.includes('PRIVATE KEY'))
  assert.ok(bytes.includes('here.example'), 'it is what holds everything')
})

test('no secret is stored in the request log', () => {
  const bodies = loggedBodies(scene.dataDir)
  const { firstKey, madeKey, session, cookie } = scene.secrets
  for (const secret of [
    PASSWORD,
    firstKey,
    madeKey,
    session,
    cookie,
    CANARIES.dnsToken,
    CANARIES.wrongPassword,
  ])
    assert.not(bodies.includes(secret!))
  for (const content of [CANARIES.attachment, Buffer.from(CANARIES.attachment).toString('base64')])
    assert.not(bodies.includes(content))
  assert.ok(bodies.includes(CANARIES.subject), 'it has the rest of the bodies')
})

/** All bodies in the request log, as text. */
function loggedBodies(dataDir: string): string {
  const sql = 'select packed from logged_bodies'
  const rows = isOnPostgres
    ? databaseOf(dataDir).rows<{ packed: Uint8Array }>(sql)
    : readSqlite(dataDir, database => database.prepare(sql).all() as { packed: Uint8Array }[])
  return rows.map(({ packed }) => inflateRawSync(packed).toString()).join('\n')
}

function readSqlite<T>(dataDir: string, read: (database: Database.Database) => T): T {
  const database = new Database(join(dataDir, 'mailhorn.db'), { readonly: true })
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** Everything in the database: of SQLite the file, of PostgreSQL all rows. */
function stored(dataDir: string): Buffer {
  if (isOnPostgres) {
    const { rows } = databaseOf(dataDir)
    const tables = rows<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public'",
    )
    const values = tables.flatMap(({ name }) => rows(`select * from ${name}`)).flatMap(Object.values)
    return Buffer.concat(values.map(value => (Buffer.isBuffer(value) ? value : Buffer.from(`${value}\n`))))
  }
  return readSqlite(dataDir, database => database.serialize())
}

test.run()
