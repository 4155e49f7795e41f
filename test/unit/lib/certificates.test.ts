import { hash, X509Certificate } from 'node:crypto'
import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import * as assert from 'uvu/assert'
import { type CertificatePair, followCertificate, ownCertificate } from '../../../src/lib/certificates.ts'
import { createManualClock } from '../../kit/manual-clock.ts'
import { tempFolder } from '../../kit/store.ts'
import { suite, type TestContext } from '../../kit/suite.ts'

const test = suite('lib/certificates')

const DAY_MS = 86_400_000
const NOW = Date.UTC(2026, 10, 21)

test('self-signed certificate: it is valid for the host, usable, and readable by its owner alone', async t => {
  const { path } = await t.using(tempFolder())
  const pair = ownCertificate(path, ['mail.example'], NOW).current()
  createSecureContext(pair)
  assert.is(new X509Certificate(pair.cert).checkHost('mail.example'), 'mail.example')
  assert.is(statSync(join(path, 'self-signed.pem')).mode & 0o777, 0o600)
})

test('self-signed certificate: it is for TLS servers, identifies its key, and is valid for at most 825 days', async t => {
  const { path } = await t.using(tempFolder())
  const { cert } = ownCertificate(path, ['mail.example'], NOW).current()
  const { validFrom, validTo, keyUsage, raw, publicKey } = new X509Certificate(cert)
  const days = (Date.parse(validTo) - Date.parse(validFrom)) / DAY_MS
  assert.ok(days > 800 && days <= 825, `${days} days`)
  // clients whose clock is slow take it for valid, too
  assert.is(Date.parse(validFrom), NOW - DAY_MS)
  assert.equal(keyUsage, ['1.3.6.1.5.5.7.3.1'])
  const identifier = hash('sha256', publicKey.export({ type: 'spki', format: 'der' })).slice(0, 40)
  const extensions = raw.toString('hex')
  assert.ok(extensions.includes(`0603551d0e04160414${identifier}`), 'subject key identifier')
  assert.ok(extensions.includes(`0603551d23041830168014${identifier}`), 'authority key identifier')
})

test('self-signed certificate: it survives restarts and is replaced for another host or before it expires', async t => {
  const { path } = await t.using(tempFolder())
  const serial = (host: string, now: number) =>
    new X509Certificate(ownCertificate(path, [host], now).current().cert).serialNumber
  const first = serial('mail.example', NOW)
  assert.is(serial('mail.example', NOW + DAY_MS), first)
  const other = serial('other.example', NOW)
  assert.is.not(other, first)
  assert.is.not(serial('other.example', NOW + 800 * DAY_MS), other)
})

test('self-signed certificate: it covers every host and is replaced when one is added', async t => {
  const { path } = await t.using(tempFolder())
  const hosts = ['mail.example', 'feedback-smtp.eu.mail.example', 'feedback-smtp.us.mail.example']
  const read = (of: string[]) => new X509Certificate(ownCertificate(path, of, NOW).current().cert)
  const first = read(hosts.slice(0, 2))
  const all = read(hosts)
  for (const host of hosts) assert.is(all.checkHost(host), host)
  assert.is.not(all.serialNumber, first.serialNumber)
  assert.is(read(hosts.slice(0, 1)).serialNumber, all.serialNumber)
})

test('self-signed certificate: a truncated file is replaced', async t => {
  const { path } = await t.using(tempFolder())
  const file = join(path, 'self-signed.pem')
  const { cert, key } = ownCertificate(path, ['mail.example'], NOW).current()
  for (const left of ['', cert, (cert + key).slice(0, 200)]) {
    writeFileSync(file, left)
    const pair = ownCertificate(path, ['mail.example'], NOW).current()
    createSecureContext(pair)
    assert.is.not(pair.cert, cert)
    assert.is(readFileSync(file, 'utf8'), pair.cert + pair.key)
  }
})

async function files(t: TestContext) {
  const { path } = await t.using(tempFolder())
  const { path: other } = await t.using(tempFolder())
  const certFile = join(path, 'cert.pem')
  const keyFile = join(path, 'key.pem')
  let at = NOW / 1_000
  const put = ({ cert, key }: CertificatePair) => {
    writeFileSync(certFile, cert)
    writeFileSync(keyFile, key)
    at += 1
    utimesSync(certFile, at, at)
    utimesSync(keyFile, at, at)
  }
  const made = (host: string) => ownCertificate(other, [host], NOW).current()
  put(made('one.example'))
  const clock = createManualClock()
  const errors: unknown[] = []
  const certificates = followCertificate({ certFile, keyFile, clock, onError: error => errors.push(error) })
  t.after(certificates.close)
  const heard: CertificatePair[] = []
  certificates.onChange(pair => heard.push(pair))
  return { put, made, clock, errors, certificates, heard, certFile }
}

const hostOf = ({ cert }: CertificatePair) => /CN=(.*)/.exec(new X509Certificate(cert).subject)![1]

test('certificate files: renewed files are loaded', async t => {
  const { put, made, clock, certificates, heard } = await files(t)
  assert.is(hostOf(certificates.current()), 'one.example')
  put(made('two.example'))
  await clock.advance(60_000)
  assert.is(hostOf(certificates.current()), 'two.example')
  assert.equal(heard.map(hostOf), ['two.example'])
  await clock.advance(600_000)
  assert.is(heard.length, 1)
})

test('certificate files: a key that does not match changes nothing, the next good pair does', async t => {
  const { put, made, clock, errors, certificates, heard, certFile } = await files(t)
  const two = made('two.example')
  put({ ...two, key: made('three.example').key })
  await clock.advance(60_000)
  assert.is(errors.length, 1)
  assert.equal([hostOf(certificates.current()), heard.length], ['one.example', 0])
  put(two)
  await clock.advance(60_000)
  assert.is(hostOf(certificates.current()), 'two.example')
  assert.is(readFileSync(certFile, 'utf8'), certificates.current().cert)
})

test.run()
