/**
 * Encodes the values of text-like header fields: the subject, and the fields of the user (RFC 5322 §2.2.1).
 */
import { encodedWords } from './encoded-word.ts'
import { foldTokens, PREFERRED_LINE_OCTETS, TOKEN_LIMIT_OCTETS } from './fold.ts'

const PRINTABLE_OR_TAB = /^[\t\x20-\x7e]*$/
/** Some readers decode this even if it is no word by itself, or has blanks. */
const LIKE_ENCODED_WORD = /=\?[^?]+\?[bq]\?[^?]*\?=/i
/** Matches a single blank. Lines break only there, since readers shorten longer runs when they unfold. */
const BREAK = /(?<=[^ \t]) (?=[^ \t])/
/**
 * Fields with a grammar, in which encoded text would be unusable, and the parts of their values that may
 * have any characters: phrases and comments are encoded (RFC 2047 §5), URLs percent-encoded (RFC 3987 §3.1).
 */
const STRUCTURED: readonly [name: RegExp, anyText: RegExp | undefined][] = [
  [/^(?:message-id|in-reply-to|references|reply-to)$/i, undefined],
  [/^(?:feedback-id|auto-submitted|precedence|importance|priority|sensitivity)$/i, undefined],
  [/^x-(?:entity-ref-id|priority|msmail-priority|auto-response-suppress)$/i, undefined],
  [/^list-unsubscribe-post$/i, undefined],
  [
    /^(?:original-message-id|supersedes|obsoletes|expires|expiry-date|reply-by|deferred-delivery)$/i,
    undefined,
  ],
  [/^(?:message-context|accept-language|autocrypt|bimi-selector|tls-required)$/i, undefined],
  [
    /^(?:disposition-notification-to|return-receipt-to|errors-to|x-confirm-reading-to)$/i,
    /(?<![^,])[^<>,]*(?=<)/g,
  ],
  [/^archived-at$/i, /<[^<>]*>/g],
  [/^list-id$/i, /^[^<]*(?=<)/],
  [/^list-.*$/i, /<[^<>]*>|\([^()]*\)/g],
]

/**
 * Encodes the value of a field for people, such as Subject. Readers see `text` exactly, even if it looks like
 * an encoded word; only line breaks become blanks, and outer blanks are removed, since filters count them as
 * a sign of spam.
 */
export function literalText(name: string, text: string): string {
  const line = oneLine(text).trim()
  const column = name.length + 2
  const isLiteral = LIKE_ENCODED_WORD.test(line) ? isWithoutMark : isFit
  if (isLiteral(line) && column + line.length <= PREFERRED_LINE_OCTETS) return line
  return foldWords(line, column, isLiteral)
}

/**
 * Encodes the value of a field that the user set by name. ASCII is sent unchanged, without outer blanks;
 * words outside ASCII, and words too long for any line, are encoded. Between the angle brackets of message
 * ids and URLs, octets outside ASCII are percent-encoded instead (RFC 3987 §3.1).
 */
export function userText(name: string, value: string): string {
  const line = oneLine(value).trim()
  const column = name.length + 2
  const text = isStructured(name) ? spaceBrackets(line) : line
  if (isPlain(text) && column + text.length <= PREFERRED_LINE_OCTETS) return text
  return foldWords(text, column, isPlain)
}

/** Tells whether the field has a grammar, so that an empty value is not allowed. */
export function isStructured(name: string): boolean {
  return STRUCTURED.some(([names]) => names.test(name))
}

/**
 * @returns what is wrong with the value of a structured field, as a predicate for a sentence that begins with
 * its name
 */
export function structuredFault(name: string, value: string): string | undefined {
  const structured = STRUCTURED.find(([names]) => names.test(name))
  if (!structured) return undefined
  const [, anyText] = structured
  const text = oneLine(value).trim()
  const strict = anyText ? text.replace(anyText, '') : text
  const tokens = spaceBrackets(text).split(BREAK)
  if (!PRINTABLE_OR_TAB.test(strict) || tokens.some(token => /[<>]/.test(token) && !isAscii(token)))
    return 'must be printable ASCII outside of names, comments and URLs in angle brackets'
  if (tokens.some(token => isAscii(token) && !isPlain(token)))
    return `must not have more than ${TOKEN_LIMIT_OCTETS} characters without a blank, since it cannot be folded`
  return undefined
}

/** Removes line breaks and lone surrogates, neither of which a header field can carry. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(/[\r\n]+/g, ' ')
}

/** Text that readers show as it is, unless the line has what looks like an encoded word. */
function isFit(token: string): boolean {
  return isPlain(token) && token === token.trim()
}

function isWithoutMark(token: string): boolean {
  return isFit(token) && !token.includes('=?')
}

function isPlain(token: string): boolean {
  return token.length <= TOKEN_LIMIT_OCTETS && isAscii(token)
}

function isAscii(token: string): boolean {
  return PRINTABLE_OR_TAB.test(token)
}

/**
 * Folds at single blanks. Adjacent words that must be encoded are encoded together with the blank between
 * them.
 */
function foldWords(text: string, column: number, mayStay: (token: string) => boolean): string {
  const tokens: string[] = []
  let pending: string[] = []
  const encodePending = () => {
    if (pending.length === 0) return
    const room = tokens.length === 0 ? PREFERRED_LINE_OCTETS - column : undefined
    for (const word of encodedWords(pending.join(' '), room)) tokens.push(word)
    pending = []
  }
  for (const token of text.split(BREAK)) {
    if (!mayStay(token)) pending.push(token)
    else {
      encodePending()
      tokens.push(token)
    }
  }
  encodePending()
  return foldTokens(tokens, column)
}

/** Puts one blank between bracketed items, so that the field can be folded there; the items do not change. */
function spaceBrackets(value: string): string {
  return value
    .replace(/[ \t]+/g, ' ')
    .replace(/> ?(,?) ?</g, '>$1 <')
    .replace(/<[^<>]*>/g, item => item.replace(/[^\x20-\x7e]/gu, encodeURIComponent))
}
