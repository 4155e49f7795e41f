/** Whom the checks of domains ask in tests that start no service. */
import { createInquiries, type Inquiries } from '../../src/domains/inquiries.ts'
import { systemClock } from '../../src/lib/clock.ts'

/** @param servers `address:port` of scripted resolvers; none where nothing is asked */
export function testInquiries(...servers: string[]): Inquiries {
  return createInquiries({
    servers,
    clock: systemClock,
    authorityPort: 1,
    allowPrivateAddresses: true,
    timeoutMs: 300,
    tries: 1,
  })
}
