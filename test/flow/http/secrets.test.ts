import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { type FakeMx, startFakeMx } from '../../kit/fake-mx.ts'
import { zoneText } from '../../kit/posthorn.ts'
import { type Program, startProgram } from '../../kit/process.ts'
import { suite } from '../../kit/suite.ts'
import { type ScriptedZone, startZone } from '../../kit/zone.ts'

const test = suite('secrets', { limitMs: 30_000 })

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

/** A life of the program at its most talkative, in which every kind of secret is used, rightly and wrongly. */
async function live(): Promise<Scene> {
  const dataDir = mkdtempSync(join(tmpdir(), 'posthorn-'))
  const zone = await startZone(ZONE)
  const mx = await startFakeMx({ host: '127.0.0.2', tls: 'good' })
  const program = await startProgram({
    dataDir,
    settings: {
      ADMIN_PASSWORD: PASSWORD,
      LOG_LEVEL: 'trace',
      DNS_RESOLVERS: zone.server,
      DELIVERY_PORT: String(mx.port),
      DELIVERY_THREADS: '1',
    },
  })
  zone.forward('posthorn.test', `127.0.0.1:${program.dnsPort}`)
  const firstKey = /API key {5}(\S+)/.exec(program.output)![1]!
  const secrets: Record<string, string> = { PASSWORD, firstKey, ...CANARIES }
  const scene = { dataDir, zone, mx, program, secrets }
  await useSecrets(scene)
  return scene
}

async function call(program: Program, method: string, path: string, init: object = {}, body?: unknown) {
  const response = await fetch(program.baseUrl + path, {
    method,
    ...init,
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  return { headers: response.headers, body: (await response.json()) as any }
}

async function useSecrets({ program, zone, secrets }: Scene) {
  const json = { 'content-type': 'application/json' }
  const login = { email: 'admin@posthorn.test', password: PASSWORD }
  const signedIn = await call(program, 'POST', '/auth/login', { headers: json }, login)
  const session = signedIn.body.token as string
  secrets.session = session
  secrets.cookie = /=(phs_\w+);/.exec(signedIn.headers.getSetCookie()[0]!)![1]!
  const auth = (token: string) => ({ headers: { ...json, authorization: `Bearer ${token}` } })
  const wrong = { ...login, password: CANARIES.wrongPassword }
  await call(program, 'POST', '/auth/login', { headers: json }, wrong)
  await call(program, 'POST', '/auth/login', { headers: json }, `{"password":"${CANARIES.wrongPassword}`)

  const made = await call(program, 'POST', '/api-keys', auth(session), { name: 'canary' })
  secrets.madeKey = made.body.token
  await call(program, 'POST', '/emails', auth(`${secrets.madeKey}x`), {})
  await call(program, 'GET', `/emails/x?${CANARIES.query}`, auth(secrets.firstKey!))

  const { body: domain } = await call(program, 'POST', '/domains', auth(session), { name: 'here.example' })
  zone.add(zoneText(domain.records))
  const verified = await call(program, 'POST', `/domains/${domain.id}/verify`, auth(session))
  assert.is(verified.body.status, 'verified')

  const email = {
    from: 'ann@here.example',
    subject: CANARIES.subject,
    html: CANARIES.html,
    text: CANARIES.text,
    headers: { 'X-Canary': CANARIES.header },
    tags: [{ name: CANARIES.tag }],
    attachments: [{ content: Buffer.from(CANARIES.attachment).toString('base64') }],
  }
  await call(program, 'POST', '/emails', auth(secrets.madeKey!), { ...email, to: 'nobody' })
  await call(program, 'POST', '/emails', auth(secrets.madeKey!), JSON.stringify(email).slice(0, -1))
  for (const to of [
    'ok@there.example',
    'perm-550-511@there.example',
    'dot-451@there.example',
    'ok@nowhere.example',
  ])
    await finished(program, auth(secrets.madeKey!), { ...email, to })
  await call(program, 'POST', '/auth/logout', auth(session))
}

async function finished(program: Program, auth: object, email: object) {
  const { body } = await call(program, 'POST', '/emails', auth, email)
  for (;;) {
    const { body: shown } = await call(program, 'GET', `/emails/${body.id}`, auth)
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
  const database = new Database(join(scene.dataDir, 'posthorn.db'), { readonly: true })
  try {
    const bytes = database.serialize()
    for (const secret of [PASSWORD, scene.secrets.firstKey!, scene.secrets.madeKey!, scene.secrets.session!])
      assert.not(bytes.includes(secret))
    assert.not(bytes.includes('PRIVATE KEY'))
    assert.ok(bytes.includes('here.example'), 'the file is the one that holds everything')
  } finally {
    database.close()
  }
})

test.run()
