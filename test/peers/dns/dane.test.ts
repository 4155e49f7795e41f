/**
 * DANE behind unbound from Debian, which validates zones that ldns has signed; from the resolver up to
 * delivered mail.
 */

import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import * as assert from 'uvu/assert'
import { systemClock } from '../../../src/lib/clock.ts'
import { createValidatingClient } from '../../../src/protocols/dns/validating-client.ts'
import { startFakeMx } from '../../kit/fake-mx.ts'
import { startMailhorn } from '../../kit/mailhorn.ts'
import { suite, type TestContext } from '../../kit/suite.ts'
import { testAuthority, testCertificate } from '../../kit/tls.ts'
import { until } from '../../kit/until.ts'
import { runUnbound } from './run-unbound.ts'
import { missing } from './tools.ts'

const test = suite('peers/dns: DANE behind unbound')

const keyDigest = (pem: string) =>
  createHash('sha256')
    .update(new X509Certificate(pem).publicKey.export({ type: 'spki', format: 'der' }))
    .digest('hex')
const HOST_KEY = keyDigest(testCertificate('self-signed').cert)
const AUTHORITY_KEY = keyDigest(testAuthority())

function zoneOf(apex: string, port: number): string {
  return `
$ORIGIN ${apex}.
$TTL 300
@ SOA ns hostmaster 1 3600 600 86400 60
@ NS ns
ns A 127.0.0.1
@ MX 10 mx
mx A 127.0.0.2
_${port}._tcp.mx TLSA 3 1 1 ${HOST_KEY}
other MX 10 other
other A 127.0.0.3
_${port}._tcp.other TLSA 3 1 1 ${AUTHORITY_KEY}
anchored MX 10 anchored
anchored A 127.0.0.4
_${port}._tcp.anchored TLSA 2 1 1 ${AUTHORITY_KEY}
bare MX 10 bare
bare A 127.0.0.3
`
}

async function tool(name: string, args: string[], cwd: string): Promise<string> {
  const { stdout } = await promisify(execFile)(name, args, { cwd }).catch(error => {
    throw error.code === 'ENOENT' ? missing(name, error) : error
  })
  return stdout.trim()
}

/** @returns the signed zone's file and the DS record of its key */
async function signed(folder: string, apex: string, port: number): Promise<{ file: string; anchor: string }> {
  const file = join(folder, apex)
  await writeFile(file, zoneOf(apex, port))
  const key = await tool('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', apex], folder)
  await tool('ldns-signzone', ['-n', file, key], folder)
  return { file: `${file}.signed`, anchor: (await readFile(join(folder, `${key}.ds`), 'utf8')).trim() }
}

async function open(t: TestContext, port: number) {
  const folder = await mkdtemp(join(tmpdir(), 'signed-'))
  t.after(() => rm(folder, { recursive: true }))
  const good = await signed(folder, 'signed.example', port)
  const bogus = await signed(folder, 'bogus.example', port)
  const stranger = await tool('ldns-keygen', ['-a', 'ECDSAP256SHA256', '-k', 'bogus.example'], folder)
  const foreign = (await readFile(join(folder, `${stranger}.ds`), 'utf8')).trim()
  const insecure = join(folder, 'plain.example')
  await writeFile(insecure, zoneOf('plain.example', port))
  const authZone = (name: string, file: string) =>
    `auth-zone:\n  name: "${name}"\n  zonefile: "${file}"\n  for-upstream: yes\n  for-downstream: no\n`
  const { server } = await runUnbound(
    t,
    () => `
  module-config: "validator iterator"
  trust-anchor: "${good.anchor.replace(/\s+/g, ' ')}"
  trust-anchor: "${foreign.replace(/\s+/g, ' ')}"
  domain-insecure: "plain.example"
remote-control:
  control-enable: no
${authZone('signed.example', good.file)}${authZone('bogus.example', bogus.file)}${authZone('plain.example', insecure)}`,
  )
  return server
}

test('the resolver vouches for what is signed, not for what is not, and gives nothing out that is forged', async t => {
  const client = await t.using(createValidatingClient({ server: await open(t, 25), clock: systemClock }))
  const secureOf = async (name: string, type: 'SOA' | 'MX' | 'A' | 'TLSA') => {
    const answer = await client.ask(name, type)
    return answer.kind === 'failure' ? answer.kind : `${answer.kind} ${answer.secure}`
  }
  assert.is(await secureOf('signed.example', 'SOA'), 'found true')
  assert.is(await secureOf('signed.example', 'MX'), 'found true')
  assert.is(await secureOf('_25._tcp.mx.signed.example', 'TLSA'), 'found true')
  assert.is(await secureOf('_25._tcp.bare.signed.example', 'TLSA'), 'none true')
  assert.is(await secureOf('plain.example', 'MX'), 'found false')
  assert.is(await secureOf('bogus.example', 'MX'), 'failure')
})

test('mail goes where DNS names the certificate, and nowhere else', async t => {
  const mx = await t.using(startFakeMx({ host: '127.0.0.2', tls: 'self-signed' }))
  const other = await t.using(startFakeMx({ host: '127.0.0.3', port: mx.port, tls: 'self-signed' }))
  const anchored = await t.using(startFakeMx({ host: '127.0.0.4', port: mx.port, tls: 'good-chain' }))
  const validating = await open(t, mx.port)
  const mailhorn = await t.using(
    startMailhorn({
      dns: true,
      mxPort: mx.port,
      env: {
        MAILHORN_DNS_VALIDATING_RESOLVER: validating,
        MAILHORN_DNS_SIGNED_NAME: 'signed.example',
      },
    }),
  )
  for (const zone of ['signed.example', 'bogus.example', 'plain.example'])
    mailhorn.zone.forward(zone, validating)
  await mailhorn.verifiedDomain('here.example')
  const send = (to: string) => mailhorn.send({ from: 'ann@here.example', to, subject: 'hi', text: 'hi' })
  const firstAttempt = async (to: string) => {
    const id = await send(to)
    return until(async () => (await mailhorn.email(id)).recipients[0].transcripts[0])
  }
  const delivered = await firstAttempt('a@signed.example')
  assert.equal(
    [delivered.outcome, delivered.hosts[0].policy, delivered.hosts[0].tls.verified],
    ['delivered', 'dane', true],
  )
  assert.is(mx.messages[0]!.tls, true)
  const mismatch = await firstAttempt('a@other.signed.example')
  assert.equal([mismatch.outcome, mismatch.hosts[0].policy], ['deferred', 'dane'])
  assert.match(mismatch.reply, /no TLSA record fits/)
  const byAuthority = await firstAttempt('a@anchored.signed.example')
  assert.match(byAuthority.reply, /another name/)
  const bogus = await firstAttempt('a@bogus.example')
  assert.is(bogus.outcome, 'deferred')
  const bare = await firstAttempt('a@bare.signed.example')
  assert.equal([bare.outcome, bare.hosts[0].policy], ['delivered', 'none'])
  const insecure = await firstAttempt('a@plain.example')
  assert.equal([insecure.outcome, insecure.hosts[0].policy], ['delivered', 'none'])
  assert.is(other.messages.length, 1)
  assert.is(anchored.messages.length, 0)
})

test.run()
