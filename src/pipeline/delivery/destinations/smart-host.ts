/** Smart hosts: relays configured by the operator, which receive mail instead of the MX hosts. */
import type { Login } from '../smtp-client/types.ts'

export interface SmartHost {
  /** Name of the destination. It contains no dot, so that it cannot be the name of an MX host. */
  name: string
  /** Host name or IP address. */
  host: string
  port: number
  /** `implicit` starts with TLS, `required` uses STARTTLS; both verify the certificate. */
  tls: 'implicit' | 'required' | 'opportunistic'
  login: Login | null
}

/** Name of the smart host for all domains without an entry. */
export const GENERAL_SMART_HOST = 'smart-host'

export interface SmartHostSettings {
  /** Smart host for all other domains; null when their mail goes to MX hosts. */
  general: SmartHost | null
  /**
   * Recipient domains, with the prefix `*.` for their subdomains. Without a smart host, their mail goes to MX
   * hosts.
   */
  special: readonly { domains: readonly string[]; smartHost: SmartHost | null }[]
}

/**
 * @param domain the recipient domain
 * @returns undefined when the mail goes to MX hosts
 */
export type SmartHostOf = (domain: string) => SmartHost | undefined

/** An entry for the domain takes precedence, then the one for the subdomains of the longest name. */
export function createSmartHostOf({ general, special }: SmartHostSettings): SmartHostOf {
  const byDomain = new Map(
    special.flatMap(({ domains, smartHost }) => domains.map(domain => [domain, smartHost] as const)),
  )
  return domain => {
    let found = byDomain.get(domain)
    for (let dot = domain.indexOf('.'); found === undefined && dot >= 0; dot = domain.indexOf('.', dot + 1))
      found = byDomain.get(`*${domain.slice(dot)}`)
    return (found === undefined ? general : found) ?? undefined
  }
}
