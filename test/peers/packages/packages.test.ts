import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { freePort } from '../../kit/free-port.ts'
import { makePackages } from '../../kit/packages.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { type EmptyRoot, openEmptyRoot } from './empty-root.ts'

/** Installs the packages in a root that has neither Node nor npm. */
const test = suite('packages')

const root = fileURLToPath(new URL('../../..', import.meta.url))
const UNIT = join(root, 'packaging/mailhorn.service')
const DATA = 'var/lib/mailhorn'
const CREDENTIALS = `${DATA}/first-credentials`
/** Prints each datagram that arrives at a socket of the Unix family, which Node cannot open. */
const LISTENER = `
import os, socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o777)
print('listening', flush=True)
while True: print(s.recv(4096).decode(), flush=True)
`
/** Position of the architecture in a file of machine code. */
const ELF_MACHINE_AT = 18
const WATCHDOG_MS = 1_000
const EXECUTABLE = '/root/mailhorn'
/** Bodies of this size are parsed in a child process. */
const READ_BY_CHILD_BYTES = 4_000_000
let packages: string

test.before(() => {
  packages = makePackages()
})

test.after(() => rmSync(packages, { recursive: true }))

for (const { kind, install, remove } of [
  {
    kind: 'archive',
    install(empty: EmptyRoot) {
      empty.runOutside('tar', '-C', join(empty.path, 'root'), '-xf', fileNamed('*.tar.gz'))
      const script = join('/', globSync('root/*/install.sh', { cwd: empty.path })[0]!)
      return empty.run(script)
    },
    remove: (empty: EmptyRoot) =>
      empty.run(join('/', globSync('root/*/install.sh', { cwd: empty.path })[0]!), '--uninstall'),
  },
  {
    kind: 'Debian package',
    install: (empty: EmptyRoot) => empty.installPackage(fileNamed('*.deb')),
    remove: (empty: EmptyRoot) =>
      empty.runOutside('dpkg', `--root=${empty.path}`, '--force-depends', '-r', 'mailhorn'),
  },
])
  test(`the ${kind} installs a service that runs as its own user, and removing it leaves mail and settings`, async t => {
    const empty = await t.using(openEmptyRoot())
    assert.not.ok(existsSync(join(empty.path, 'usr/bin/node')))
    install(empty)
    assert.is(statSync(join(empty.path, 'etc/mailhorn.env')).mode & 0o777, 0o640)
    const { baseUrl, service, notifications } = await startInstalled(t, empty)

    const [password, key] = firstCredentials(empty)
    assert.ok(password)
    const send = await fetch(`${baseUrl}/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: 'a@example.com',
        to: 'delivered@simulator.test',
        subject: 'hi',
        text: 'hi',
      }),
    })
    assert.is(send.status, 200)
    const { id } = (await send.json()) as { id: string }
    await until(() => empty.run('/usr/bin/mailhorn', 'email', 'show', id).includes('delivered'))
    await until(() => notifications().filter(line => line === 'WATCHDOG=1').length >= 2)
    await service.end('SIGTERM')
    assert.ok(notifications().includes('STOPPING=1'))

    remove(empty)
    for (const path of [
      'usr/bin/mailhorn',
      'usr/lib/mailhorn',
      'usr/lib/systemd/system/mailhorn.service',
      'etc/systemd/system/mailhorn.service',
    ])
      assert.not.ok(existsSync(join(empty.path, path)), path)
    for (const path of ['etc/mailhorn.env', CREDENTIALS, `${DATA}/mailhorn.db`])
      assert.ok(existsSync(join(empty.path, path)), path)
  })

test('the Debian package suggests the programs that back up PostgreSQL', () => {
  const { stdout } = spawnSync('dpkg-deb', ['-f', fileNamed('*.deb'), 'Suggests'], { encoding: 'utf8' })
  assert.is(stdout, 'postgresql-client\n')
})

test('the unit is valid, and exposes little of the system', () => {
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', UNIT], {
    encoding: 'utf8',
  })
  const exposure = Number(/exposure level for mailhorn\.service: ([\d.]+)/.exec(stdout)?.[1])
  assert.ok(exposure < 3, stdout)
})

test('each part in machine code is locked for x64 and arm64', () => {
  const { packages: locked } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  for (const [cpu, machine] of [
    ['x64', 62],
    ['arm64', 183],
  ] as const) {
    for (const name of [`node-linux-${cpu}`, `@koromix/koffi-linux-${cpu}`])
      assert.match(locked[`node_modules/${name}`]?.integrity, /^sha512-/, name)
    const sqlite = readFileSync(join(root, `node_modules/better-sqlite3/prebuilds/linux-${cpu}.node`))
    assert.is(sqlite.readUInt16LE(ELF_MACHINE_AT), machine, cpu)
  }
})

test('the single executable unpacks itself, and a killed service loses nothing', async t => {
  const empty = await t.using(openEmptyRoot())
  installExecutable(empty)
  assert.match(empty.run(EXECUTABLE, 'version'), /^\d+\.\d+\.\d+\n$/)
  assert.throws(() => empty.run(EXECUTABLE), /Usage: mailhorn <command>/)
  assert.match(empty.run(EXECUTABLE, 'help', 'init'), /--contact <email>/)
  assert.throws(() => empty.run(EXECUTABLE, 'serve', '--port'), /serve takes no option but --no-migrate/)

  const { baseUrl, service } = await startExecutable(t, empty)
  const [, key] = firstCredentials(empty, 'root/data/first-credentials')
  const send = async (attachment: Buffer) => {
    const reply = await fetch(`${baseUrl}/emails`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        from: 'a@example.com',
        to: 'delayed@simulator.test',
        subject: 'hi',
        text: 'hi',
        attachments: [{ filename: 'a.bin', content: attachment.toString('base64') }],
      }),
    })
    assert.is(reply.status, 200, `${await reply.clone().text()}${service.log()}`)
    return ((await reply.json()) as { id: string }).id
  }
  renameSync(join(empty.path, EXECUTABLE), join(empty.path, 'root/former'))
  const ids = [await send(randomBytes(READ_BY_CHILD_BYTES)), await send(randomBytes(10))]
  assert.not.match(service.log(), /reader_process/)
  await service.end('SIGKILL')
  renameSync(join(empty.path, 'root/former'), join(empty.path, EXECUTABLE))
  const again = await startExecutable(t, empty)
  for (const id of ids) await until(() => empty.run(EXECUTABLE, 'email', 'show', id).includes('delivered'))
  assert.match(empty.run(EXECUTABLE, 'doctor', '--help'), /^Usage: mailhorn doctor/)
  await again.service.end('SIGTERM')
  assert.match(again.service.log(), /"event":"stopping"/)
})

test('the single executable replaces damaged files, and says in one line that its home cannot be written', async t => {
  const empty = await t.using(openEmptyRoot())
  installExecutable(empty)
  empty.run(EXECUTABLE, 'version')
  const [unpacked] = globSync(join(empty.path, 'root/.cache/mailhorn/*'))
  assert.is(statSync(unpacked!).mode & 0o777, 0o700)
  const [sqlite] = globSync(join(unpacked!, 'node_modules/better-sqlite3/prebuilds/*.node'))
  const files = [sqlite!, join(unpacked!, 'build/cli.js')]
  const before = files.map(file => readFileSync(file))
  for (const file of files) appendFileSync(file, 'damage')
  assert.match(empty.run(EXECUTABLE, 'version'), /^\d/)
  assert.ok(files.every((file, i) => readFileSync(file).equals(before[i]!)))

  rmSync(join(empty.path, 'root/.cache'), { recursive: true })
  const readOnly = 'mount -t tmpfs -o ro none "$0/root" && exec chroot "$0" /srv/mailhorn version'
  renameSync(join(empty.path, EXECUTABLE), join(empty.path, 'srv/mailhorn'))
  const { status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', readOnly, empty.path], {
    encoding: 'utf8',
  })
  assert.is(status, 1)
  assert.match(stderr, /^mailhorn: the program cannot be unpacked into \/root\/.+EROFS.+XDG_CACHE_HOME.+\n$/)
})

function fileNamed(pattern: string): string {
  return join(packages, globSync(pattern, { cwd: packages })[0]!)
}

/** Starts what is installed as the unit does: its user, its folders, and a service manager that listens. */
async function startInstalled(t: TestContext, empty: EmptyRoot) {
  const port = await freePort()
  appendFileSync(
    join(empty.path, 'etc/mailhorn.env'),
    `MAILHORN_HTTP_LISTEN=127.0.0.1:${port}\nMAILHORN_DNS_LISTEN=\nMAILHORN_SIMULATOR_DOMAIN=simulator.test\n`,
  )
  const [, uid, gid] = /^mailhorn:[^:]*:(\d+):(\d+):/m.exec(
    readFileSync(join(empty.path, 'etc/passwd'), 'utf8'),
  )!
  for (const folder of [DATA, 'var/cache/mailhorn']) {
    mkdirSync(join(empty.path, folder), { recursive: true })
    chmodSync(join(empty.path, folder), 0o700)
    chownSync(join(empty.path, folder), Number(uid), Number(gid))
  }
  const listener = spawn('python3', ['-c', LISTENER, join(empty.path, 'run/notify')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => listener.kill())
  let heard = ''
  listener.stdout.setEncoding('utf8').on('data', text => {
    heard += text
  })
  await once(listener.stdout, 'data')
  const env = {
    NOTIFY_SOCKET: '/run/notify',
    WATCHDOG_USEC: `${WATCHDOG_MS * 1_000}`,
    NODE_COMPILE_CACHE: '/var/cache/mailhorn',
  }
  const service = empty.start('mailhorn', env, '/usr/bin/mailhorn', 'serve')
  t.after(() => service.end('SIGKILL'))
  const notifications = () => heard.split('\n').filter(line => line.includes('='))
  await until(() => notifications().includes('READY=1') || service.hasEnded())
  assert.not.ok(service.hasEnded(), service.log())
  return { baseUrl: `http://127.0.0.1:${port}`, service, notifications }
}

function installExecutable(empty: EmptyRoot) {
  mkdirSync(join(empty.path, 'srv'))
  cpSync(join(packages, `mailhorn-linux-${process.arch}`), join(empty.path, EXECUTABLE))
}

async function startExecutable(t: TestContext, empty: EmptyRoot) {
  const port = await freePort()
  const env = {
    MAILHORN_HTTP_LISTEN: `127.0.0.1:${port}`,
    MAILHORN_DNS_LISTEN: '',
    MAILHORN_SMTP_INBOUND_LISTEN: '127.0.0.1:0',
    MAILHORN_SIMULATOR_DOMAIN: 'simulator.test',
    MAILHORN_ADMIN_CREDENTIALS_FILE: 'first-credentials',
  }
  const service = empty.start('root', env, EXECUTABLE, 'serve')
  t.after(() => service.end('SIGKILL'))
  await until(() => service.log().includes('"event":"ready"') || service.hasEnded())
  assert.not.ok(service.hasEnded(), service.log())
  return { baseUrl: `http://127.0.0.1:${port}`, service }
}

function firstCredentials(empty: EmptyRoot, file = CREDENTIALS): [password: string, key: string] {
  const text = readFileSync(join(empty.path, file), 'utf8')
  return [/password\S*\s+(\S+)/i.exec(text)![1]!, /re_\w+/.exec(text)![0]]
}

test.run()
