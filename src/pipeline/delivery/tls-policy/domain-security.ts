/** TLS requirements of a recipient domain, from its MTA-STS policy and DNSSEC. */
import type { Dane } from './dane.ts'
import type { MtaStsCache } from './mta-sts-cache.ts'
import type { DomainSecurity } from './next-hop.ts'

interface SecurityOptions {
  /** Null when MTA-STS is off. */
  sts: MtaStsCache | null
  /** Null without a validating resolver. */
  dane: Dane | null
}

const NO_HOSTS: readonly string[] = []

export function createSecurityOf({ sts, dane }: SecurityOptions) {
  return async (domain: string): Promise<DomainSecurity | undefined> => {
    const [policy, hosts] = await Promise.all([
      sts ? sts.policyOf(domain) : null,
      dane ? dane.secureHosts(domain) : NO_HOSTS,
    ])
    const bogus =
      'failure' in hosts ? `the MX hosts of ${domain} cannot be validated: ${hosts.failure}` : null
    const secureHosts = 'failure' in hosts ? NO_HOSTS : hosts
    if (policy === null && !bogus && secureHosts.length === 0) return undefined
    const unknown = policy === undefined ? `the MTA-STS policy of ${domain} cannot be had` : null
    return { sts: policy ?? null, secureHosts, unknown, bogus }
  }
}
