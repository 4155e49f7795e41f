/** Resolvers and servers that domain checks query in tests that start no service. */

import { systemClock } from '../../src/lib/clock.ts'
import { type CheckSessions, createCheckSessions } from '../../src/resources/domains/check-session.ts'

/**
 * @param servers `address:port` of scripted resolvers; none where nothing is asked
 * @param timeoutMs as any machine takes, unless a test waits for silence
 */
export function testInquiries(servers: string[] = [], timeoutMs = 10_000): CheckSessions {
  return createCheckSessions({
    servers,
    clock: systemClock,
    authorityPort: 1,
    allowPrivateAddresses: true,
    timeoutMs,
    tries: 1,
  })
}

/** Options of an installation without tracking hosts that resolve to it. */
export const NO_LINK_HOSTS = {
  linkPlace: { target: 'mailhorn.test', port: null },
  visitHost: async () => 'nobody is there',
}
