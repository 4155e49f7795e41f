/** Smart hosts: relays that the operator has named, which take mail in the place of MX hosts. */
import type { Login } from './smtp-client/types.ts'

export interface SmartHost {
  /** Of its destination. No MX host is called so: it has no dot. */
  name: string
  /** Name or address. */
  host: string
  port: number
  /** `implicit` from the first octet, `required` by STARTTLS; both with a certificate that verifies. */
  tls: 'implicit' | 'required' | 'opportunistic'
  login: Login | null
}

/** Name of the one that takes what no other does. */
export const GENERAL_SMART_HOST = 'smart-host'

export interface SmartHostSettings {
  /** Takes all mail but that of the domains below; null where it goes to MX hosts. */
  general: SmartHost | null
  /** Recipient domains, `*.` before those whose subdomains are meant; without a smart host: to MX hosts. */
  special: readonly { domains: readonly string[]; smartHost: SmartHost | null }[]
}

/** @param domain of the recipient; undefined where its mail goes to MX hosts */
export type SmartHostOf = (domain: string) => SmartHost | undefined

/** The domain's own entry wins over one for the subdomains of a longer, and then of a shorter name. */
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
