import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import {
  LANGUAGES,
  type Language,
  SampleFile,
  sampleOf,
} from '../../../../src/interfaces/dashboard/web/labels/code-samples.ts'
import { suite } from '../../../kit/suite.ts'

const test = suite('code samples')
const BASE = { baseUrl: 'https://mail.example', method: 'POST', path: '/emails/eml_1/share' }
const BODY = { to: "o'neil@there.example", tags: [], tls: true, reply_to: null, empty: {}, n: 1.5 }

const CASES: readonly (readonly [Language, readonly string[]])[] = [
  ['curl', ["-X POST 'https://mail.example/emails/eml_1/share'", "o'\\''neil", 'Bearer $MAILHORN_KEY']],
  [
    'node',
    ["resend.post('/emails/eml_1/share', {", "o\\'neil", 'reply_to: null', 'process.env.MAILHORN_KEY'],
  ],
  ['python', ['"tls": True', '"reply_to": None', '"tags": []', "os.environ['MAILHORN_KEY']"]],
  ['php', ["'o\\'neil", "'empty' => new stdClass()", "'tags' => []", "getenv('MAILHORN_KEY')"]],
  ['go', ['"reply_to": null', 'strings.NewReader(`{', 'os.Getenv("MAILHORN_KEY")']],
  ['ruby', ['"reply_to" => nil', 'Net::HTTP::Post.new(uri)', "ENV.fetch('MAILHORN_KEY')"]],
]

for (const [language, parts] of CASES)
  test(`${language} has its literals and reads the key from the environment`, () => {
    const code = sampleOf(language, { ...BASE, body: BODY })
    for (const part of parts) assert.ok(code.includes(part), `${part} in ${code}`)
  })

for (const [language] of LANGUAGES) {
  test(`${language}: a given key stands in the code, and a public call has none`, () => {
    assert.match(sampleOf(language, { ...BASE, token: 're_1' }), /re_1/)
    const open = { ...BASE, method: 'GET', path: '/healthz', token: null }
    assert.not.match(sampleOf(language, open), /authorization|json=|-d |MAILHORN_KEY/i)
  })

  test(`${language}: a file is sent as it is`, () => {
    const code = sampleOf(language, { ...BASE, body: new SampleFile('contacts.csv', 'text/csv') })
    assert.match(code, /contacts\.csv/)
    assert.match(code, /text\/csv/)
  })
}

test('Node uses the methods of the SDK where it has them', () => {
  const email = { from: 'a@b.example', to: 'c@d.example', subject: 's', reply_to: 'e@f.example' }
  const code = (method: string, path: string, body?: unknown) =>
    sampleOf('node', { ...BASE, method, path, body })
  assert.match(code('POST', '/emails', email), /emails\.send\(\{[^}]*replyTo: 'e@f\.example'/)
  assert.match(code('POST', '/emails/batch', [email]), 'batch.send([')
  assert.match(code('GET', '/api-keys'), 'apiKeys.list()')
  // the SDK would drop the field
  assert.match(code('POST', '/emails', { ...email, template_id: 'tpl_1' }), "post('/emails', {")
})

test('a form is sent by curl', () => {
  const body = new SampleFile('contacts.csv', 'multipart/form-data')
  for (const [language] of LANGUAGES)
    assert.match(sampleOf(language, { ...BASE, body }), "-F 'file=@contacts")
})

/** Programs that check the syntax of a file; they are used where they are installed. */
const CHECKS: Readonly<Record<Language, readonly string[]>> = {
  curl: ['bash', '-n'],
  node: [process.execPath, '--check'],
  python: ['python3', '-c', 'import ast, sys; ast.parse(open(sys.argv[1]).read())'],
  php: ['php', '-l'],
  go: ['gofmt', '-e', '-l'],
  ruby: ['ruby', '-c'],
}
const EXTENSIONS = { curl: 'sh', node: 'mjs', python: 'py', php: 'php', go: 'go', ruby: 'rb' }
/** Texts with what the languages treat specially. */
const TRICKY = {
  text: '\'"\\`$x $' + '{x} #{x} #$x #@x \n\t\r é ☃ \u2028 %s {{name}}',
  '$key\'s "name"': [[{}]],
}

for (const [language] of LANGUAGES) {
  const [program, ...args] = CHECKS[language]
  const skip = spawnSync(program!, ['--version']).error ? `${program} is not installed` : undefined
  test(
    `${language}: special characters leave the syntax valid`,
    t => {
      const folder = mkdtempSync(join(tmpdir(), 'mailhorn-samples-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, `sample.${EXTENSIONS[language]}`)
      writeFileSync(file, sampleOf(language, { ...BASE, body: TRICKY }))
      const { status, stdout, stderr } = spawnSync(program!, [...args, file], { encoding: 'utf8' })
      assert.is(status, 0, `${stdout}${stderr}`)
    },
    { skip },
  )
}

test.run()
