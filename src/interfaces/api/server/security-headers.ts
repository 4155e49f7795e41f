/** Security headers of replies. */

/**
 * Headers of JSON replies unless a route sets others. They prevent caching by proxies and content sniffing.
 */
export const JSON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

const YEAR_SECONDS = 31_536_000

/**
 * Returns the security headers of every reply.
 *
 * @param baseUrl URL under which clients reach the service, as configured
 */
export function headersOfAll(baseUrl: string): Record<string, string> {
  if (!baseUrl.startsWith('https://')) return {}
  return { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }
}
