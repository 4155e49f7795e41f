/** Headers of the PROXY protocol, as a proxy writes them. */

/** A binary header (version 2): its version and command, its family and transport, and what follows. */
export function binaryHeader(
  versionAndCommand: number,
  familyAndTransport: number,
  fields: Uint8Array = Buffer.alloc(0),
): Buffer {
  const head = Buffer.from('\r\n\r\n\0\r\nQUIT\n\0\0\0\0', 'latin1')
  head.set([versionAndCommand, familyAndTransport, fields.length >> 8, fields.length & 0xff], 12)
  return Buffer.concat([head, fields])
}

/** A binary header of a connection from this IPv4 address. */
export function binaryHeaderOf(address: string): Buffer {
  const octets = address.split('.').map(Number)
  return binaryHeader(0x21, 0x11, Buffer.from([...octets, 10, 0, 0, 1, 0x10, 0, 0, 25]))
}
