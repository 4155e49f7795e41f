/**
 * Makes what is installed without npm: an archive with the built service, the dashboard, the modules that
 * are not bundled, and the Node runtime; a Debian package of the same tree; and one executable file that
 * contains it.
 *
 *   npm run package -- [--arch x64|arm64] [--out packages] [--tree]
 *
 * Nothing depends on the time or the machine, so the same commit gives the same octets (with
 * SOURCE_DATE_EPOCH, or the time of the last commit, as the time of all files). With --tree, only the folder
 * is made, for the image.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { licensesOf } from './licenses.ts'
import { makeOneFile } from './one-file.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const DEBIAN_ARCHITECTURES: Record<string, string> = { x64: 'amd64', arm64: 'arm64' }
const COPIED = [
  'bin',
  'build',
  'config/default.json',
  'dist',
  'package.json',
  'README.md',
  'CHANGELOG.md',
  'LICENSE',
]
const INSTALLED = ['install.sh', 'mailhorn.service', 'mailhorn.env', 'monitoring']

const { values } = parseArgs({
  options: {
    arch: { type: 'string', default: process.arch },
    out: { type: 'string', default: 'packages' },
    tree: { type: 'boolean', default: false },
  },
})
const { arch } = values
const debianArchitecture = DEBIAN_ARCHITECTURES[arch]
if (debianArchitecture === undefined)
  throw new Error(`--arch must be ${Object.keys(DEBIAN_ARCHITECTURES).join(' or ')}`)
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
const name = `mailhorn-${version}-linux-${arch}`
const out = resolve(values.out)
const tree = join(out, name)

mkdirSync(out, { recursive: true })
rmSync(tree, { recursive: true, force: true })
makeTree()
if (!values.tree) {
  const changedAt = process.env.SOURCE_DATE_EPOCH ?? timeOfCommit()
  process.env.SOURCE_DATE_EPOCH = changedAt // dpkg-deb reads it
  const archive = `${tree}.tar.gz`
  run('tar', [...reproducible(changedAt), '-C', out, '-I', 'gzip -6n', '-cf', archive, name])
  report(archive)
  report(debianPackage())
  const executable = join(out, `mailhorn-linux-${arch}`)
  await makeOneFile(tree, executable)
  report(executable)
}

/** Copies what the service needs at run time; the bundles need no other modules. */
function makeTree() {
  for (const path of COPIED) cpSync(join(root, path), join(tree, path), { recursive: true })
  for (const path of INSTALLED) cpSync(join(root, 'packaging', path), join(tree, path), { recursive: true })
  const foreign = arch === process.arch ? undefined : foreignModules()
  const installed = join(foreign ?? root, 'node_modules')
  const copy = (from: string, to = from) =>
    cpSync(join(installed, from), join(tree, 'node_modules', to), { recursive: true, dereference: true })
  for (const [module, paths] of Object.entries(unbundledModules(arch)))
    for (const path of paths) copy(join(module, path))
  copy(`node-linux-${arch}/bin/node`, '.bin/node')
  chmodSync(join(tree, 'node_modules/.bin/node'), 0o755)
  writeFileSync(join(tree, 'THIRD-PARTY-LICENSES'), licensesOf(foreign ?? root))
  if (foreign) rmSync(foreign, { recursive: true })
}

/** @returns the files at run time of the modules that `scripts/build-service.js` leaves out of the bundles */
function unbundledModules(cpu: string): Record<string, string[]> {
  return {
    'better-sqlite3': ['package.json', 'lib', `prebuilds/linux-${cpu}.node`],
    koffi: ['package.json', 'index.js', 'src'],
    [`@koromix/koffi-linux-${cpu}`]: ['package.json', 'index.js', `linux_${cpu}`],
  }
}

/** Installs the locked dependencies of another platform. @returns the folder */
function foreignModules(): string {
  const folder = mkdtempSync(join(tmpdir(), 'mailhorn-package-'))
  for (const file of ['package.json', 'package-lock.json']) cpSync(join(root, file), join(folder, file))
  const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--os=linux', `--cpu=${arch}`]
  run('npm', ['ci', '--loglevel=error', ...options], folder)
  return folder
}

/** @returns the path of the package */
function debianPackage(): string {
  const staging = mkdtempSync(join(tmpdir(), 'mailhorn-deb-'))
  const program = join(staging, 'usr/lib/mailhorn')
  const place = (from: string, to: string) => cpSync(join(tree, from), join(staging, to), { recursive: true })
  try {
    for (const path of readdirSync(tree))
      if (!INSTALLED.includes(path)) place(path, join('usr/lib/mailhorn', path))
    place('mailhorn.service', 'usr/lib/systemd/system/mailhorn.service')
    place('mailhorn.env', 'etc/mailhorn.env')
    for (const path of ['README.md', 'CHANGELOG.md']) place(path, join('usr/share/doc/mailhorn', path))
    place('monitoring', 'usr/share/doc/mailhorn/monitoring')
    place('LICENSE', 'usr/share/doc/mailhorn/copyright')
    mkdirSync(join(staging, 'usr/bin'))
    symlinkSync('../lib/mailhorn/bin/mailhorn', join(staging, 'usr/bin/mailhorn'))
    cpSync(join(root, 'packaging/debian'), join(staging, 'DEBIAN'), { recursive: true })
    writeFileSync(join(staging, 'DEBIAN/conffiles'), '/etc/mailhorn.env\n')
    writeFileSync(join(staging, 'DEBIAN/control'), controlFile(sizeInKib(program)))
    run('chmod', ['-R', 'u=rwX,go=rX', staging])
    const file = join(out, `mailhorn_${version}_${debianArchitecture}.deb`)
    run('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', staging, file])
    return file
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

function controlFile(installedKib: number): string {
  return `Package: mailhorn
Version: ${version}
Architecture: ${debianArchitecture}
Maintainer: Mailhorn <mailhorn@localhost>
Installed-Size: ${installedKib}
Depends: libc6 (>= 2.28), libstdc++6, passwd
Recommends: systemd
Suggests: postgresql-client
Section: mail
Priority: optional
Description: self-hosted e-mail platform with its own transfer agent
 Mailhorn sends transactional and marketing email straight to the recipients'
 mail servers, receives inbound mail, and offers an HTTP API, SMTP submission,
 webhooks and a dashboard.
`
}

function sizeInKib(folder: string): number {
  return Number.parseInt(execFileSync('du', ['-sk', folder], { encoding: 'utf8' }), 10)
}

/** Options of tar for which the same tree gives the same archive. */
function reproducible(changedAt: string): string[] {
  return [
    '--sort=name',
    `--mtime=@${changedAt}`,
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u=rwX,go=rX',
  ]
}

function timeOfCommit(): string {
  return execFileSync('git', ['log', '-1', '--format=%ct'], { cwd: root, encoding: 'utf8' }).trim()
}

function report(file: string) {
  console.log(`${file}  ${(statSync(file).size / 1_000_000).toFixed(1)} MB`)
}

function run(program: string, args: readonly string[], cwd = root) {
  execFileSync(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
