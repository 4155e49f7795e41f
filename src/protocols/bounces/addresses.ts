/** Extracts addresses from the text of reports. They are not validated, and nothing is sent to them. */

/**
 * Beyond ASCII, letters of the scripts that set blanks between words: the others would run on into the
 * sentence.
 */
const ADDRESS =
  /(?:"[^"\n]{1,64}"|[a-z0-9!#$%&*+/=?^_`{|}~.'\u00c0-\u052f-]{1,64})@(?:\[[0-9a-f.:]{3,45}\]|[a-z0-9\u00c0-\u052f][a-z0-9.\u00c0-\u052f-]{0,252})/giu
/** Some providers mask the address of the recipient. */
const MASKED = /^[*x]{3,}@|\*{2}/i
/** As RFC 6533 §3 writes characters beyond ASCII. */
const UNITEXT = /\\x\{([0-9a-f]{2,6})\}/gi

/** In their order, each as often as it stands there. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(ADDRESS)]
    .map(([found]) => tidy(found))
    .filter(address => address.includes('@') && !MASKED.test(address))
}

/** The address of a typed field; a bare name where there is no better. */
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
