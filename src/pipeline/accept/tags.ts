/** What the tags of an email may be, at every door. */

export const MOST_TAGS = 50
const MOST_BYTES = 4 * 1024

export const TOO_MANY_TAGS = `At most ${MOST_TAGS} tags are allowed.`

/** What is wrong with them, as a sentence; undefined when nothing is. */
export function tagsFault(tags: readonly object[]): string | undefined {
  if (tags.length > MOST_TAGS) return TOO_MANY_TAGS
  return Buffer.byteLength(JSON.stringify(tags)) > MOST_BYTES
    ? `Tags may have ${MOST_BYTES} bytes together.`
    : undefined
}
