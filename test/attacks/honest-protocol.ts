/** Messages between the honest clients and the process that starts them. */

/** Each is a client of its own at an address of its own. */
export const KINDS = ['small send', '300 KB send', 'login', 'submission', 'port 25', 'DNS'] as const
export type Kind = (typeof KINDS)[number] | 'second submission'

export interface Ports {
  http: number
  inbound: number
  submission: number
  submissionTls: number
  dns: number
}

export interface Visit {
  ports: Ports
  /** Sends by the API and over SMTP. */
  apiKey: string
  /** A key of the account that attacks, for the client that shares the account with the attackers. */
  secondKey: string
  login: { email: string; password: string }
  /** At a domain that the service receives mail for. */
  recipient: string
  /** A name in the provider zone with a TXT record. */
  dnsName: string
  kinds: readonly Kind[]
}

export type Order = { begin: Visit } | 'end'

export interface Record {
  latenciesMs: number[]
  /** Failures, as the client describes them. */
  failures: string[]
}

export type Report = [Kind, Record][]
