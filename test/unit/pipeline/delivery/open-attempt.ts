/** Attempts over real DNS and scripted MX hosts, and what became of them in short. */

import { systemClock } from '../../../../src/lib/clock.ts'
import { attemptHosts, type SmtpOptions } from '../../../../src/pipeline/delivery/attempt.ts'
import type { AttemptResult } from '../../../../src/pipeline/delivery/outcome/attempt-result.ts'
import { createSessionPool } from '../../../../src/pipeline/delivery/sessions/session-pool.ts'
import type { Transaction } from '../../../../src/pipeline/delivery/smtp-client/types.ts'
import { createHostTlsPolicies } from '../../../../src/pipeline/delivery/tls-policy/host-tls-policy.ts'
import {
  type DomainSecurity,
  type MessageTls,
  type NextHop,
  nextHopTo,
} from '../../../../src/pipeline/delivery/tls-policy/next-hop.ts'
import { createResolver } from '../../../../src/protocols/dns/resolver.ts'
import { type FakeMx, type FakeMxOptions, startFakeMx } from '../../../kit/fake-mx.ts'
import type { TestContext } from '../../../kit/suite.ts'
import { startZone } from '../../../kit/zone.ts'

export const SITE = 'the destination'

/**
 * MX hosts at 127.0.0.2, 127.0.0.3, … as the options say, on one port; `zone` tells where their names lead.
 */
export async function open(t: TestContext, zone: string, ...hosts: FakeMxOptions[]) {
  const mxs: FakeMx[] = []
  for (const [i, options] of hosts.entries()) {
    const port = mxs[0]?.port ?? 0
    mxs.push(await t.using(startFakeMx({ host: `127.0.0.${i + 2}`, port, ...options })))
  }
  const server = await t.using(startZone(zone))
  const resolver = createResolver({
    servers: [server.server],
    clock: systemClock,
    timeoutMs: 10_000,
    tries: 1,
  })
  const pool = createSessionPool(systemClock, { messagesPerConnection: () => 100 })
  t.after(async () => {
    await pool.close()
    resolver.close()
  })
  const options: SmtpOptions = {
    clock: systemClock,
    resolver,
    pool,
    tlsPolicies: createHostTlsPolicies({ clock: systemClock, dane: null }),
    tlsResults: null,
    random: () => 0.99,
    localName: 'out.mailhorn.test',
    port: mxs[0]?.port ?? 1,
    allowPrivateAddresses: true,
  }
  const to = (
    recipient: string,
    names = ['mx1.test', 'mx2.test', 'mx3.test'],
    over: Partial<SmtpOptions> = {},
    requests: MessageTls = 'any',
  ) =>
    attemptHosts(
      { ...options, ...over },
      wayOver(names, requests),
      mailTo(recipient, { requireTls: requests === 'required' }),
    )
  return { mxs, pool, options, to, zone: server }
}

export function mailTo(localPart: string, over: Partial<Transaction> = {}): Transaction {
  const message = [Buffer.from('Subject: hello\r\n\r\nHello there.\r\n')]
  return {
    mailFrom: 'b+token@send.here.test',
    recipients: [`${localPart}@there.test`],
    message,
    size: message[0]!.length,
    smtpUtf8: false,
    ...over,
  }
}

/** Over hosts in this order, whose names are known to be right. */
export function wayOver(
  names: readonly string[],
  requests: MessageTls = 'any',
  over: Partial<DomainSecurity> = {},
): NextHop {
  const hosts = names.map((name, preference) => ({ name, preference }))
  const security = {
    sts: null,
    secureHosts: requests === 'required' ? names : [],
    unknown: null,
    bogus: null,
    ...over,
  }
  const nextHop = nextHopTo({ domain: 'there.test', hostSet: SITE, hosts, security }, requests)
  if ('reason' in nextHop) throw new Error(nextHop.reason)
  return nextHop
}

export const HOSTS = 'mx1.test A 127.0.0.2\nmx2.test A 127.0.0.3\nmx3.test A 127.0.0.4'

/** `delivered`, or kind and class; and the hosts spoken to, with what they said. */
export function short({ kind, class: why, hostAttempts }: AttemptResult): string[] {
  const verdict = kind === 'delivered' ? 'delivered' : `${kind} ${why}`
  return [verdict, ...hostAttempts.map(({ host, phase, reply }) => `${host} ${phase} ${reply.slice(0, 3)}`)]
}
