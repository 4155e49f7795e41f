/**
 * Encodes the values of text-like header fields: the subject, and the fields of the user (RFC 5322 §2.2.1).
 */
import { encodedWords } from './encoded-word.ts'
import { foldTokens, PREFERRED_LINE_OCTETS, TOKEN_LIMIT_OCTETS } from './fold.ts'

const PRINTABLE = /^[\x20-\x7e]*$/
const PRINTABLE_OR_TAB = /^[\t\x20-\x7e]*$/
/** Matches a single blank. Lines break only there, since readers shorten longer runs when they unfold. */
const BREAK = /(?<=[^ \t]) (?=[^ \t])/
/** Fields that consist of message ids or URLs in angle brackets, which encoding would make unusable. */
const BRACKETED = /^(?:message-id|in-reply-to|references|list-.*)$/i

/**
 * Encodes the value of a field for people, such as Subject. Readers see `text` exactly, even if it looks like
 * an encoded word; only line breaks become blanks, and outer blanks are removed, since filters count them as
 * a sign of spam.
 */
export function literalText(name: string, text: string): string {
  const line = oneLine(text).trim()
  const column = name.length + 2
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
  const text = BRACKETED.test(name) ? spaceBrackets(line) : line
  if (isPlain(text) && column + text.length <= PREFERRED_LINE_OCTETS) return text
  return foldWords(text, column, isPlain)
}

/** Removes line breaks and lone surrogates, neither of which a header field can carry. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(/[\r\n]+/g, ' ')
}

function isLiteral(token: string): boolean {
  if (token.length > TOKEN_LIMIT_OCTETS || !PRINTABLE.test(token)) return false
  return !token.startsWith(' ') && !token.endsWith(' ') && !token.includes('=?')
}

function isPlain(token: string): boolean {
  return token.length <= TOKEN_LIMIT_OCTETS && PRINTABLE_OR_TAB.test(token)
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
