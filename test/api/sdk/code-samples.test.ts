/** Runs the code that the dashboard and the API reference show, in the languages that are installed. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import {
  KEY,
  LANGUAGES,
  type Language,
  type SampleCall,
  SampleFile,
  sampleOf,
} from '../../../src/interfaces/dashboard/web/labels/code-samples.ts'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import { suite } from '../../kit/suite.ts'

const test = suite('code samples against a running service')
const PROGRAMS: Readonly<Record<Language, readonly [program: string, file: string, ...args: string[]]>> = {
  curl: ['bash', 'sample.sh'],
  node: [process.execPath, 'sample.mjs'],
  python: ['python3', 'sample.py'],
  php: ['php', 'sample.php'],
  go: ['go', 'sample.go', 'run'],
  ruby: ['ruby', 'sample.rb'],
}
const MAIL = {
  from: 'Ann <ann@here.example>',
  to: 'delivered@simulator.test',
  subject: 'o\'neil "{{x}}" #{x} $x `x` é',
  text: 'a\n\tb',
  tags: [],
}

const folder = mkdtempSync(join(tmpdir(), 'mailhorn-samples-'))
let mailhorn: Mailhorn
let token = ''
let template = ''
let audience = ''
test.before(async () => {
  mkdirSync(join(folder, 'node_modules'))
  const resend = fileURLToPath(new URL('../../../node_modules/resend', import.meta.url))
  symlinkSync(resend, join(folder, 'node_modules/resend'))
  writeFileSync(join(folder, 'contacts.csv'), 'email\nann@there.example\n')
  mailhorn = await startMailhorn()
  const session = await mailhorn.signIn()
  const make = async (path: string, body: object) =>
    (await mailhorn.call('POST', path, { session, body })).body
  ;({ token } = await make('/access-tokens', { name: 'samples', scopes: ['full'] }))
  ;({ id: template } = await make('/templates', { name: 'Order', subject: 'Order {{no}}', text: 'x' }))
  ;({ id: audience } = await make('/audiences', { name: 'Readers' }))
})
test.after(async () => {
  rmSync(folder, { recursive: true, force: true })
  await mailhorn.close()
})

async function run(language: Language, call: Omit<SampleCall, 'baseUrl'>): Promise<string> {
  const [program, file, ...args] = PROGRAMS[language]
  writeFileSync(join(folder, file), sampleOf(language, { ...call, baseUrl: mailhorn.baseUrl }))
  const child = spawn(program, [...args, file], {
    cwd: folder,
    env: { ...process.env, [KEY]: token },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)])
  return output + errors
}

for (const [language] of LANGUAGES) {
  const [program] = PROGRAMS[language]
  const probe = program === 'go' ? 'version' : '--version'
  const skip = spawnSync(program, [probe]).error ? `${program} is not installed` : undefined

  const sends = async (call: Omit<SampleCall, 'baseUrl'>) => {
    const output = await run(language, call)
    const id = /eml_[\da-f-]{36}/.exec(output)?.[0]
    assert.ok(id, output)
    const { subject, text } = await mailhorn.email(id)
    return [subject, text]
  }

  test(
    `${language}: an email, a template, a list, a file and CSV`,
    async () => {
      const post = { method: 'POST', path: '/emails' }
      assert.equal(await sends({ ...post, body: MAIL, token }), [MAIL.subject, MAIL.text])
      const variables = { no: '17' }
      const { from, to } = MAIL
      const templated = { from, to, template: { id: template, variables } }
      assert.equal(await sends({ ...post, body: templated }), ['Order 17', 'x'])
      assert.match(await run(language, { method: 'GET', path: '/domains' }), /has_more/)
      assert.match(await run(language, { method: 'GET', path: '/healthz', token: null }), /ok|status/)
      const path = `/audiences/${audience}/contacts/import`
      const body = new SampleFile('contacts.csv', 'text/csv')
      assert.match(await run(language, { method: 'POST', path, body }), /created|updated|imported/)
      const csv = { method: 'GET', path: '/emails/export', isTextReply: true }
      assert.match(await run(language, csv), /delivered@simulator\.test/)
    },
    { skip },
  )
}

test.run()
