/** Patterns of the routes of received mail: addresses in whose local part `*` stands for any characters. */
import { type AddressFault, foldAddress, parseAddress } from '../../protocols/smtp/address.ts'

/**
 * Parses an address or a pattern such as `support+*@example.com` and `*@example.com`. The domain has no
 * wildcard. Returns the form that is stored and compared.
 */
export function parseRoutePattern(text: string): { pattern: string } | AddressFault {
  // an asterisk is an ordinary character of a local part (RFC 5322 §3.2.3), and invalid in a domain
  const parsed = parseAddress(text)
  return 'fault' in parsed ? parsed : { pattern: foldAddress(parsed.address) }
}

/** Returns the route that decides about mail for an address: the first one that matches it. */
export function routeOfAddress<R extends { pattern: string }>(
  routes: readonly R[],
  address: string,
): R | undefined {
  return routes.find(({ pattern }) => matchesRoute(pattern, address))
}

/**
 * Tells whether a pattern matches an address, without regard to case. The time is linear in their lengths.
 * @param pattern as `parseRoutePattern` returns it
 */
export function matchesRoute(pattern: string, address: string): boolean {
  const folded = foldAddress(address)
  const [first, ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return folded === first
  const end = folded.length - last.length
  if (!folded.startsWith(first!) || !folded.endsWith(last) || end < first!.length) return false
  let at = first!.length
  for (const part of others) {
    const found = folded.indexOf(part, at)
    if (found < 0 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}
