/**
 * Reads the addresses of a header field (RFC 5322 §3.4), tolerating errors: groups and comments are
 * understood, and text that is not an address does not hide the addresses beside it.
 */
import { decodeWords } from './encoded-words.ts'
import type { Head } from './head.ts'

export interface ReceivedMailbox {
  name: string | null
  /** Address as it was written, without a source route (RFC 5322 §4.4). */
  address: string
}

const ADDRESSES_MAX = 1_000
const ADDRESS_CHARACTERS_MAX = 320
const NAME_CHARACTERS_MAX = 512
const ENCODED_WORD = /=\?[^?\s]{1,40}\?[bq]\?[^?\r\n]{0,2000}\?=/iy
const PLAIN_TEXT = /[^"(),:;<>\\=]+/y
const CONTROLS = /[\x00-\x1f\x7f\u202a-\u202e\u2066-\u2069]+/g

/** Reads the addresses of all fields of that name, given in lower case. */
export function addressesOf(head: Head, name: string): ReceivedMailbox[] {
  return readAddresses(head.all(name).join(', '))
}

/** @param value unfolded value with one character per octet */
function readAddresses(value: string): ReceivedMailbox[] {
  const found: ReceivedMailbox[] = []
  let one = nothing()
  const flush = () => {
    const mailbox = mailboxOf(one)
    if (mailbox && found.length < ADDRESSES_MAX) found.push(mailbox)
    one = nothing()
  }
  let at = 0
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at
    const [text] = pattern.exec(value) ?? []
    if (text) at += text.length
    return text
  }
  while (at < value.length && found.length < ADDRESSES_MAX) {
    const word = take(ENCODED_WORD) ?? take(PLAIN_TEXT)
    if (word !== undefined) {
      one.text += word
      continue
    }
    const character = value[at]!
    if (character === '"') {
      const { text, end } = quoted(value, at)
      one.quoted = true
      one.text += text
      at = end
    } else if (character === '(') {
      const { text, end } = comment(value, at)
      one.comment ??= text
      at = end
    } else if (character === '<') {
      const close = value.indexOf('>', at)
      const end = close < 0 ? value.length : close
      one.angle ??= value.slice(at + 1, end)
      at = end + 1
    } else {
      at += 1
      if (character === ',' || character === ';') flush()
      else if (character === ':' && one.angle === undefined && !one.text.includes('@')) one = nothing()
      else one.text += character
    }
  }
  flush()
  return found
}

interface Pending {
  text: string
  /** True if the text or a part of it was quoted. */
  quoted: boolean
  comment: string | undefined
  angle: string | undefined
}

function nothing(): Pending {
  return { text: '', quoted: false, comment: undefined, angle: undefined }
}

function mailboxOf({ text, quoted: isQuoted, comment: said, angle }: Pending): ReceivedMailbox | undefined {
  const phrase = text.trim()
  if (angle !== undefined) return mailbox(angle.replace(/^[^"]*?:(?=[^:]*$)/, ''), phrase || said)
  if (phrase.includes('@')) return isQuoted ? mailbox(phrase, said) : bareMailbox(phrase, said)
  return /^[^\s]+$/.test(phrase) && !isQuoted ? mailbox(phrase, said) : undefined
}

/** Separates an address without angle brackets from the words beside it. */
function bareMailbox(phrase: string, said: string | undefined): ReceivedMailbox | undefined {
  // Runs of blanks are replaced first: a search for blanks before an @ would start again at each blank of a
  // run.
  const words = phrase.replace(/\s+/g, ' ').replace(/ ?@ ?/g, '@').split(' ')
  const at = words.findIndex(word => word.includes('@'))
  return mailbox(words[at]!, said ?? words.toSpliced(at, 1).join(' '))
}

function mailbox(address: string, name: string | undefined): ReceivedMailbox | undefined {
  const plain = decodeWords(address)
    .replace(CONTROLS, '')
    .replace(/\s+/g, '')
    .slice(0, ADDRESS_CHARACTERS_MAX)
  const shown = decodeWords(name ?? '')
    .replace(CONTROLS, '')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, NAME_CHARACTERS_MAX)
  return plain === '' ? undefined : { name: shown === '' || shown === plain ? null : shown, address: plain }
}

function quoted(value: string, from: number): { text: string; end: number } {
  let text = ''
  let at = from + 1
  for (; at < value.length && value[at] !== '"'; at++) {
    if (value[at] === '\\') at += 1
    text += value[at] ?? ''
  }
  return { text, end: at + 1 }
}

function comment(value: string, from: number): { text: string; end: number } {
  let text = ''
  let depth = 0
  let at = from
  for (; at < value.length; at++) {
    const character = value[at]!
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (depth === 0) break
    if (character === '\\') at += 1
    if (at > from) text += value[at] ?? ''
  }
  return { text, end: at + 1 }
}
