/** Values of text-like header fields: the subject, and the fields that a user adds (RFC 5322 §2.2.1). */
import { encodedWords } from './encoded-word.ts'
import { foldTokens, PREFERRED_LINE_OCTETS, TOKEN_LIMIT_OCTETS } from './fold.ts'

const PRINTABLE = /^[\x20-\x7e]*$/
const PRINTABLE_OR_TAB = /^[\t\x20-\x7e]*$/
/** A lone blank. Lines break nowhere else, as readers shrink longer runs when they unfold. */
const BREAK = /(?<=[^ \t]) (?=[^ \t])/
/** Fields made of message ids and URLs in angle brackets, which mean nothing once encoded. */
const BRACKETED = /^(?:message-id|in-reply-to|references|list-.*)$/i

/**
 * The value of a field that people read, such as Subject. Readers see `text` exactly, also where it looks
 * like an encoded word or begins or ends with blanks; only line breaks turn into a blank.
 */
export function literalText(name: string, text: string): string {
  const line = oneLine(text)
  const column = name.length + 2
  if (isLiteral(line) && column + line.length <= PREFERRED_LINE_OCTETS) return line
  return foldWords(line, column, isLiteral)
}

/**
 * The value of a field that the user set by name. ASCII goes out as it came, without outer blanks; words
 * outside ASCII, and words too long for any line, are encoded. Between the angle brackets of message ids and
 * URLs, octets outside ASCII are percent-encoded instead (RFC 3987 §3.1).
 */
export function userText(name: string, value: string): string {
  const line = oneLine(value).trim()
  const column = name.length + 2
  const text = BRACKETED.test(name) ? spaceBrackets(line) : line
  if (isPlain(text) && column + text.length <= PREFERRED_LINE_OCTETS) return text
  return foldWords(text, column, isPlain)
}

/** Text without line breaks and lone surrogates, neither of which a header can carry. */
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
 * Folds at lone blanks. Neighbouring words that must be encoded are encoded together with the blank
 * between.
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

/** One blank between bracketed items, so that there is a place to fold at; none of them changes. */
function spaceBrackets(value: string): string {
  return value
    .replace(/[ \t]+/g, ' ')
    .replace(/> ?(,?) ?</g, '>$1 <')
    .replace(/<[^<>]*>/g, item => item.replace(/[^\x20-\x7e]/gu, encodeURIComponent))
}
