/** Hosts and ports of listeners and in URLs. */

/** Writes a host and a port as in a URL (RFC 3986 §3.2): an IPv6 address stands in brackets. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}

/** Tells whether a listener that is bound to the host accepts connections to every address of the machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}
