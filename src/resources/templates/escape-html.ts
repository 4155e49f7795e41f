/** Escapes text for HTML, between tags and in quoted attributes. */

const SPECIAL = /[&<>"']/

/**
 * @param maxCharacters escaping stops once the result is longer, so that oversized values cost no more time
 */
export function escapeHtml(text: string, maxCharacters = Number.POSITIVE_INFINITY): string {
  let at = text.search(SPECIAL)
  if (at < 0) return text
  let escaped = ''
  let from = 0
  for (; at < text.length && escaped.length <= maxCharacters; at++) {
    const entity = entityOf(text.charCodeAt(at))
    if (entity === undefined) continue
    escaped += at > from ? text.slice(from, at) + entity : entity
    from = at + 1
  }
  return escaped + text.slice(from)
}

function entityOf(character: number): string | undefined {
  switch (character) {
    case 0x22:
      return '&quot;'
    case 0x26:
      return '&amp;'
    case 0x27:
      return '&#39;'
    case 0x3c:
      return '&lt;'
    case 0x3e:
      return '&gt;'
    default:
      return undefined
  }
}
