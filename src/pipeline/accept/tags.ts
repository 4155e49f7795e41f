/** What the tags of an email may be, at every door. */

export const TAGS_MAX = 50
const TAGS_BYTES_MAX = 4 * 1024

export const TOO_MANY_TAGS = `At most ${TAGS_MAX} tags are allowed.`

/** What is wrong with them, as a sentence; undefined when nothing is. */
export function tagsFault(tags: readonly object[]): string | undefined {
  if (tags.length > TAGS_MAX) return TOO_MANY_TAGS
  return Buffer.byteLength(JSON.stringify(tags)) > TAGS_BYTES_MAX
    ? `Tags may have ${TAGS_BYTES_MAX} bytes together.`
    : undefined
}
