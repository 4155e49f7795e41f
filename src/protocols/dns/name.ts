/** Validates and compares domain names. */

const LABEL = /^[a-z0-9_-]{1,63}$/
const NAME_OCTETS_MAX = 253

/**
 * Normalizes a name to lower case without final dot.
 * @returns undefined unless the name consists of A-labels: letters, digits, hyphens and, for names such as
 * `_dmarc`, underscores (RFC 1035 §2.3.4, RFC 8552)
 */
export function parseQueryName(text: string): string | undefined {
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase()
  if (name.length > NAME_OCTETS_MAX || !name.split('.').every(label => LABEL.test(label))) return undefined
  return name
}

/** Tells whether a name is the domain or lies below it. Both are in lower case, without a final dot. */
export function isWithinDomain(name: string, domain: string): boolean {
  return name === domain || (name.endsWith(domain) && name[name.length - domain.length - 1] === '.')
}
