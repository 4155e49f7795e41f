/** Writes a host and a port as in a URL (RFC 3986 §3.2): an IPv6 address stands in brackets. */
export function hostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
