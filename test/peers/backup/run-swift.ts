/**
 * Runs OpenStack Swift from Debian with its S3 API on ports of its own on loopback: one server each for
 * accounts, containers and objects, one copy of everything, in a folder that is removed at the close. No
 * auditors or replicators run.
 */
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningMta, startMta } from '../../kit/debian-root.ts'
import { freePort } from '../../kit/free-port.ts'
import { until } from '../../kit/until.ts'

export const SWIFT_KEY = { accessKeyId: 'mailhorn:backup', secretAccessKey: 'the/secret+of/a/bucket' }
export const SWIFT_REGION = 'here-1'

export interface RunningSwift {
  /** URL of the store, without a bucket. */
  url: string
  /** Sizes of all stored objects, and of the parts of large ones; bytes. */
  sizes(): number[]
  log(): string
  close(): Promise<void>
}

const STORAGE = ['account', 'container', 'object'] as const
const PROGRAMS = [...STORAGE, 'proxy'].map(name => `swift-${name}-server`)
/** It works without a cache, but not without the setting of one. */
const NOBODY = '127.0.0.1:1'
/** Few listed keys, so that lists have pages. */
const PAGE_KEYS = 3

/** @returns why Swift cannot run here; undefined if it can */
export function whySwiftIsMissing(): string | undefined {
  const missing = PROGRAMS.filter(program => spawnSync('which', [program]).status !== 0)
  if (missing.length === 0) return undefined
  return `no S3-compatible store: install the Debian packages swift-proxy, swift-account, swift-container and swift-object (${missing.join(', ')} missing)`
}

/** Resolves when the store answers. @throws with its log when a server ends */
export async function runSwift(): Promise<RunningSwift> {
  const folder = mkdtempSync(join(tmpdir(), 'swift-'))
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text)
  mkdirSync(join(folder, 'disks/disk'), { recursive: true })
  write('swift.conf', '[swift-hash]\nswift_hash_path_prefix = test\nswift_hash_path_suffix = test\n')
  for (const name of STORAGE) {
    const port = await freePort()
    write(`${name}.conf`, storageSettings(name, { folder, port }))
    makeRing(join(folder, name), port)
  }
  const port = await freePort()
  write('proxy.conf', proxySettings({ folder, port }))
  const servers = [...STORAGE, 'proxy'].map(name =>
    startMta(`swift-${name}-server`, [join(folder, `${name}.conf`), '--verbose']),
  )
  const log = () => servers.map(server => server.log()).join('\n')
  const close = async () => {
    for (const server of servers) await server.end()
    rmSync(folder, { recursive: true })
  }
  const url = `http://127.0.0.1:${port}`
  try {
    await until(() => isServing(url, servers, log))
  } catch (error) {
    await close()
    throw error
  }
  const sizes = () => globSync(join(folder, 'disks/disk/objects/**/*.data')).map(file => statSync(file).size)
  return { url, sizes, log, close }
}

async function isServing(url: string, servers: readonly RunningMta[], log: () => string): Promise<boolean> {
  if (servers.some(server => server.hasEnded())) throw new Error(`Swift cannot be run:\n${log()}`)
  const reply = await fetch(`${url}/healthcheck`).catch(() => undefined)
  return reply?.ok === true
}

/** One copy on one disk. */
function makeRing(path: string, port: number) {
  const builder = `${path}.builder`
  for (const args of [
    ['create', '4', '1', '1'],
    ['add', `r1z1-127.0.0.1:${port}/disk`, '1'],
    ['rebalance'],
  ]) {
    const { status, stdout, stderr } = spawnSync('swift-ring-builder', [builder, ...args], {
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`swift-ring-builder ${args.join(' ')}: ${stdout}${stderr}`)
  }
}

interface Place {
  folder: string
  port: number
}

function common({ folder, port }: Place): string {
  return `bind_ip = 127.0.0.1
bind_port = ${port}
swift_dir = ${folder}
user = root
workers = 0
log_address = ${folder}/no-syslog`
}

function storageSettings(name: string, place: Place): string {
  return `[DEFAULT]
${common(place)}
devices = ${place.folder}/disks
mount_check = false
[pipeline:main]
pipeline = ${name}-server
[app:${name}-server]
use = egg:swift#${name}
`
}

function proxySettings(place: Place): string {
  const { accessKeyId, secretAccessKey } = SWIFT_KEY
  return `[DEFAULT]
${common(place)}
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck cache listing_formats s3api tempauth copy dlo slo versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers = ${NOBODY}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = ${SWIFT_REGION}
max_bucket_listing = ${PAGE_KEYS}
[filter:tempauth]
use = egg:swift#tempauth
user_${accessKeyId.replace(':', '_')} = ${secretAccessKey} .admin
[filter:slo]
use = egg:swift#slo
[filter:copy]
use = egg:swift#copy
[filter:dlo]
use = egg:swift#dlo
[filter:versioned_writes]
use = egg:swift#versioned_writes
`
}
