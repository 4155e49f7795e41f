/**
 * The rest of the internet, as a new installation meets it: a registry and resolvers, a certificate
 * authority, and a mailbox provider that checks its senders.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { TestContext } from '../../kit/suite.ts'
import { runPebble } from '../acme/run-pebble.ts'
import { type RunningKnot, runKnot } from '../dns/run-knot.ts'
import { runUnbound } from '../dns/run-unbound.ts'
import { finish, type Host, Internet } from './internet.ts'

/** Python of Debian, which has the modules of its packages. */
const PYTHON = '/usr/bin/python3'
const REGISTRY = '192.5.6.30'
const AUTHORITY = '172.65.32.248'
const GMAIL = '142.250.27.26'
export const RESOLVER_OF_PROVIDER = '185.12.64.1'
/** The others are those that the service asks about published records unless it is told otherwise. */
const RESOLVERS = [RESOLVER_OF_PROVIDER, '1.1.1.1', '8.8.8.8', '9.9.9.9']
const MX_HOST = 'gmail-smtp-in.l.google.com'
const TOP_LEVEL = ['com', 'org', 'net', 'in-addr.arpa']
/** Names that `mailhorn doctor` looks up. Every list has the test entry of RFC 5782. */
const LISTS = { 'spamhaus.org': 'zen', 'spamcop.net': 'bl', 'barracudacentral.org': 'b' }
const ZONES: Record<string, string[]> = {
  'gmail.com': [`@ MX 5 ${MX_HOST}.`],
  'outlook.com': [`@ MX 5 ${MX_HOST}.`],
  'yahoo.com': [`@ MX 5 ${MX_HOST}.`],
  'google.com': [`gmail-smtp-in.l A ${GMAIL}`],
  'letsencrypt.org': [`acme-v02.api A ${AUTHORITY}`],
  'cloudflare.com': [`www A ${AUTHORITY}`],
  ...Object.fromEntries(
    Object.entries(LISTS).map(([zone, list]) => [zone, [`2.0.0.127.${list} A 127.0.0.2`]]),
  ),
}

/** A message as the mailbox provider has seen it. */
export interface JudgedMessage {
  to: string[]
  reply: string
  results: Record<string, boolean>
  message: string
}

export interface World {
  internet: Internet
  registry: RunningKnot
  /** Certificates of authorities that everybody trusts, PEM. */
  authorities: string
  /** Messages that came to the mailbox provider, oldest first. */
  judged: JudgedMessage[]
  gmail: Host
}

/** @param domain the operator's domain, which has a zone and no records yet */
export async function openWorld(t: TestContext, domain: string): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'go-live-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const internet = await Internet.open(t)
  const [registryHost, resolver, authority, gmail] = [
    await internet.host(REGISTRY),
    await internet.host(...RESOLVERS),
    await internet.host(AUTHORITY),
    await internet.host(GMAIL),
  ]
  const zones = [...TOP_LEVEL, ...Object.keys(ZONES), domain]
  const registry = await runKnot(t, REGISTRY, zones, registryHost.enter)
  for (const [zone, lines] of Object.entries(ZONES)) await registry.put(zone, lines)
  await runUnbound(t, resolverConfig, { enter: resolver.enter, addresses: RESOLVERS })
  const pebble = await t.using(
    runPebble({ dnsServer: `${RESOLVER_OF_PROVIDER}:53`, httpPort: 80, enter: authority.enter }),
  )
  const certificates = makeCertificates(folder, [
    'acme-v02.api.letsencrypt.org',
    'www.cloudflare.com',
    MX_HOST,
  ])
  const { certificate, key } = certificates
  await listening(t, authority, 'web.py', [certificate, key, `${pebble.port}`])
  const judged: JudgedMessage[] = []
  const lines = await listening(t, gmail, 'gmail.py', [RESOLVER_OF_PROVIDER, certificate, key])
  lines.on('line', line => judged.push(JSON.parse(line) as JudgedMessage))
  return { internet, registry, authorities: certificates.authority + pebble.root, judged, gmail }
}

/** Resolves top-level domains at the registry, and nothing that it does not know. */
function resolverConfig(): string {
  return `
  module-config: "iterator"
  qname-minimisation: yes
  harden-glue: yes
  cache-max-negative-ttl: 1
  local-zone: "." refuse
${TOP_LEVEL.map(zone => `  local-zone: "${zone}." transparent`).join('\n')}
remote-control:
  control-enable: no
${TOP_LEVEL.map(zone => `stub-zone:\n  name: "${zone}"\n  stub-addr: ${REGISTRY}\n`).join('')}`
}

/** Makes an authority that lasts as long as the test, and one certificate for all names. */
function makeCertificates(folder: string, names: readonly string[]) {
  const file = (name: string) => join(folder, name)
  const make = (...args: string[]) => {
    const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
    finish(['openssl', 'req', '-x509', ...curve, ...args])
  }
  make('-subj', '/CN=Authority of this test', '-keyout', file('ca.key'), '-out', file('ca.pem'))
  make(
    ...['-subj', `/CN=${names[0]}`, '-keyout', file('key.pem'), '-out', file('cert.pem')],
    ...['-CA', file('ca.pem'), '-CAkey', file('ca.key')],
    ...['-addext', `subjectAltName=${names.map(name => `DNS:${name}`).join()}`],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
  )
  return {
    authority: readFileSync(file('ca.pem'), 'utf8'),
    certificate: file('cert.pem'),
    key: file('key.pem'),
  }
}

/** Starts a script of this folder on a host; resolves to the lines that it prints once it listens. */
async function listening(t: TestContext, host: Host, script: string, args: readonly string[]) {
  const path = fileURLToPath(new URL(script, import.meta.url))
  const [program, ...entering] = [...host.enter, PYTHON, path, ...args]
  const child = spawn(program!, entering, { stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  t.after(() => {
    child.kill()
    return closed
  })
  const lines = createInterface(child.stdout)
  await Promise.race([
    once(lines, 'line'),
    closed.then(() => {
      throw new Error(`${script} ended; it needs python3-spf, python3-dkim, python3-nacl:\n${errors}`)
    }),
  ])
  return lines
}
