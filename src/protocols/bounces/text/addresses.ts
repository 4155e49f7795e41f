/** Extracts addresses from the text of reports. They are not validated, and nothing is sent to them. */

/**
 * Matches an address. Beyond ASCII, only letters of scripts that separate words by blanks are allowed, since
 * in other scripts the address would run on into the sentence.
 */
const ADDRESS =
  /(?:"[^"\n]{1,64}"|[a-z0-9!#$%&*+/=?^_`{|}~.'\u00c0-\u052f-]{1,64})@(?:\[[0-9a-f.:]{3,45}\]|[a-z0-9\u00c0-\u052f][a-z0-9.\u00c0-\u052f-]{0,252})/giu
/** Matches an address that a provider has masked. */
const MASKED = /^[*x]{3,}@|\*{2}/i
/** Matches an escaped character beyond ASCII (RFC 6533 §3). */
const UNITEXT = /\\x\{([0-9a-f]{2,6})\}/gi

/** Returns all addresses in their order, with repetitions. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)]
    .map(([found]) => tidy(found))
    .filter(address => address.includes('@') && !MASKED.test(address))
}

/** Returns the address of a typed field, or else a bare name. */
export function addressOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const plain = value.replace(UNITEXT, (_, hex: string) => fromCode(Number.parseInt(hex, 16)))
  const bare = plain.trim().replace(/^<|>.{0,200}$/g, '')
  return addressesIn(plain)[0] ?? (/^[^\s<>@]{1,64}$/.test(bare) ? bare : undefined)
}

export function isSameAddress(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function tidy(found: string): string {
  return found.replace(/^[.'`/=]+(?=[^@])/, '').replace(/['.-]+$/, '')
}

function fromCode(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
}
