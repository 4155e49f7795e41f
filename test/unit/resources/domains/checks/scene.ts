/** A domain `here.test` with scripted resolvers and name servers, whose records are checked. */

import { systemClock } from '../../../../../src/lib/clock.ts'
import { authorityObserver, resolverObserver } from '../../../../../src/protocols/dns/dns-observer.ts'
import { dnsRecordsOf } from '../../../../../src/resources/domains/dns-records.ts'
import {
  type CheckedDomain,
  type CheckOptions,
  checkDomain,
} from '../../../../../src/resources/domains/verify.ts'
import { NO_LINK_HOSTS } from '../../../../kit/inquiries.ts'
import type { TestContext } from '../../../../kit/suite.ts'
import { type ScriptedZone, startZone } from '../../../../kit/zone.ts'

export const HOST = 'mail.provider.example'
const KEYS = [
  { slot: 1, token: 'one', publicKey: 'KEYONE==' },
  { slot: 2, token: 'two', publicKey: 'KEYTWO==' },
  { slot: 3, token: 'three', publicKey: 'KEYTHREE==' },
]

export const recordsOf = (name: string) =>
  dnsRecordsOf({ name, region: 'us-west-2', verificationToken: 'token', keys: KEYS }, HOST)

const provider = [
  `${HOST} TXT "v=spf1 ip4:192.0.2.1 -all"`,
  ...KEYS.map(({ token, publicKey }) => `${token}.dkim.${HOST} TXT "v=DKIM1; p=${publicKey}"`),
].join('\n')

/** Returns the zone of a customer with the requested records; lines of hosts in `over` are replaced. */
export function customerZone(name = 'here.test', over: Record<string, string> = {}): string {
  const lines = recordsOf(name).map(({ record, host, type, value, priority = '' }) =>
    record in over ? over[record]! : `${host} ${type} ${priority} ${type === 'TXT' ? `"${value}"` : value}`,
  )
  return lines.join('\n')
}

export interface CheckScene {
  resolver: ScriptedZone
  check(more?: Partial<CheckOptions>): Promise<CheckedDomain>
}

/**
 * @param zone what the resolver sees, beside the provider's records
 * @param options.silenceMs how long an answer is waited for: as any machine takes, unless a test waits for
 * none
 */
export async function openScene(
  t: TestContext,
  zone: string,
  {
    domain = 'here.test',
    further = [],
    silenceMs = 10_000,
  }: { domain?: string; further?: readonly string[]; silenceMs?: number } = {},
): Promise<CheckScene> {
  const resolver = await t.using(startZone(`${provider}\n${zone}`))
  const others = await Promise.all(further.map(text => t.using(startZone(`${provider}\n${text}`))))
  const over = new AbortController()
  t.after(() => over.abort(new Error('the test is over')))
  const limits = { clock: systemClock, timeoutMs: silenceMs, tries: 1, signal: over.signal }
  const records = recordsOf(domain)
  return {
    resolver,
    check: more =>
      checkDomain({
        domain,
        mailHost: HOST,
        records,
        selectors: KEYS.map(({ slot, publicKey }) => ({
          record: records.find(({ record }) => record === `DKIM ${slot}`)!,
          publicKey,
        })),
        receiving: true,
        tracking: undefined,
        visit: NO_LINK_HOSTS.visitHost,
        former: null,
        inquiry: {
          resolvers: [resolver, ...others].map(({ server }) => resolverObserver(server, limits)),
          isAllowed: address => address.startsWith('127.'),
          openObserver: (label, host) => authorityObserver(label, { host, port: AUTHORITY_PORT }, limits),
        },
        laboratory: false,
        ...more,
      }),
  }
}

/** Each test file has its own process, so that its servers may share a port at different addresses. */
let AUTHORITY_PORT = 0

/** Name servers of one port, at 127.0.0.10 and the addresses after it. */
export async function startNameServers(t: TestContext, ...texts: string[]): Promise<ScriptedZone[]> {
  const servers: ScriptedZone[] = []
  for (const [i, text] of texts.entries()) {
    const port = i === 0 ? {} : { port: AUTHORITY_PORT }
    const server = await t.using(startZone(text, { host: `127.0.0.${10 + i}`, authoritative: true, ...port }))
    if (i === 0) AUTHORITY_PORT = Number(server.server.split(':')[1])
    servers.push(server)
  }
  return servers
}

/** Lines by which `here.test` has so many of them. */
export function delegation(count: number, domain = 'here.test'): string {
  return Array.from({ length: count }, (_, i) => [
    `${domain} NS ns${i + 1}.hoster.test`,
    `ns${i + 1}.hoster.test A 127.0.0.${10 + i}`,
  ])
    .flat()
    .join('\n')
}

export const SOA = 'here.test SOA ns1.hoster.test hostmaster.here.test 1'
