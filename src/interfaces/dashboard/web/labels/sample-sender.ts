/** Sender of samples and test emails. */
import type { Domain } from '../api/types.ts'

type Named = Pick<Domain, 'id' | 'name' | 'status'>

/** Anyone may send from it to the simulator. */
const ANYBODY = 'you@example.com'

/**
 * Returns a sender at the only domain that a key may use, else at the first verified domain of the account,
 * else one that may send to the simulator only.
 */
export function sampleSender(domains: readonly Named[], onlyDomainId?: string | null): string {
  const domain =
    domains.find(({ id }) => id === onlyDomainId) ?? domains.find(({ status }) => status === 'verified')
  return domain ? `hello@${domain.name}` : ANYBODY
}
