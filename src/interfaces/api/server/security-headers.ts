/** Headers by which browsers are told how to treat replies. */

/** Of replies in JSON, unless a route sets others: they are for the client alone that has asked. */
export const JSON_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const

const YEAR_SECONDS = 31_536_000

/** Of every reply. @param baseUrl where clients reach the service, as configured */
export function headersOfAll(baseUrl: string): Record<string, string> {
  if (!baseUrl.startsWith('https://')) return {}
  return { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }
}
