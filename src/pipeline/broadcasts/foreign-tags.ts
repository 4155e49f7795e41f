/** Finds merge tags of other mail products in a broadcast, which readers would see as they are. Pure. */

/** Tags such as `*|FNAME|*`, `[[name]]`, `[%first_name%]`, `%%first_name%%` and `%FIRSTNAME%`. */
const FOREIGN_TAG = new RegExp(
  [
    String.raw`\*\|[\w:. ]{1,60}\|\*`,
    String.raw`\[\[\s?[\p{L}_][\p{L}\p{N}_.: -]{0,60}\]\]`,
    String.raw`\[%[^%\]\n]{1,60}%\]`,
    String.raw`%%[\p{L}_][\p{L}\p{N}_.]{0,60}%%`,
    // two hexadecimal digits behind the second `%` are a character of a URL
    '%[A-Z][A-Z0-9_]{2,60}%(?![0-9A-Fa-f]{2})',
    String.raw`%[a-z]{1,20}\.[a-z_]{1,40}%`,
  ].join('|'),
  'gu',
)

/** Returns the first tags, each once, with their positions in ascending order. */
export function foreignTags(text: string, tagsMax: number): { tag: string; at: number }[] {
  const found = new Map<string, number>()
  for (const { 0: tag, index } of text.matchAll(FOREIGN_TAG)) {
    if (!found.has(tag)) found.set(tag, index)
    if (found.size === tagsMax) break
  }
  return [...found].map(([tag, at]) => ({ tag, at }))
}
