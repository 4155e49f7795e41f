/**
 * Builds the image without a container engine: each instruction of the Dockerfile is acted out in a file
 * system of its base, `debian:13-slim`, which `scripts/fetch-base.ts` makes, and programs run in it as a
 * container's do: with its user, its environment, no capabilities, and a network of their own.
 */
import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type RunningMta, startMta } from '../../kit/debian-root.ts'

const CHECKOUT = fileURLToPath(new URL('../../..', import.meta.url))
const FETCHED = join(CHECKOUT, 'node_modules/.cache/bases/trixie')
const BASE = join(FETCHED, 'root')
const BASES = ['debian:13-slim', 'node:24-trixie-slim']
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const LOW_PORTS = '/proc/sys/net/ipv4/ip_unprivileged_port_start'
/** Address of a container. */
const ADDRESS = '172.18.0.2/16'
/** Packages of Debian and of npm that were loaded before, for instructions without a network. */
const APT_PACKAGES = '/packages'
const NPM_CACHE = '/npm-cache'

interface Instruction {
  /** Such as `RUN`. */
  word: string
  rest: string
}

/** Settings of an image for its containers. */
export interface ImageSettings {
  env: Record<string, string>
  user: string
  /** Such as `53/udp`. */
  ports: string[]
  volumes: string[]
  stopSignal: string
  command: string[]
  healthCheck: string[]
}

export interface Image extends ImageSettings {
  /** Its file system. */
  path: string
  /** Size of what the instructions add to the base. */
  addedBytes: number
  close(): void
}

export interface Container {
  /** Starts a program in it, by default with the environment of the image alone. */
  start(command: readonly string[], env?: Record<string, string>): RunningMta
  /** Runs a program in it to its end. @throws with what it printed when it fails */
  run(command: readonly string[], env?: Record<string, string>): Promise<string>
  /** Returns the sockets that listen in its network, such as `53/udp`, but for those on loopback. */
  listening(): string[]
  close(): void
}

/** @returns why images cannot be built here; undefined if they can */
export function whyNoImage(): string | undefined {
  if (process.getuid?.() !== 0) return 'it needs root'
  if (!existsSync(BASE))
    return 'there is no file system of the base: node scripts/fetch-base.ts makes it by debootstrap'
  return undefined
}

/** @throws for an instruction that it does not know, and for one that fails, with what was printed */
export async function buildImage(): Promise<Image> {
  const folder = mkdtempSync(join(tmpdir(), 'image-'))
  const close = () => rmSync(folder, { recursive: true })
  try {
    const stages = new Map<string, string>()
    let built: { path: string; settings: ImageSettings } | undefined
    for (const stage of stagesOf(readFileSync(join(CHECKOUT, 'Dockerfile'), 'utf8'))) {
      const path = join(folder, `stage-${stages.size}`)
      built = { path, settings: await buildStage(stage, path, stages) }
      stages.set(stage.name, path)
    }
    const { path, settings } = built!
    return { ...settings, path, addedBytes: bytesIn(path) - bytesIn(BASE), close }
  } catch (error) {
    close()
    throw error
  }
}

function bytesIn(path: string): number {
  return Number.parseInt(spawnSync('du', ['-sb', path], { encoding: 'utf8' }).stdout, 10)
}

interface Stage {
  base: string
  name: string
  instructions: Instruction[]
}

function stagesOf(dockerfile: string): Stage[] {
  const lines = dockerfile
    .split('\n')
    .filter(line => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter(line => line.trim() !== '')
  const stages: Stage[] = []
  for (const line of lines) {
    const [, word, rest] = /^([A-Z]+) (.*)$/.exec(line)!
    if (word === 'FROM') {
      const [base, , name = ''] = rest!.split(' ')
      stages.push({ base: base!, name, instructions: [] })
    } else stages.at(-1)!.instructions.push({ word: word!, rest: rest! })
  }
  return stages
}

async function buildStage(
  stage: Stage,
  path: string,
  stages: ReadonlyMap<string, string>,
): Promise<ImageSettings> {
  if (!BASES.includes(stage.base)) throw new Error(`the base ${stage.base} is not ${BASES.join(' or ')}`)
  copyTree(BASE, path)
  if (stage.base.startsWith('node:')) installNode(path)
  const settings: ImageSettings = {
    ...{ env: {}, user: 'root', ports: [], volumes: [], stopSignal: 'SIGTERM', command: [], healthCheck: [] },
  }
  let folder = '/'
  for (const { word, rest } of stage.instructions)
    if (word === 'WORKDIR') {
      folder = posix.resolve(folder, rest)
      mkdirSync(join(path, folder), { recursive: true })
    } else if (word === 'COPY') copyInto(path, folder, rest, stages)
    else if (word === 'RUN') await runStep(path, folder, settings, rest)
    else apply(settings, word, rest)
  return settings
}

function apply(settings: ImageSettings, word: string, rest: string) {
  if (word === 'ENV')
    for (const pair of rest.split(/ +/)) {
      const [name, value] = pair.split('=')
      settings.env[name!] = value!
    }
  else if (word === 'USER') settings.user = rest
  else if (word === 'VOLUME') settings.volumes.push(rest)
  else if (word === 'EXPOSE')
    settings.ports.push(...rest.split(' ').map(port => (port.includes('/') ? port : `${port}/tcp`)))
  else if (word === 'STOPSIGNAL') settings.stopSignal = rest
  else if (word === 'HEALTHCHECK') settings.healthCheck = JSON.parse(rest.replace(/^.*? CMD /, ''))
  else if (word === 'CMD') settings.command = JSON.parse(rest)
  else throw new Error(`unknown instruction ${word} ${rest}`)
}

/** A checkout as a builder gets it: without what `.dockerignore` names, all of it at the top. */
function copyInto(path: string, folder: string, rest: string, stages: ReadonlyMap<string, string>) {
  const words = rest.split(' ')
  const from = words[0]!.startsWith('--from=') ? stages.get(words.shift()!.slice('--from='.length)) : CHECKOUT
  if (from === undefined) throw new Error(`COPY ${rest} names no stage`)
  const target = words.pop()!
  const into = join(path, posix.resolve(folder, target))
  for (const source of words)
    if (source === '.') {
      const ignored = readFileSync(join(CHECKOUT, '.dockerignore'), 'utf8').trim().split('\n')
      for (const name of readdirSync(CHECKOUT))
        if (!ignored.includes(name)) copyTree(join(from, name), join(into, name))
    } else copyTree(join(from, source), target.endsWith('/') ? join(into, source) : into)
}

function copyTree(from: string, to: string) {
  mkdirSync(dirname(to), { recursive: true })
  const { status, stderr } = spawnSync('cp', ['-a', '--no-target-directory', from, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

/** Adds the locked Node and the npm of this machine where the image of Node has them. */
function installNode(path: string) {
  cpSync(process.execPath, join(path, 'usr/local/bin/node'))
  const npm = realpathSync(spawnSync('which', ['npm'], { encoding: 'utf8' }).stdout.trim())
  copyTree(dirname(dirname(npm)), join(path, 'usr/local/lib/node_modules/npm'))
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(path, 'usr/local/bin/npm'))
}

async function runStep(path: string, folder: string, { env, user }: ImageSettings, step: string) {
  const cache = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim()
  mkdirSync(cache, { recursive: true })
  const variables = {
    ...env,
    APT_CONFIG: `${APT_PACKAGES}/apt.conf`,
    npm_config_cache: NPM_CACHE,
    npm_config_prefer_offline: 'true',
  }
  const binds = { [cache]: NPM_CACHE, [join(FETCHED, 'packages')]: APT_PACKAGES }
  await finish(inside(path, { user, env: variables, folder, binds }, ['/bin/sh', '-c', step]))
  for (const bound of Object.values(binds)) rmSync(join(path, bound), { recursive: true })
}

interface Running {
  user: string
  env: Record<string, string>
  folder?: string
  /** Folders of this machine, by which one in the file system is covered. */
  binds?: Record<string, string>
  /** Takes all capabilities, and the right to get any, as `cap_drop` and `no-new-privileges` do. */
  isBare?: boolean
}

/** @returns the command line that runs a command in a file system */
function inside(
  path: string,
  { user, env, folder = '/', binds = {}, isBare = false }: Running,
  command: readonly string[],
): string[] {
  const mounts = ['mount --bind /dev "$0/dev"', 'mount -t proc proc "$0/proc"']
  for (const [from, to] of Object.entries(binds)) {
    mkdirSync(join(path, to), { recursive: true })
    mounts.push(`mount --bind '${from}' "$0${to}"`)
  }
  const variables = Object.entries({ PATH, HOME: '/root', ...env }).map(([name, value]) => `${name}=${value}`)
  const bare = isBare ? ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'] : []
  return [
    ...['unshare', '--mount', 'sh', '-c', `${mounts.join(' && ')} && exec "$@"`, path],
    ...['chroot', path, '/usr/bin/env', '-i', '-C', folder, ...variables],
    ...['/usr/bin/setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', ...bare, ...command],
  ]
}

/** @throws Error with the end of the output when the program fails */
async function finish([program, ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program!, args, { maxBuffer: 64 * 1024 * 1024 })
    return stdout
  } catch (error) {
    const { stdout, stderr, code } = error as { stdout: string; stderr: string; code: unknown }
    throw new Error(`${args.at(-1)} ended with ${code}: ${`${stdout}${stderr}`.slice(-2_000)}`)
  }
}

/**
 * A container of the image with new volumes, without the capability to bind low ports, which its network
 * allows to all.
 * @param shared folders of this machine that it sees at the same paths
 */
export function openContainer(image: Image, shared: readonly string[] = []): Container {
  const name = `image-${process.pid}`
  const volumes = mkdtempSync(join(tmpdir(), 'volumes-'))
  const binds = Object.fromEntries(shared.map(path => [path, path]))
  for (const volume of image.volumes) {
    // a new volume begins with what the image has there
    copyTree(join(image.path, volume), join(volumes, volume))
    binds[join(volumes, volume)] = volume
  }
  const network = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('ip', args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const enter = ['netns', 'exec', name]
  network('netns', 'add', name)
  network('-n', name, 'link', 'add', 'eth0', 'type', 'veth', 'peer', 'name', 'bridge')
  network('-n', name, 'address', 'add', ADDRESS, 'dev', 'eth0')
  for (const device of ['lo', 'bridge', 'eth0']) network('-n', name, 'link', 'set', device, 'up')
  network(...enter, 'sh', '-c', `echo 0 > ${LOW_PORTS}`)
  const lineOf = (command: readonly string[], env: Record<string, string> = {}) => {
    const running = { user: image.user, env: { ...image.env, ...env }, binds, isBare: true }
    return ['ip', ...enter, ...inside(image.path, running, command)]
  }
  return {
    start(command, env) {
      const [program, ...args] = lineOf(command, env)
      return startMta(program!, args)
    },
    run: (command, env) => finish(lineOf(command, env)),
    listening() {
      const lines = network(...enter, 'ss', '-Hlntu')
        .trim()
        .split('\n')
      return lines
        .map(line => line.split(/\s+/))
        .filter(([, , , , local]) => !local!.startsWith('127.'))
        .map(([protocol, , , , local]) => `${local!.slice(local!.lastIndexOf(':') + 1)}/${protocol}`)
    },
    close() {
      network('netns', 'del', name)
      rmSync(volumes, { recursive: true })
    },
  }
}
