import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { loadConfig } from '../../../../src/config/config.ts'
import { runProgram } from '../../../../src/interfaces/cli/program.ts'
import type { DoctorReport } from '../../../../src/interfaces/doctor/finding.ts'
import { mergedSettings } from '../../../../src/interfaces/setup/settings-file.ts'
import { suite, type TestContext } from '../../../kit/suite.ts'

const test = suite('cli: init')
const root = new URL('../../../..', import.meta.url).pathname
const unused = () => assert.unreachable() as never

const reportOf = (status: DoctorReport['status']): DoctorReport => ({
  status,
  checked_at: '2026-11-21T13:00:00.000Z',
  took_ms: 1_234,
  findings: [{ check: 'ports', subject: null, status, message: 'Ports 25 are free.', advice: null }],
})

interface Scene {
  interfaces?: string[]
  /** Lines that the user types; without them there is no terminal. */
  typed?: string[]
  status?: DoctorReport['status']
}

/** Runs `mailhorn init` on a host that is not examined. */
async function init(args: string[], { interfaces = [], typed = [], status = 'ok' }: Scene = {}) {
  const examined: { settings: Readonly<Record<string, string>>; addresses: readonly string[] }[] = []
  const said: string[] = []
  const questions: string[] = []
  let [out, err] = ['', '']
  const left = [...typed]
  const code = await runProgram(['init', ...args], {
    version: '1.2.3',
    openInstallation: unused,
    ...{ checkSources: unused, zoneRecords: unused, sourceSettings: unused, examine: unused },
    ...{ readInput: unused, backupSettings: unused, importSettings: unused, pause: unused },
    async examineHost(settings, addresses) {
      examined.push({ settings, addresses })
      return reportOf(status)
    },
    interfaceAddresses: () => interfaces,
    async ask(question) {
      questions.push(question)
      return left.shift() ?? null
    },
    say: text => void said.push(text),
    out: text => {
      out += text
    },
    err: text => {
      err += text
    },
  })
  return { code, out, err, examined, questions, said }
}

const ARGUMENTS = ['mail.example.com', '--contact', 'ops@example.com', '--address', '203.0.113.7']

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-init-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test('init: everything that has to be set up is printed, and the settings are those that are checked', async () => {
  const { code, out, examined } = await init(ARGUMENTS, { interfaces: ['203.0.113.7'] })
  assert.is(code, 0)
  for (const line of [
    'MAILHORN_MAIL_HOST=mail.example.com',
    'MAILHORN_DNS_LISTEN=203.0.113.7:53',
    'MAILHORN_ADMIN_EMAIL=ops@example.com',
    'MAILHORN_ADMIN_CREDENTIALS_FILE=first-credentials',
    'ufw allow 25,53,80,443,465,587/tcp && ufw allow 53/udp',
    'mail.example.com.  NS  ns1.mail.example.com.',
    'ns2.mail.example.com.  A  203.0.113.7',
    '203.0.113.7  PTR  mail.example.com.',
    'systemctl enable --now mailhorn',
    'mailhorn domains add example.com',
    'mailhorn email test --wait ops@example.com',
  ])
    assert.ok(out.includes(`   ${line}\n`), line)
  assert.is(examined.length, 1)
  assert.equal(examined[0]!.addresses, ['203.0.113.7'])
  const { config, warnings } = loadConfig(root, examined[0]!.settings)
  assert.equal([config.mailHost, warnings], ['mail.example.com', []])
})

test('init --json: settings, records and the report are one object', async () => {
  const { out } = await init([...ARGUMENTS, '--json'], { interfaces: ['203.0.113.7'] })
  const { settings, dns_records, reverse_names, tcp_ports, udp_ports, report } = JSON.parse(out)
  assert.is(settings.MAILHORN_HTTP_BASE_URL, 'https://mail.example.com')
  assert.equal(
    dns_records.map(({ type }: { type: string }) => type),
    ['NS', 'NS', 'A', 'A'],
  )
  assert.equal(reverse_names, [{ address: '203.0.113.7', name: 'mail.example.com' }])
  assert.equal([tcp_ports, udp_ports], [[25, 53, 80, 443, 465, 587], [53]])
  assert.is(report.status, 'ok')
})

test('init: a failed check is the exit code', async () => {
  assert.is((await init(ARGUMENTS, { status: 'failed' })).code, 1)
  assert.is((await init(ARGUMENTS, { status: 'warning' })).code, 0)
})

test('init: the public addresses are those of the interfaces, and behind NAT the private ones listen', async () => {
  const own = await init(ARGUMENTS.slice(0, 3), { interfaces: ['8.8.4.4', '10.0.0.4', '2600::7'] })
  assert.equal(own.examined[0]!.addresses, ['8.8.4.4', '2600::7'])
  assert.is(own.examined[0]!.settings.MAILHORN_DNS_LISTEN, '8.8.4.4:53,[2600::7]:53')
  const nat = await init(ARGUMENTS, { interfaces: ['10.0.0.4', 'fd00::4'] })
  assert.is(nat.examined[0]!.settings.MAILHORN_DNS_LISTEN, '10.0.0.4:53')
  const named = await init([...ARGUMENTS, '--private-address', '10.9.9.9'], { interfaces: ['10.0.0.4'] })
  assert.is(named.examined[0]!.settings.MAILHORN_DNS_LISTEN, '10.9.9.9:53')
})

test('init: with a container, the image sets the listeners; behind a proxy, the proxy has the web ports', async () => {
  const docker = await init([...ARGUMENTS, '--run', 'docker'])
  assert.not.match(docker.out, /_LISTEN=/)
  assert.match(docker.out, /docker compose up -d/)
  const proxy = await init([...ARGUMENTS, '--https', 'proxy'])
  assert.not.match(proxy.out, /MAILHORN_HTTP_TLS_LISTEN/)
  assert.match(proxy.out, /MAILHORN_HTTP_TRUSTED_PROXIES=127\.0\.0\.1,::1/)
  const checkout = await init([...ARGUMENTS, '--run', 'checkout'])
  assert.match(checkout.out, /ExecStart=\/usr\/bin\/npm start/)
})

test('init: what is missing is asked for, and asked again after a wrong answer', async () => {
  const typed = [
    'localhost',
    'Mail.Example.COM.',
    'nowhere',
    '203.0.113.7, 203.0.113.8',
    'ops',
    'ops@example.com',
  ]
  const { code, examined, questions, said } = await init([], { typed })
  assert.is(code, 0)
  assert.is(examined[0]!.settings.MAILHORN_MAIL_HOST, 'mail.example.com')
  assert.equal(examined[0]!.addresses, ['203.0.113.7', '203.0.113.8'])
  assert.is(examined[0]!.settings.MAILHORN_ACME_EMAIL, 'ops@example.com')
  assert.is(questions.length, 6)
  assert.equal(said, [
    '"localhost" is not a host name with a domain, such as mail.example.com',
    '--address: "nowhere" is not an IP address',
    '--contact: "ops" is not an email address',
  ])
})

for (const [args, message] of [
  [[], 'missing <mail host>'],
  [['mail.example.com'], 'missing --address'],
  [['mail.example.com', '--address', '203.0.113.7'], 'missing --contact'],
  [['https://mail.example.com'], '"https://mail.example.com" is not a host name'],
  [['203.0.113.7'], '"203.0.113.7" is not a host name'],
  [[...ARGUMENTS, '--run', 'podman'], '--run must be one of package, docker, checkout, not "podman"'],
  [[...ARGUMENTS, '--https', 'yes'], '--https must be one of own, proxy, not "yes"'],
  [
    [...ARGUMENTS.slice(0, 3), '--address', '10.0.0.5'],
    '--address: 10.0.0.5 is not a public address; behind NAT',
  ],
  [[...ARGUMENTS.slice(0, 3), '--address', '::1'], '--address: ::1 is not a public address'],
  [[...ARGUMENTS, '--private-address', '10.0.0'], '--private-address: "10.0.0" is not an IP address'],
  [[...ARGUMENTS, '--private-address', '127.0.0.1'], '--private-address: 127.0.0.1 is a loopback address'],
] as [string[], string][])
  test(`init ${args.join(' ')}: without a terminal it is a usage error`, async () => {
    const { code, err, examined } = await init(args)
    assert.is(code, 2)
    assert.ok(err.includes(message), err)
    assert.equal(examined, [])
  })

test('init --write: the settings are written among the other lines of the file', async t => {
  const file = join(folderOf(t), 'mailhorn.env')
  writeFileSync(
    file,
    '# Settings\n#MAILHORN_MAIL_HOST=mail.example.com\nMAILHORN_DATA_DIR=/var/lib/mailhorn\n',
  )
  await init([...ARGUMENTS, '--write', file])
  const once = readFileSync(file, 'utf8')
  assert.match(
    once,
    /^# Settings\nMAILHORN_MAIL_HOST=mail\.example\.com\nMAILHORN_DATA_DIR=\/var\/lib\/mailhorn\n/,
  )
  assert.match(once, /\nMAILHORN_DNS_ADDRESSES=203\.0\.113\.7\n/)
  await init([...ARGUMENTS, '--write', file])
  assert.is(readFileSync(file, 'utf8'), once)
  const fresh = join(folderOf(t), 'new.env')
  assert.is((await init([...ARGUMENTS, '--write', fresh])).code, 0)
  assert.is(statSync(fresh).mode & 0o007, 0)
  const { code, out } = await init([...ARGUMENTS, '--write', join(fresh, 'below')])
  assert.is(code, 1)
  assert.match(
    out,
    /1\. The settings could NOT be written to .*below \(ENOTDIR.*\)\. Save them yourself, as root:/,
  )
  assert.match(out, / {3}MAILHORN_MAIL_HOST=mail\.example\.com/)
})

test('init --write: other answers comment out what the former ones have set, and changes are printed', async t => {
  const file = join(folderOf(t), 'mailhorn.env')
  await init([...ARGUMENTS, '--write', file])
  writeFileSync(file, readFileSync(file, 'utf8').replace('127.0.0.1:3000', '127.0.0.1:3999'))
  const { out } = await init([...ARGUMENTS, '--https', 'proxy', '--write', file])
  const text = readFileSync(file, 'utf8')
  assert.match(text, /^#MAILHORN_HTTP_TLS_LISTEN=0\.0\.0\.0:443$/m)
  assert.match(text, /^#MAILHORN_ACME_LISTEN=0\.0\.0\.0:80$/m)
  for (const line of [
    'changed: MAILHORN_HTTP_LISTEN=127.0.0.1:3999 is now MAILHORN_HTTP_LISTEN=127.0.0.1:3000',
    'changed: MAILHORN_HTTP_TLS_LISTEN=0.0.0.0:443 is commented out',
  ])
    assert.ok(out.includes(`   ${line}\n`), line)
  await init([...ARGUMENTS, '--write', file])
  assert.match(readFileSync(file, 'utf8'), /^MAILHORN_HTTP_TLS_LISTEN=0\.0\.0\.0:443$/m)
  assert.match(readFileSync(file, 'utf8'), /^#MAILHORN_HTTP_TRUSTED_PROXIES=/m)
})

test('init: behind NAT with public IPv6, the public IPv4 address has to be named', async () => {
  const interfaces = ['10.0.0.5', '2a01:4f8::1']
  const { code, err } = await init(ARGUMENTS.slice(0, 3), { interfaces })
  assert.is(code, 2)
  assert.match(
    err,
    /no network interface has a public IPv4 address \(found: 10\.0\.0\.5, 2a01:4f8::1\); behind NAT/,
  )
  const { examined } = await init([...ARGUMENTS.slice(0, 3), '--address', '5.9.1.1,2a01:4f8::1,5.9.1.1'], {
    interfaces,
  })
  assert.equal(examined[0]!.addresses, ['5.9.1.1', '2a01:4f8::1'])
  assert.is(examined[0]!.settings.MAILHORN_DNS_LISTEN, '10.0.0.5:53,[2a01:4f8::1]:53')
  assert.not('MAILHORN_DELIVERY_SOURCE_IPS' in examined[0]!.settings)
})

test('init: a public address that is not named sends no mail', async () => {
  const { out } = await init([...ARGUMENTS.slice(0, 3), '--address', '5.9.1.1'], {
    interfaces: ['5.9.1.1', '2a01:4f8::1'],
  })
  assert.match(out, /MAILHORN_DELIVERY_SOURCE_IPS=5\.9\.1\.1\n/)
  const nat = await init([...ARGUMENTS.slice(0, 3), '--address', '5.9.1.1'], {
    interfaces: ['10.0.0.5', '2a01:4f8::1'],
  })
  assert.match(nat.out, /MAILHORN_DELIVERY_SOURCE_IPS=10\.0\.0\.5\n/)
})

test('init: a registered domain is warned about; with Docker, port 53 is tested at all addresses', async () => {
  const { said, code } = await init(['example.com', ...ARGUMENTS.slice(1)])
  assert.is(code, 0)
  assert.match(said[0]!, /^example\.com is a registered domain: .* such as mail\.example\.com\.$/)
  const { examined } = await init([...ARGUMENTS, '--run', 'docker'])
  assert.is(examined[0]!.settings.MAILHORN_DNS_LISTEN, '0.0.0.0:53')
})

for (const [before, after] of [
  ['', 'A=1\n'],
  ['B=2\n', 'B=2\nA=1\n'],
  ['A=0\nB=2', 'A=1\nB=2\n'],
  ['# A=0\nB=2\n', 'A=1\nB=2\n'],
  ['#A=0\nA=3\n', '#A=0\nA=1\n'],
  ['A=0\nA=3\n', 'A=0\nA=1\n'],
  ['#AB=0\nXA=3\n', '#AB=0\nXA=3\nA=1\n'],
  ['export A=0\n', 'export A=1\n'],
  ['A=1\nC=2\n', 'A=1\n#C=2\n'],
] as const)
  test(`settings file: A=1 in ${JSON.stringify(before)}`, () => {
    assert.is(mergedSettings(before, [['A', '1']], ['C']).text, after)
  })

test.run()
