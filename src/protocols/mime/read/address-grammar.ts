/**
 * Tells whether the value of a header field is an address list by the grammar of RFC 5322 §3.4, with the
 * obsolete forms of §4.4 and text beyond ASCII (RFC 6532). Readers agree about the addresses of such a value;
 * `addresses.ts` also reads others, of which each reader may make something else.
 */

/** Text of an atom, which is anything but blanks, controls and the specials of RFC 5322 §3.2.3. */
const ATOM = /[^\x00-\x20\x7f()<>[\]:;@\\,."]+/y
const QUOTED = /"(?:[^"\\\r\n\0]|\\[^\r\n\0])*"/y
const LITERAL = /\[[^[\]\\\x00-\x20\x7f]+\]/y
const BLANKS = /[ \t]+/y
const WORDS = '[aq](?:\\.[aq])*'
const DOMAIN = '(?:a(?:\\.a)*|l)'
const ROUTE = `(?:@${DOMAIN}(?:,@${DOMAIN})*:)?`
/** A mailbox in the form of `shapeOf`. Words of a name may be followed by dots (`J. Doe`). */
const MAILBOX = new RegExp(
  `(?:(?:[aq][aq.]*)?<${ROUTE}${WORDS}@${DOMAIN}>|${WORDS}@${DOMAIN})(?=[,;]|$)`,
  'y',
)
const GROUP = /[aq][aq.]*:/y
const COMMAS = /,*/y
/**
 * Many programs write an address as its own name without quotes, in which every reader finds the same
 * address.
 */
const OWN_NAME = /^\s*([^\s()<>[\]:;@\\,"]+@[^\s()<>[\]:;@\\,"]+)\s*<\1>\s*$/

/** @param value unfolded value with one character per octet */
export function isAddressList(value: string): boolean {
  if (OWN_NAME.test(value)) return true
  const shape = shapeOf(value)
  if (shape === undefined) return false
  let isInGroup = false
  let count = 0
  let at = take(COMMAS, shape, 0)
  for (let end = at; at < shape.length; at = take(COMMAS, shape, end)) {
    end = take(MAILBOX, shape, at)
    if (end > at) count += 1
    else if (isInGroup && shape[at] === ';') {
      isInGroup = false
      end = at + 1
      if (end < shape.length && shape[end] !== ',') return false
    } else if (!isInGroup) {
      end = take(GROUP, shape, at)
      isInGroup = end > at
    }
    if (end === at) return false
  }
  return count > 0 && !isInGroup
}

/**
 * Reduces a value to one character per token: `a` for an atom, `q` for a quoted string, `l` for a domain
 * literal, and special characters as they are. Blanks and comments are left out. Returns undefined for text
 * that is no token.
 */
function shapeOf(value: string): string | undefined {
  let shape = ''
  for (let at = 0; at < value.length; ) {
    const character = value[at]!
    let end = at + 1
    if (character === '(') end = commentEnd(value, at)
    else if (character === '"') end = take(QUOTED, value, at)
    else if (character === '[') end = take(LITERAL, value, at)
    else if (character === ' ' || character === '\t') end = take(BLANKS, value, at)
    else if (!'<>:;@,.'.includes(character)) end = take(ATOM, value, at)
    if (end === at) return undefined
    if (character === '"') shape += 'q'
    else if (character === '[') shape += 'l'
    else if ('<>:;@,.'.includes(character)) shape += character
    else if (!'( \t'.includes(character)) shape += 'a'
    at = end
  }
  return shape
}

/** @returns the position behind what the pattern matches there; `at` if it does not match */
function take(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

/**
 * @returns the position behind a comment, which may hold others (RFC 5322 §3.2.2); `at` if it does not end
 */
function commentEnd(value: string, at: number): number {
  let depth = 0
  for (let end = at; end < value.length; end++) {
    const character = value[end]!
    if (character === '\\') end += 1
    else if (character === '(') depth += 1
    else if (character === ')' && --depth === 0) return end + 1
  }
  return at
}
