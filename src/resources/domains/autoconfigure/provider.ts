/**
 * A DNS provider, as far as records are put into a customer's zone there, with a token that is good for one
 * request.
 */

export interface ZoneRecord {
  id: string
  /** Record type, such as `A` or `TXT`. */
  type: string
  /**
   * Of a TXT record the text itself, without the quotes that providers put around it; of others lower case,
   * without final dot.
   */
  value: string
  /** Of MX records. */
  priority: number | undefined
  /** It leads to the provider's own hosts in place of what it says. */
  isProxied: boolean
}

export interface NewZoneRecord {
  type: 'TXT' | 'CNAME' | 'MX'
  host: string
  value: string
  priority?: number
}

export interface HostedZone {
  name: string
  /**
   * Lists all records of a host, of any type.
   *
   * @throws ProviderFault
   */
  recordsAt(host: string): Promise<ZoneRecord[]>
  /**
   * Adds a record that is not proxied.
   *
   * @throws ProviderFault
   */
  create(record: NewZoneRecord): Promise<void>
  /** Gives a TXT record another text. @throws ProviderFault */
  rewrite(id: string, text: string): Promise<void>
}

export interface DnsProvider {
  /**
   * The zone that the domain lies in, the smallest one that the token opens; undefined where it opens none.
   * @throws ProviderFault
   */
  findZone(token: string, domain: string): Promise<HostedZone | undefined>
}

/**
 * `token`: it is not accepted, or not for this. `exists`: just what was asked for is there. `taken`: the host
 * has something that does not go with it. `failed`: everything else.
 */
export type ProviderFaultKind = 'token' | 'exists' | 'taken' | 'failed'

/** Error that says what the provider refused, or why it could not be reached. */
export class ProviderFault extends Error {
  readonly kind: ProviderFaultKind

  /** @param message for people; the token does not stand in it */
  constructor(kind: ProviderFaultKind, message: string) {
    super(message)
    this.kind = kind
  }
}
