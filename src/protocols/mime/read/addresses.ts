/**
 * Reads the mailboxes of a header field (RFC 5322 §3.4), tolerating errors. Groups, comments and obsolete
 * routes are understood, and text that is not an address does not hide the addresses beside it.
 */
import { decodeText } from './charset.ts'
import { decodeWords } from './encoded-words.ts'
import type { Head } from './head.ts'

export interface ReceivedMailbox {
  name: string | null
  /**
   * `local@domain` as it was written, without a source route (RFC 5322 §4.4). A local part keeps its quotes
   * where it needs them. A name of a local user has no domain.
   */
  address: string
}

const ADDRESSES_MAX = 1_000
const ADDRESS_CHARACTERS_MAX = 320
const NAME_CHARACTERS_MAX = 512
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?[^?\r\n]{0,2000}\?=/iy
const PLAIN_TEXT = /[^"(),:;<>\\=]+/y
const CONTROLS = /[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+/g
const QUOTED_OR_PLAIN = /"(?:[^"\\]|\\.)*"|[^"]+/gs
const QUOTED = /"((?:[^"\\]|\\.)*)"/gs
const WORD = /(?:"(?:[^"\\]|\\.)*"|[^\s"])+/gs

/**
 * Reads the mailboxes of all fields of that name, given in lower case. Names of local users count where no
 * field has an address with a domain.
 *
 * @param declared charset of octets beyond ASCII in names, where they are not UTF-8
 */
export function addressesOf(head: Head, name: string, declared?: string): ReceivedMailbox[] {
  const found = head
    .all(name)
    .flatMap(value => mailboxesOf(value, declared))
    .slice(0, ADDRESSES_MAX)
  const withDomain = found.filter(({ address }) => address.includes('@'))
  return withDomain.length > 0 ? withDomain : found
}

/** A mailbox that has begun and not ended. */
class Pending {
  /** Text of the display name, without quotes. */
  name = ''
  /** Text that may hold an address, with the quotes of its parts. */
  written = ''
  comment: string | undefined
  angle: string | undefined
  /** Length of the name in front of the angle bracket. */
  nameLength = 0
  /** True if there is an at sign outside quotes and encoded words. */
  hasAtSign = false

  get hasAddress(): boolean {
    return this.angle !== undefined || this.hasAtSign
  }

  add(text: string): void {
    this.name += text
    this.written += text
  }
}

/**
 * Reads the mailboxes of one value.
 *
 * @param value unfolded value with one character per octet
 */
export function mailboxesOf(value: string, declared?: string): ReceivedMailbox[] {
  const found: ReceivedMailbox[] = []
  const scanner = new Scanner(value)
  const lastSemicolon = value.lastIndexOf(';')
  let isInGroup = false
  let one = new Pending()
  const flush = () => {
    found.push(...finished(one, declared))
    one = new Pending()
  }
  while (scanner.hasMore && found.length < ADDRESSES_MAX) {
    const encoded = scanner.take(ENCODED_WORD)
    if (encoded !== undefined) {
      one.add(encoded)
      continue
    }
    const plain = scanner.take(PLAIN_TEXT)
    if (plain !== undefined) {
      one.add(plain)
      one.hasAtSign ||= plain.includes('@')
      continue
    }
    const quoted = scanner.quoted()
    if (quoted !== undefined) {
      one.name += withoutQuotes(quoted)
      one.written += quoted
      continue
    }
    const comment = scanner.comment()
    if (comment !== undefined) {
      one.comment ??= comment
      one.add(' ')
      continue
    }
    const character = scanner.next()
    if (character === '<') {
      if (one.angle !== undefined) {
        // Without a comma between two mailboxes, the words between them are the name of the second.
        const between = one.name.slice(one.nameLength)
        one.name = one.name.slice(0, one.nameLength)
        flush()
        one.name = between
      }
      one.nameLength = one.name.length
      one.angle = scanner.angle()
    } else if (character === ',' || character === ';') {
      if (one.hasAddress || (character === ';' && isInGroup)) flush()
      else {
        // Words in front of a comma belong to the name of the next mailbox: `Doe, John <john@example.com>`.
        one.name += character
        one.written += ' '
      }
      if (character === ';') isInGroup = false
    } else if (character === ':' && !one.hasAddress) {
      if (lastSemicolon >= scanner.at) {
        isInGroup = true
        one = new Pending()
      } else {
        one.name += character
        one.written = ''
      }
    } else if (character === '\\') {
      // No address has a backslash outside quotes, so the character behind it does not matter there.
      one.name += scanner.next()
      one.written += '\\'
    } else if (character !== '"' && character !== '>') one.add(character)
  }
  flush()
  return found
}

/** Position in a value, and the texts that begin there. */
class Scanner {
  at = 0
  readonly #value: string
  // A quote or bracket without its end is plain text. It is searched for once, so that the time is linear.
  #hasQuotes = true
  #hasComments = true

  constructor(value: string) {
    this.#value = value
  }

  get hasMore(): boolean {
    return this.at < this.#value.length
  }

  /** Takes one character; returns an empty text at the end. */
  next(): string {
    return this.#value[this.at++] ?? ''
  }

  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const text = pattern.exec(this.#value)?.[0]
    if (text) this.at += text.length
    return text
  }

  /** Takes a quoted string (RFC 5322 §3.2.4); returns it with its quotes. */
  quoted(): string | undefined {
    if (!this.#hasQuotes || this.#value[this.at] !== '"') return undefined
    for (let end = this.at + 1; end < this.#value.length; end++) {
      if (this.#value[end] === '\\') end += 1
      else if (this.#value[end] === '"') return this.#takeTo(end + 1)
    }
    this.#hasQuotes = false
    return undefined
  }

  /** Takes a comment, which may hold further comments (RFC 5322 §3.2.2); returns its text. */
  comment(): string | undefined {
    if (!this.#hasComments || this.#value[this.at] !== '(') return undefined
    let text = ''
    let depth = 0
    for (let end = this.at; end < this.#value.length; end++) {
      const character = this.#value[end]!
      if (character === '(') depth += 1
      if (character === ')') depth -= 1
      if (depth === 0) {
        this.at = end + 1
        return text
      }
      if (character === '\\') end += 1
      if (end > this.at) text += this.#value[end] ?? ''
    }
    this.#hasComments = false
    return undefined
  }

  /**
   * Takes the text behind `<` up to `>`, or to a comma that is not part of a route. Comments in it become
   * blanks.
   */
  angle(): string {
    let text = ''
    let isRoute = false
    while (this.hasMore) {
      const quoted = this.quoted()
      const comment = quoted === undefined ? this.comment() : undefined
      if (quoted !== undefined || comment !== undefined) {
        text += quoted ?? ' '
        continue
      }
      const character = this.next()
      if (character === '>') return text
      if (character === '<') {
        text = ''
        isRoute = false
        continue
      }
      if ((character === ',' || character === ';') && !isRoute) {
        this.at -= 1
        return text
      }
      if (character === '@' && text.length === 0) isRoute = true
      if (character !== '"' && (text.length > 0 || !/\s/.test(character))) text += character
    }
    return text
  }

  #takeTo(end: number): string {
    const text = this.#value.slice(this.at, end)
    this.at = end
    return text
  }
}

function finished(
  { angle, name, written, comment, hasAtSign }: Pending,
  declared: string | undefined,
): ReceivedMailbox[] {
  if (angle !== undefined) {
    const address = addressIn(tidy(angle, / ?[@.] ?/g))
    return address === undefined ? [] : [mailbox(address, withoutSeparators(name) || comment, declared)]
  }
  // A dot with a blank behind it alone may end an initial in a name.
  const words = tidy(written, / ?@ ?| \. ?/g).match(WORD) ?? []
  const read = words.map(word => (hasAtSign && word.includes('@') ? addressIn(word) : undefined))
  const addresses = read.filter(address => address !== undefined)
  if (addresses.length === 0) return localName(words)
  if (addresses.length > 1) return addresses.map(address => mailbox(address))
  const beside = words.filter((_, i) => read[i] === undefined).map(withoutQuotes)
  return [mailbox(addresses[0]!, comment ?? beside.join(' '), declared)]
}

/** Replaces runs of blanks, and removes blanks around some characters, except in quotes. */
function tidy(written: string, separators: RegExp): string {
  const parts = written.match(QUOTED_OR_PLAIN) ?? []
  return parts
    .map(part =>
      part.startsWith('"') ? part : part.replace(/\s+/g, ' ').replace(separators, found => found.trim()),
    )
    .join('')
    .trim()
}

function localName(words: readonly string[]): ReceivedMailbox[] {
  const [word = ''] = words
  const isName = words.length === 1 && /^[^\x00-\x20"@\\]{1,320}$/.test(word) && !hasEncodedWord(word)
  return isName ? [mailbox(decodeText(word, undefined))] : []
}

function mailbox(address: string, name = '', declared?: string): ReceivedMailbox {
  const shown = decodeWords(name, { declared })
    .replace(CONTROLS, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX)
  return { name: shown === '' || shown === address ? null : shown, address }
}

const LOCAL_PART = /^((?:"(?:[^"\\]|\\.)*"|[^\s"(),:;<>@[\]\\])+)@/s
const DOT_ATOM = /^[^\s"(),:;<>@[\]\\.]+(?:\.[^\s"(),:;<>@[\]\\.]+)*$/
const LABEL = '(?:[\\w-]|[^\\x00-\\x7f\\p{Z}\\p{C}])+'
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*\\.?|\\[[^\\s"(),;<>@[\\]\\\\]+\\])$`, 'u')
/** Characters that are not seen, or that change how others are seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
/** A route may name domain literals, which have colons. */
const SCHEME_OR_ROUTE = /^(?:mailto:|@(?:[^:[\]]|\[[^[\]]*\])*:)/i

/**
 * Returns the address that a text consists of; undefined if it is none. An encoded word is never part of an
 * address (RFC 2047 §5).
 *
 * @param written one character per octet
 */
function addressIn(written: string): string | undefined {
  if (hasEncodedWord(written)) return undefined
  const text = decodeText(written.replace(SCHEME_OR_ROUTE, ''), undefined)
  if (text.length > ADDRESS_CHARACTERS_MAX || UNSEEN.test(text)) return undefined
  const local = LOCAL_PART.exec(text)?.[1]
  if (local === undefined) return DOT_ATOM.test(text) ? text : undefined
  const domain = text.slice(local.length + 1)
  return DOMAIN.test(domain) ? `${quotedAsNeeded(local)}@${domain}` : undefined
}

function hasEncodedWord(text: string): boolean {
  return text.includes('=?') && /=\?[^?\s]{1,40}\?[bq]\?/i.test(text)
}

function quotedAsNeeded(local: string): string {
  if (!local.includes('"')) return local
  const plain = withoutQuotes(local)
  return DOT_ATOM.test(plain) ? plain : `"${plain.replace(/["\\]/g, '\\$&')}"`
}

function withoutQuotes(text: string): string {
  return text.replace(QUOTED, (_, inner: string) => inner.replace(/\\(.)/gs, '$1'))
}

/** Removes blanks and separators around a name. */
function withoutSeparators(name: string): string {
  let from = 0
  let end = name.length
  const isSeparator = (at: number) => ' \t,;'.includes(name[at]!)
  while (from < end && isSeparator(from)) from += 1
  while (end > from && isSeparator(end - 1)) end -= 1
  return name.slice(from, end)
}
