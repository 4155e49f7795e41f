/** Reads the `Accept-Encoding` header (RFC 9110 §12.5.3). */

const GZIP = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i

/** Tells whether a client accepts gzip. A weight of 0 excludes it. */
export function acceptsGzip(encodings: string): boolean {
  return GZIP.test(encodings)
}
