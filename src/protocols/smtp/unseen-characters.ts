/**
 * Characters of an address that nobody can see: the one rule for them, at every door. An address with such a
 * character is refused, and the fault names it. Imports remove those without a width and say so, since nobody
 * corrects a file cell by cell; then the rest is parsed as everywhere.
 */
import { codePointOf } from './domain-characters.ts'

const NOT_ASCII = /[^\x00-\x7f]/
/** Format characters, such as marks of the writing direction, and the combining grapheme joiner. */
const WITHOUT_WIDTH = /\p{Cf}|\u034f/gu
/**
 * The same in a domain, where a joiner between letters of a script that has joiners changes the name (RFC
 * 5892 appendix A.1, A.2). The runtime checks which letters these are.
 */
const WITHOUT_WIDTH_IN_DOMAIN =
  /(?<=(?![a-z])[\p{L}\p{M}])[\u200c\u200d](?=(?![a-z])\p{L})|(\p{Cf}|\u034f)/giu
/** Blanks other than a space, and fillers that look like one. */
const BLANK = /(?! )[\p{Z}\u115f\u1160\u3164\uffa0]/u

/** @returns the code point of an invisible character, such as `U+200B`; undefined if there is none */
export function unseenIn(address: string): string | undefined {
  if (!NOT_ASCII.test(address)) return undefined
  const [removed] = withoutUnseen(address).removed
  const blank = BLANK.exec(address)?.[0]
  return removed ?? (blank && codePointOf(blank))
}

/**
 * Removes invisible characters without a width.
 * @param text an address, which may have a name or brackets around it
 * @returns the code points of the removed characters, each once
 */
export function withoutUnseen(text: string): { text: string; removed: string[] } {
  const removed = new Set<string>()
  const remove = (whole: string, unseen: string | undefined): string => {
    if (unseen === undefined) return whole
    removed.add(codePointOf(unseen))
    return ''
  }
  const domainAt = text.lastIndexOf('@') + 1
  const before = text.slice(0, domainAt).replace(WITHOUT_WIDTH, found => remove(found, found))
  const domain = text.slice(domainAt).replace(WITHOUT_WIDTH_IN_DOMAIN, remove)
  return { text: before + domain, removed: [...removed] }
}
