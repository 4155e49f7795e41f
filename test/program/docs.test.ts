/**
 * Runs the commands of the documentation: blocks that call `mailhorn` or the API, page by page, against a
 * service. A block that cannot run here says why, in `<!-- not run: … -->` on the line before it.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { compiled } from '../kit/compiled.ts'
import { databaseOf, settingsFor } from '../kit/database.ts'
import { commandBlocks, strayMarks } from '../kit/doc-blocks.ts'
import { type Program, printedApiKey, startProgram, verifyDomain } from '../kit/process.ts'
import { suite } from '../kit/suite.ts'
import { startZone } from '../kit/zone.ts'

const test = suite('commands of the documentation')
const root = join(import.meta.dirname, '../..')
const PASSWORD = 'correct horse battery staple'
const METRICS_TOKEN = 'token-of-the-metrics'
const pages = globSync(['README.md', 'docs/*.md'], { cwd: root })
  .sort()
  .map(page => ({ page, text: readFileSync(join(root, page), 'utf8') }))
const curl = whereIs('curl')

function whereIs(program: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

interface Scene {
  program: Program
  /** Runs a block as a shell does, and stops at its first failure. */
  run(text: string): Promise<{ code: number | null; output: string }>
  /** Replaces what pages leave out or invent, such as `acc_…`, by what is there. */
  filledIn(text: string): Promise<string>
  close(): Promise<void>
}

let scene: Scene
test.before(async () => {
  scene = await startScene()
})
test.after(() => scene.close())

async function startScene(): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-docs-'))
  const dataDir = join(folder, 'data')
  const zone = await startZone('')
  const program = await startProgram({
    dataDir,
    settings: { ADMIN_PASSWORD: PASSWORD, DNS_RESOLVERS: zone.server, METRICS_TOKEN },
  })
  await verifyDomain(program, zone, { name: 'example.com', password: PASSWORD })
  const wrap = wrappersIn(folder)
  const env = {
    ...compiled(),
    PATH: wrap,
    MAILHORN_DATA_DIR: dataDir,
    MAILHORN_HTTP_LISTEN: new URL(program.baseUrl).host,
    ...Object.fromEntries(
      Object.entries(settingsFor(dataDir)).map(([name, value]) => [`MAILHORN_${name}`, value]),
    ),
  }
  const login = { email: 'admin@mailhorn.test', password: PASSWORD }
  const session: string = (await program.call('POST', '/auth/login', { body: login })).body.token
  const body = { name: 'docs', scopes: 'full', operator: true }
  const made = await program.call('POST', '/access-tokens', { token: session, body })
  writeFileSync(join(folder, 'backup.passphrase'), 'a passphrase of some words')
  writeFileSync(join(folder, 'contacts.csv'), 'email,first_name\nann@there.example,Ann\n')
  writeFileSync(join(folder, 'subscribers.csv'), 'email,statuscode\nann@there.example,1\n')
  const words: [string, string][] = [
    ['http://127.0.0.1:3000', program.baseUrl],
    ['https://mail.example.com', program.baseUrl],
    ['admin@example.com', login.email],
    ['"password":"…"', `"password":"${PASSWORD}"`],
    ['<metrics.token>', METRICS_TOKEN],
    ['re_…', printedApiKey(program)],
    ['phs_…', session],
    ['mh_…', made.body.token],
    ['$TOKEN', made.body.token],
    ['/var/backups/mailhorn', join(folder, 'backups')],
    ['/root/backup.passphrase', join(folder, 'backup.passphrase')],
  ]
  return {
    program,
    run: text => runShell(text, { cwd: folder, env }),
    async filledIn(text) {
      let filled = text
      for (const [word, value] of words) filled = filled.replaceAll(word, value)
      for (const prefix of new Set(filled.match(/\b[a-z]{3}_(?=…)/g)))
        filled = filled.replaceAll(`${prefix}…`, await makeObject(program, session, prefix))
      return filled
    },
    async close() {
      await program.close()
      await zone.close()
      databaseOf(dataDir).drop()
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * Writes the only programs that blocks can run, so that none changes the machine of the test.
 * @returns their folder
 */
function wrappersIn(folder: string): string {
  const path = join(folder, 'bin')
  mkdirSync(path)
  const lines = {
    mailhorn: `exec ${join(root, 'bin/mailhorn')} "$@"`,
    curl: `exec ${curl} --fail-with-body "$@"`,
  }
  for (const [name, line] of Object.entries(lines)) {
    writeFileSync(join(path, name), `#!/bin/sh\nPATH='${process.env.PATH}'\n${line}\n`)
    chmodSync(join(path, name), 0o755)
  }
  return path
}

async function runShell(text: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const child = spawn('/bin/sh', ['-eu', '-c', text], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, err, code] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    child.stderr.setEncoding('utf8').toArray(),
    new Promise<number | null>(resolve => child.once('close', resolve)),
  ])
  return { code, output: out.join('') + err.join('') }
}

let made = 0

/** Makes an object whose id begins with the prefix. Emails and accounts are held. @returns the id */
async function makeObject(program: Program, session: string, prefix: string): Promise<string> {
  const n = ++made
  const post = async (path: string, body: object) => {
    const reply = await program.call('POST', path, { token: session, body })
    assert.ok(reply.status < 300, `POST ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const makers: Record<string, () => Promise<{ id: string }>> = {
    acc_: () => post('/accounts', { name: `Account ${n}`, owner_email: `owner-${n}@example.com` }),
    aud_: () => post('/audiences', { name: `Audience ${n}` }),
    dom_: () => post('/domains', { name: `domain-${n}.example` }),
    eml_: () =>
      post('/emails', { from: 'a@example.com', to: 'delayed@simulator.test', subject: 'S', text: 'T' }),
    key_: () => post('/api-keys', { name: `Key ${n}` }),
    async brd_() {
      const audience = await post('/audiences', { name: `Audience ${n}` })
      const content = { from: 'a@example.com', subject: 'S', text: 'T {{unsubscribe_url}}' }
      return post('/broadcasts', { name: `Broadcast ${n}`, audience_id: audience.id, ...content })
    },
  }
  const maker = makers[prefix]
  if (!maker) throw new Error(`no object with an id like ${prefix}… can be made`)
  const { id } = await maker()
  if (prefix === 'acc_') await post('/queue/hold', { account_id: id })
  if (prefix === 'eml_') await post('/queue/hold', { email_id: id })
  return id
}

test('marks stand before blocks that would run otherwise', () => {
  const stray = pages.flatMap(({ page, text }) => strayMarks(text).map(line => `${page}:${line}`))
  assert.equal(stray, [])
})

/** Some commands ask for `--account` as soon as there are several, so pages that make accounts come last. */
const makesAccounts = ({ text }: { text: string }) =>
  Number(commandBlocks(text).some(({ text: block }) => block.includes('acc_…')))

for (const { page, text } of pages.toSorted((a, b) => makesAccounts(a) - makesAccounts(b))) {
  const blocks = commandBlocks(text).filter(({ notRun }) => notRun === undefined)
  if (blocks.length === 0) continue
  test(
    `${page}: its commands succeed`,
    async () => {
      for (const { line, text: block } of blocks) {
        const { code, output } = await scene.run(await scene.filledIn(block))
        assert.is(code, 0, `${page}:${line} ended with ${code}:\n${block}\n${output}`)
      }
    },
    { skip: curl === undefined ? 'it needs curl' : undefined },
  )
}

test.run()
