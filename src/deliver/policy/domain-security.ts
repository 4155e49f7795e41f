/** What the owner of a recipient domain asks of connections, from all that is published of it. */
import type { StsBook } from './sts-book.ts'
import type { DomainSecurity } from './way.ts'

interface SecurityOptions {
  /** Null where MTA-STS is off. */
  sts: StsBook | null
}

export function createSecurityOf({ sts }: SecurityOptions) {
  return async (domain: string): Promise<DomainSecurity | undefined> => {
    const policy = sts ? await sts.policyOf(domain) : null
    if (policy === null) return undefined
    const unknown = policy === undefined ? `the MTA-STS policy of ${domain} cannot be had` : null
    return { sts: policy ?? null, secureMx: false, unknown }
  }
}
