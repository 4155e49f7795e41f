/**
 * Mailhorn with one receiver as the MX of every domain there is, and the host of the domains' MTA-STS
 * policies.
 */
import { Resolver } from 'node:dns/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { authenticate } from 'mailauth'
import { type Mailhorn, startMailhorn } from '../../kit/mailhorn.ts'
import type { TestContext } from '../../kit/suite.ts'
import { until } from '../../kit/until.ts'
import { startWebHost, type WebHost } from '../../kit/web-host.ts'
import { runPython, temporaryFolder, writeMessages } from '../mail-format/tools.ts'
import type { Listener, Receiver, ReceiverOptions } from './receiver.ts'

/** Domains with a policy each: the test certificates name the hosts of no others. */
export const WITH_POLICY = 'there.test'
/** Its only MX host is the one whose certificate has expired. */
export const WITH_CHANGING_POLICY = 'example.test'
/** Two hosts, of which the first takes small messages only. */
export const TWO_SIZES = 'two-sizes.test'
export const MAILBOXES = ['ann', 'bob', 'jörg']

const ROUTE_KEPT_MS = 61_000

export interface Scene {
  receiver: Receiver
  mailhorn: Mailhorn
  send(to: string | string[], over?: object): Promise<string>
  /** The first attempt at the first recipient. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  attemptAt(id: string): Promise<any>
  /** Returns the message as the API shows it. */
  raw(id: string): Promise<Buffer>
  /** Has the domain publish another policy, and Mailhorn look for it. */
  changePolicy(mode: string, mx: string): void
  close(): Promise<void>
}

export async function openScene(
  start: (options: ReceiverOptions) => Promise<Receiver>,
  listeners: readonly Listener[],
): Promise<Scene> {
  const names = listeners.map(({ name }) => `${name}.test`)
  const domains = [...names, WITH_POLICY, WITH_CHANGING_POLICY, TWO_SIZES]
  const receiver = await start({ listeners, domains, mailboxes: MAILBOXES })
  console.log(`peer: ${receiver.version}`)
  const policies = new Map([[WITH_POLICY, policy('enforce', '*.there.test')]])
  const policyHost = await startPolicyHost(policies)
  let policyCount = 0
  const mailhorn = await startMailhorn({
    dns: true,
    zone: zoneOf(listeners),
    mxPort: receiver.port,
    env: {
      MAILHORN_DNS_ADDRESSES: '127.0.0.1',
      MAILHORN_DELIVERY_CA_FILE: fileURLToPath(new URL('../../kit/certs/ca.pem', import.meta.url)),
      MAILHORN_DELIVERY_POLICY_PORT: String(policyHost.port),
      MAILHORN_DELIVERY_TLS_REPORTS_FROM: 'tls-reports@here.example',
      MAILHORN_FETCH_ALLOW_LOOPBACK: 'true',
    },
  })
  await mailhorn.verifiedDomain('here.example')
  const { id } = await mailhorn.verifiedDomain('strict.example')
  const session = await mailhorn.signIn()
  await mailhorn.call('PATCH', `/domains/${id}`, { session, body: { tls: 'enforced' } })
  return {
    receiver,
    mailhorn,
    send: (to, over) =>
      mailhorn.send({ from: 'Ann <ann@here.example>', to, subject: 'Hello', text: 'Hello', ...over }),
    attemptAt: email => until(async () => (await mailhorn.email(email)).recipients[0].transcripts[0]),
    async raw(email) {
      const response = await fetch(`${mailhorn.baseUrl}/emails/${email}/raw`, {
        headers: { authorization: `Bearer ${mailhorn.apiKey}` },
      })
      return Buffer.from(await response.arrayBuffer())
    },
    changePolicy(mode, mx) {
      policies.set(WITH_CHANGING_POLICY, policy(mode, mx))
      mailhorn.zone.remove(`_mta-sts.${WITH_CHANGING_POLICY}`)
      mailhorn.zone.add(`_mta-sts.${WITH_CHANGING_POLICY} TXT "v=STSv1; id=${++policyCount}"`)
      mailhorn.clock.advance(ROUTE_KEPT_MS)
    },
    async close() {
      await mailhorn.close()
      await policyHost.close()
      await receiver.close()
    },
  }
}

function policy(mode: string, mx: string): string {
  return `version: STSv1\nmode: ${mode}\nmx: ${mx}\nmax_age: 86400\n`
}

function startPolicyHost(policies: ReadonlyMap<string, string>): Promise<WebHost> {
  return startWebHost({
    answer({ headers }, response) {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.end(policies.get(headers.host!.replace(/^mta-sts\.|:\d+$/g, '')))
    },
  })
}

function zoneOf(listeners: readonly Listener[]): string {
  const reports = (domain: string) => `_smtp._tls.${domain} TXT "v=TLSRPTv1; rua=mailto:tls@plain.test"`
  return [
    ...listeners.flatMap(({ name, host }) => [
      `${name}.there.test A ${host}`,
      `${name}.test MX 10 ${name}.there.test`,
      reports(`${name}.test`),
    ]),
    ...[WITH_POLICY, WITH_CHANGING_POLICY].flatMap(domain => [
      `mta-sts.${domain} A 127.0.0.1`,
      reports(domain),
    ]),
    `${WITH_POLICY} MX 10 good.there.test`,
    `_mta-sts.${WITH_POLICY} TXT "v=STSv1; id=1"`,
    `${WITH_CHANGING_POLICY} MX 10 expired.there.test`,
    `${TWO_SIZES} MX 10 small.there.test`,
    `${TWO_SIZES} MX 20 plain.there.test`,
  ].join('\n')
}

/** Verifies a message as a receiver does: SPF, each signature and DMARC, over our DNS. */
export async function verdicts({ mailhorn }: Scene, message: Buffer): Promise<string[]> {
  const resolver = new Resolver()
  resolver.setServers([mailhorn.zone.server])
  const sender = /^Return-Path: <(.*)>/im.exec(message.toString('latin1'))?.[1] ?? ''
  const { spf, dkim } = await authenticate(message, {
    ip: '127.0.0.1',
    helo: 'mailhorn.test',
    sender,
    mta: 'mx.there.test',
    resolver: (name: string, type: string) => resolver.resolve(name, type as 'TXT'),
  })
  return [
    `spf ${spf ? spf.status.result : 'none'}`,
    ...dkim.results.map(({ status, signingDomain }) => `dkim ${status.result} ${signingDomain}`),
  ]
}

/** The verdict of dkimpy on each signature. */
export async function dkimpyVerdicts(t: TestContext, { mailhorn }: Scene, message: Buffer): Promise<unknown> {
  const folder = await temporaryFolder(t)
  await writeMessages(folder, [message])
  const script = new URL('../delivery/verify_over_dns.py', import.meta.url).href
  const packages = 'python3-dkim, python3-nacl and python3-dnspython'
  return runPython(script, [join(folder, '0.eml'), mailhorn.zone.server], packages)
}
