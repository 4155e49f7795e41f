/** The queue: deferred deliveries are tried again now. */
import { z } from 'zod'
import { operation } from './operation.ts'

/** As many as one command takes on, so that mail keeps being accepted meanwhile. */
const TOGETHER = 1_000
export const MOST_DOMAINS = 500

export const queueOperations = {
  'queue.retry': operation(
    z.object({ domains: z.array(z.string().max(253)).max(MOST_DOMAINS) }),
    async ({ run, clock }, { domains }) => {
      const now = clock.now()
      let count = 0
      for (const domain of domains)
        for (let retried = TOGETHER; retried === TOGETHER; count += retried)
          retried = await run('retryNow', { domain, now, limit: TOGETHER })
      return { deliveries: count }
    },
  ),
}
