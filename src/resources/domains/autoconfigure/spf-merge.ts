/** Puts our servers into an SPF record that is there already, so that all it said before still holds. */
import { parseSpf } from '../checks/spf-record.ts'

/** Whether the record lets our mail pass: the include stands before any `all`. */
export function hasInclude(text: string, include: string): boolean {
  const { terms } = parseSpf(text)
  const at = terms.findIndex(
    ({ name, qualifier, value }) =>
      name === 'include' && qualifier === '+' && value.toLowerCase() === include,
  )
  const all = terms.findIndex(({ name }) => name === 'all')
  return at >= 0 && (all < 0 || at < all)
}

/**
 * Before what ends the record: `all`, or the modifiers. An include of ours that stands too late, or fails, is
 * moved.
 */
export function mergedSpf(text: string, include: string): string {
  const words = text.trim().split(/ +/)
  const others = words.filter(word => !isOurs(word, include))
  const end = others.findIndex((word, i) => i > 0 && /^(?:[+?~-]?all$|[a-z][a-z0-9._-]*=)/i.test(word))
  return others.toSpliced(end < 0 ? others.length : end, 0, `include:${include}`).join(' ')
}

function isOurs(word: string, include: string): boolean {
  return word.toLowerCase().replace(/^[+?~-]/, '') === `include:${include}`
}
