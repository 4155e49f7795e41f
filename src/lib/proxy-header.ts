/**
 * Reads the header of the PROXY protocol, versions 1 and 2, by which a proxy begins a connection and names
 * the client that it forwards (https://www.haproxy.org/download/3.2/doc/proxy-protocol.txt). In: an accepted
 * socket of a trusted proxy. Out: the client's address, and the socket without the header.
 */
import { isIPv4, isIPv6, type Socket, SocketAddress } from 'node:net'
import { plainAddress } from './networks.ts'

/** Complete header, or the finding that there is none. */
export type ProxyHeader =
  | { kind: 'absent' }
  | { kind: 'invalid'; reason: string }
  | {
      kind: 'valid'
      byteCount: number
      /** Address of the client; undefined for a connection of the proxy itself, such as a health check. */
      client: string | undefined
    }

const V1_BEGIN = Buffer.from('PROXY ')
/** Limit of the protocol, with CR LF. */
const V1_BYTES_MAX = 107
const V1_OWN = /^PROXY UNKNOWN(?: .*)?$/
const V1_FORWARDED = /^PROXY TCP([46]) (\S+) (\S+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/
const PORT_MAX = 65_535

const V2_BEGIN = Buffer.from('\r\n\r\n\0\r\nQUIT\n')
const V2_HEAD_BYTES = 16
/** Further facts about a connection, such as a client certificate, may follow the addresses. */
const V2_BYTES_MAX = 4_096
const V2_ADDRESS_BYTES: Record<number, { bytes: number; fieldBytes: number }> = {
  // IPv4 and IPv6 over TCP: two addresses and two ports
  17: { bytes: 4, fieldBytes: 12 },
  33: { bytes: 16, fieldBytes: 36 },
}

const V1_IN_TEXT = /(?:^|\n)PROXY (?:TCP[46]|UNKNOWN)\b/
const V2_IN_TEXT = V2_BEGIN.toString('latin1')

const CR = 0x0d
const LF = 0x0a

/** @returns undefined while the header is incomplete */
export function readProxyHeader(bytes: Buffer): ProxyHeader | undefined {
  if (beginsLike(bytes, V1_BEGIN)) return readText(bytes)
  return beginsLike(bytes, V2_BEGIN) ? readBinary(bytes) : { kind: 'absent' }
}

/**
 * Takes the header from a socket on which nobody listens yet. What follows the header stays in the socket, or
 * everything if there is no valid header.
 *
 * @param done not called if the peer closes the connection before its header is complete; it is destroyed
 */
export function takeProxyHeader(socket: Socket, done: (header: ProxyHeader) => void): void {
  let received: Buffer = Buffer.alloc(0)
  const destroy = () => void socket.destroy()
  const take = () => {
    for (let piece = socket.read(); piece !== null; piece = socket.read())
      received = Buffer.concat([received, piece])
    const header = readProxyHeader(received)
    if (!header) return
    socket.off('readable', take)
    const rest = header.kind === 'valid' ? received.subarray(header.byteCount) : received
    if (rest.length > 0) socket.unshift(rest)
    // the stream notices in the next tick that its listener is gone
    process.nextTick(() => {
      if (socket.destroyed) return
      socket.off('end', destroy).off('error', destroy)
      done(header)
    })
  }
  socket.on('end', destroy).on('error', destroy).on('readable', take)
}

/** Tells whether text of a client, in Latin-1, has the beginning of a header at the beginning of a line. */
export function holdsProxyHeader(text: string): boolean {
  return V1_IN_TEXT.test(text) || text.includes(V2_IN_TEXT)
}

function beginsLike(bytes: Buffer, beginning: Buffer): boolean {
  const { length } = bytes.subarray(0, beginning.length)
  return bytes.compare(beginning, 0, length, 0, length) === 0
}

function readText(bytes: Buffer): ProxyHeader | undefined {
  const end = bytes.subarray(0, V1_BYTES_MAX).indexOf(LF)
  if (end < 0) return bytes.length < V1_BYTES_MAX ? undefined : invalid('it is longer than 107 octets')
  if (bytes[end - 1] !== CR) return invalid('it does not end in CR LF')
  const line = bytes.toString('latin1', 0, end - 1)
  const byteCount = end + 1
  if (V1_OWN.test(line)) return { kind: 'valid', byteCount, client: undefined }
  const [, family, source = '', destination = '', ...ports] = V1_FORWARDED.exec(line) ?? []
  const isAddress = family === '6' ? isBareIPv6 : isIPv4
  const isGood = isAddress(source) && isAddress(destination) && ports.every(port => Number(port) <= PORT_MAX)
  if (!isGood) return invalid('its line is malformed')
  return { kind: 'valid', byteCount, client: canonical(source) }
}

/** An address with a zone, such as `fe80::1%eth0`, means nothing on this host. */
function isBareIPv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%')
}

function readBinary(bytes: Buffer): ProxyHeader | undefined {
  if (bytes.length < V2_HEAD_BYTES) return undefined
  const [versionAndCommand = 0, familyAndTransport = 0] = bytes.subarray(V2_BEGIN.length)
  const fieldBytes = bytes.readUInt16BE(V2_HEAD_BYTES - 2)
  const byteCount = V2_HEAD_BYTES + fieldBytes
  const isOfProxy = versionAndCommand === 0x20
  if (!isOfProxy && versionAndCommand !== 0x21) return invalid('its version or command is unknown')
  const format = V2_ADDRESS_BYTES[familyAndTransport]
  const hasAddress = !isOfProxy && familyAndTransport !== 0
  if (hasAddress && !format) return invalid('its connection is not TCP over IPv4 or IPv6')
  if (hasAddress && fieldBytes < format!.fieldBytes) return invalid('its addresses are incomplete')
  if (byteCount > V2_BYTES_MAX) return invalid(`it is longer than ${V2_BYTES_MAX} octets`)
  if (bytes.length < byteCount) return undefined
  if (!hasAddress) return { kind: 'valid', byteCount, client: undefined }
  const source = bytes.subarray(V2_HEAD_BYTES, V2_HEAD_BYTES + format!.bytes)
  return { kind: 'valid', byteCount, client: textOf(source) }
}

function textOf(address: Buffer): string {
  if (address.length === 4) return address.join('.')
  const groups = Array.from({ length: 8 }, (_, i) => address.readUInt16BE(i * 2).toString(16))
  return canonical(groups.join(':'))
}

/** Returns an address as a socket reports it. */
function canonical(address: string): string {
  const family = isIPv6(address) ? 'ipv6' : 'ipv4'
  return plainAddress(new SocketAddress({ address, family }).address)
}

function invalid(reason: string): ProxyHeader {
  return { kind: 'invalid', reason }
}
