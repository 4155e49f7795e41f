/** Interface of DNS providers that can create records in a customer's zone, with a token for one request. */

export interface ZoneRecord {
  id: string
  /** Record type, such as `A` or `TXT`. */
  type: string
  /** For TXT records, the text without quotes. For other types, lower case without the final dot. */
  value: string
  /** Preference of an MX record. */
  priority: number | undefined
  /** Whether the provider answers with addresses of its proxy instead of the record. */
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
  /**
   * Replaces the text of a TXT record.
   * @throws ProviderFault
   */
  rewrite(id: string, text: string): Promise<void>
}

export interface DnsProvider {
  /**
   * Returns the smallest zone that contains the domain and that the token can access, or undefined if there
   * is none.
   * @throws ProviderFault
   */
  findZone(token: string, domain: string): Promise<HostedZone | undefined>
}

/**
 * `token`: the token is invalid or lacks permissions. `exists`: an identical record exists. `taken`: the host
 * has a conflicting record. `failed`: all other errors.
 */
export type ProviderFaultKind = 'token' | 'exists' | 'taken' | 'failed'

/** Error of a DNS provider: the request was refused, or the provider could not be reached. */
export class ProviderFault extends Error {
  readonly kind: ProviderFaultKind

  /** @param message message for users, without the token */
  constructor(kind: ProviderFaultKind, message: string) {
    super(message)
    this.kind = kind
  }
}
