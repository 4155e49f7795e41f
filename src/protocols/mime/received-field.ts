/** Writes the trace field that a server adds to a message that it accepts (RFC 5321 §4.4). */
import { isIPv6 } from 'node:net'
import type { HeaderField } from '../smtp/header-field.ts'
import { formatDate } from './date.ts'

/** Client that has sent the message. */
export interface TracedClient {
  /** Name that the client gave with EHLO or HELO; null if it gave none. */
  helo: string | null
  /** IP address in the form that sockets use. */
  address: string
  /** Version of TLS, such as `TLSv1.3`; null for none. */
  tls?: string | null
}

interface Trace {
  /** Null leaves the client out. */
  client: TracedClient | null
  /** Name of this host. */
  by: string
  /** Protocol by its registered name, such as `ESMTPSA` (RFC 3848). */
  protocol: string
  id: string
  /** The only recipient; others must not be told (RFC 5321 §7.2). */
  recipient?: string | undefined
  /** Time of acceptance, in ms since the epoch. */
  at: number
}

/** Domain name or address literal. Other names are replaced by the address of the client. */
const NAME = /^(?:[a-z0-9](?:[a-z0-9_.-]{0,253}[a-z0-9])?|\[[0-9a-z:.]{1,60}\])$/i
const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i

export function receivedField({ client, by, protocol, id, recipient, at }: Trace): HeaderField {
  const from = client ? `from ${clientText(client)}\r\n\t` : ''
  const recipientText = recipient === undefined ? '' : `\r\n\tfor <${recipient}>`
  const value = `${from}by ${by} with ${protocol} id ${id}${recipientText};\r\n\t${formatDate(at)}`
  return { name: 'Received', value }
}

function clientText({ helo, address, tls }: TracedClient): string {
  const plain = address.replace(MAPPED, '')
  const literal = isIPv6(plain) ? `[IPv6:${plain}]` : `[${plain}]`
  const name = helo !== null && NAME.test(helo) ? helo : literal
  return `${name} (${literal})${tls ? `\r\n\t(using ${tls})` : ''}`
}

/** Returns the registered name of the protocol of an SMTP session (RFC 3848, RFC 6531 §4.3). */
export function protocolName(session: {
  isExtended: boolean
  isUtf8: boolean
  isTls: boolean
  isSignedIn: boolean
}): string {
  if (!session.isExtended) return 'SMTP'
  const base = session.isUtf8 ? 'UTF8SMTP' : 'ESMTP'
  return `${base}${session.isTls ? 'S' : ''}${session.isSignedIn ? 'A' : ''}`
}
