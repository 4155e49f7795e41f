/**
 * Shares helpers between the DNS peer tests: Debian's tools, and two of our servers, the provider's and a
 * customer's.
 */
import { spawn } from 'node:child_process'
import { systemClock } from '../../../src/lib/clock.ts'
import { createLog } from '../../../src/lib/log.ts'
import { providerRecords } from '../../../src/protocols/dns/provider-zone.ts'
import { parseRecord } from '../../../src/protocols/dns/record-text.ts'
import type { ResponseRate } from '../../../src/protocols/dns/response-rate.ts'
import { createDnsServer } from '../../../src/protocols/dns/server.ts'
import type { DnsRecord } from '../../../src/protocols/dns/wire.ts'
import { createZone, type Zone } from '../../../src/protocols/dns/zone.ts'
import type { TestContext } from '../../kit/suite.ts'

export const MAIL_HOST = 'mailhorn.example'
export const CUSTOMER = 'customer.example'
export const TOKEN = 'abcdefghij234567klmnop'
export const REVOKED_TOKEN = 'revokedabcdefghij234567'
/** Record as long as that of a 2048-bit RSA key. */
export const KEY = `v=DKIM1; k=rsa; p=${'A'.repeat(392)}`
export const LONG_TEXT = 'x'.repeat(3_000)

const PACKAGES: Record<string, string> = {
  dig: 'bind9-dnsutils',
  kdig: 'knot-dnsutils',
  unbound: 'unbound',
  knotd: 'knot',
  'ldns-keygen': 'ldnsutils',
  'ldns-signzone': 'ldnsutils',
}

/** Runs a tool to its end. @throws with the package to install when it is not there */
export function run(tool: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', chunk => {
      output += chunk
    })
    child.stderr.on('data', chunk => {
      output += chunk
    })
    child.on('error', error => reject(missing(tool, error)))
    child.on('close', () => resolve(output))
  })
}

export function missing(tool: string, error: Error): Error {
  return new Error(`${tool} cannot be run: install the Debian package ${PACKAGES[tool]}`, { cause: error })
}

async function serve(t: TestContext, zone: Zone, rate?: ResponseRate): Promise<number> {
  const listen = { host: '127.0.0.1', port: 0 }
  const server = createDnsServer({ listen, zone, rate, log: createLog('warn'), clock: systemClock })
  const { port } = await server.listen()
  t.after(() => server.close())
  return port
}

/**
 * The provider's zone with one key under `TOKEN`, and a long text that needs TCP. @param rate limits what is
 * sent
 */
export function serveProvider(t: TestContext, rate?: ResponseRate): Promise<number> {
  const records = providerRecords({
    mailHost: MAIL_HOST,
    nameServers: [`ns1.${MAIL_HOST}`, `ns2.${MAIL_HOST}`],
    addresses: ['192.0.2.1', '2001:db8::1'],
    regions: ['us-west-2'],
    simulatorDomain: `simulator.${MAIL_HOST}`,
    greetings: [{ name: `mail1.${MAIL_HOST}`, address: '192.0.2.25' }],
    reportsTo: 'reports@there.example',
    mtaStsId: '20261121',
    own: [
      `long 300 TXT "${LONG_TEXT}"`,
      '@ 300 CAA 0 issue "ca.example"',
      'www 300 CNAME @',
      '@ TXT "site-verification=abc"',
    ].map(line => parseRecord(line, MAIL_HOST)),
    serial: 1_795_000_000,
  })
  const keys = new Map([
    [TOKEN, KEY],
    [REVOKED_TOKEN, 'v=DKIM1; k=rsa; p='],
  ])
  return serve(t, createZone({ apex: MAIL_HOST, records, dkim: token => keys.get(token) }), rate)
}

/** A customer's zone with the records that we hand out, as far as they concern DNS alone. */
export function serveCustomer(t: TestContext): Promise<number> {
  const at = (label: string) => ({ name: `${label}${CUSTOMER}`, ttlSeconds: 300 })
  const records: DnsRecord[] = [
    {
      ...at(''),
      type: 'SOA',
      primary: `ns.${CUSTOMER}`,
      contact: `hostmaster.${CUSTOMER}`,
      serial: 1,
      refreshSeconds: 3_600,
      retrySeconds: 600,
      expireSeconds: 86_400,
      minimumSeconds: 60,
    },
    { ...at(''), type: 'NS', target: `ns.${CUSTOMER}` },
    { ...at('ns.'), type: 'A', address: '127.0.0.1' },
    { ...at(`${TOKEN}._domainkey.`), type: 'CNAME', target: `${TOKEN}.dkim.${MAIL_HOST}` },
    { ...at('lost._domainkey.'), type: 'CNAME', target: `lost.dkim.${MAIL_HOST}` },
    { ...at('send.'), type: 'MX', preference: 10, exchange: `feedback-smtp.us-west-2.${MAIL_HOST}` },
    { ...at('send.'), type: 'TXT', text: `v=spf1 include:${MAIL_HOST} ~all` },
  ]
  return serve(t, createZone({ apex: CUSTOMER, records, dkim: () => undefined }))
}
