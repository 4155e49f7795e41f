/**
 * Parses addresses (RFC 5321 §4.1.2, RFC 5322 §3.4). Every interface (HTTP API, SMTP, contacts) uses this
 * parser, and only the address that it returns is checked, signed and put on an envelope.
 */
import { domainToASCII } from 'node:url'
import { codePointOf, forbiddenInDomain } from './domain-characters.ts'
import { unseenIn } from './unseen-characters.ts'

export interface Mailbox {
  /** Display name as plain text, or null. */
  name: string | null
  /**
   * `local@domain`, with the domain as lower-case A-labels. The local part keeps its case. It is quoted only
   * if it is not a dot-atom, and then has no backslashes but those that it needs.
   */
  address: string
  /** Lower-case A-labels. */
  domain: string
}

/** Reason why a text is not a mailbox. `fault` completes the sentence "The address …". */
export interface AddressFault {
  fault: string
}

const NOT_ASCII = '(?![\\x00-\\x7f])[\\p{L}\\p{N}\\p{M}\\p{S}\\p{P}]'
const ATEXT = `[A-Za-z0-9!#$%&'*+/=?^_\`{|}~-]|${NOT_ASCII}`
const DOT_ATOM = new RegExp(`^(?:${ATEXT})+(?:\\.(?:${ATEXT})+)*$`, 'u')
/** Matches atoms with dots in any place, as some carriers in Japan assign them without quotes. */
const ATOMS_AND_DOTS = new RegExp(`^(?:${ATEXT}|\\.)+$`, 'u')
/** Matches the content of a quoted local part without its backslashes (RFC 5321 §4.1.2, RFC 6531 §3.3). */
const QUOTED_CONTENT = new RegExp(`^(?:[ -~]|${NOT_ASCII})+$`, 'u')
const LABEL_TEXT = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/**
 * Matches a domain that is in its final form already. A-labels go through the runtime; a numeric last label
 * would make the domain an IP address.
 */
const PLAIN_DOMAIN = new RegExp(`^(?:${LABEL_TEXT}\\.)+(?=[a-z])${LABEL_TEXT}$`)
const LABEL = new RegExp(`^${LABEL_TEXT}$`)
const SPECIALS = /[()<>[\]:;@\\,"]/
const QUOTED = /^"((?:[^"\\]|\\.)*)"/
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/
const LOCAL_PART_OCTETS_MAX = 64
const DOMAIN_OCTETS_MAX = 253
const ADDRESS_OCTETS_MAX = 254
const NAME_CHARACTERS_MAX = 512
const NAME_TOO_LONG = `has a display name longer than ${NAME_CHARACTERS_MAX} characters`

/**
 * Parses one mailbox: `local@domain`, `<local@domain>` or `Name <local@domain>`. All before the last angle
 * bracket is the name, with or without quotes around it. Quotes around a part of it, as in `Hats "R" Us`,
 * belong to the name. Without brackets, a comment around the address is the name (RFC 5322 §3.2.2). Outer
 * blanks and line breaks are ignored. Groups, routes and lists are refused.
 */
export function parseMailbox(text: string): Mailbox | AddressFault {
  return readMailbox(text, { faultOf: namesSeveral, keepsInnerQuotes: true })
}

/**
 * Parses a mailbox of a header field as RFC 5322 §3.4 has it, where special characters in names must be in
 * quotes: other readers of the field find other mailboxes in it otherwise.
 */
export function parseHeaderMailbox(text: string): Mailbox | AddressFault {
  return readMailbox(text, {
    faultOf: name =>
      SPECIALS.test(name) ? 'has a display name with special characters outside quotes' : undefined,
    keepsInnerQuotes: false,
  })
}

/**
 * Parses a bare `local@domain`, without display name or angle brackets. Outer blanks and line breaks are
 * ignored; invisible characters are refused by name, since nobody could find them otherwise.
 */
export function parseAddress(input: string): Mailbox | AddressFault {
  const text = trimmed(input)
  const unseen = unseenIn(text)
  if (unseen !== undefined) return { fault: `contains the invisible character ${unseen}` }
  const split = splitAtSign(text)
  if ('fault' in split) return split
  const localPart = split.localPart.normalize('NFC')
  const isAtom = DOT_ATOM.test(localPart)
  if (!isAtom && !split.isQuoted) return { fault: 'has a local part that is not a dot-atom' }
  if (!isAtom && !QUOTED_CONTENT.test(localPart))
    return { fault: 'has an invalid character in its quoted local part, or none' }
  const written = isAtom ? localPart : quoted(localPart)
  if (Buffer.byteLength(written) > LOCAL_PART_OCTETS_MAX)
    return { fault: `has a local part longer than ${LOCAL_PART_OCTETS_MAX} octets` }
  const domain = parseDomain(split.domain)
  if (domain === undefined) return { fault: domainFault(split.domain) }
  const address = `${written}@${domain}`
  if (Buffer.byteLength(address) > ADDRESS_OCTETS_MAX)
    return { fault: `is longer than ${ADDRESS_OCTETS_MAX} octets` }
  return { name: null, address, domain }
}

function domainFault(domain: string): string {
  const forbidden = forbiddenInDomain(domain)
  if (forbidden === undefined) return 'has an invalid domain'
  return `has the character ${forbidden} (${codePointOf(forbidden)}) in its domain, which no domain may have`
}

/**
 * Parses an address that a foreign program wrote. A local part that lacks only its quotes, such as
 * `user..x@carrier.example`, gets them.
 */
export function parseForeignAddress(text: string): Mailbox | AddressFault {
  const at = text.lastIndexOf('@')
  const localPart = text.slice(0, Math.max(at, 0))
  const lacksQuotes = !DOT_ATOM.test(localPart) && ATOMS_AND_DOTS.test(localPart)
  return parseAddress(lacksQuotes ? `"${localPart}"${text.slice(at)}` : text)
}

/**
 * @returns the domain as lower-case A-labels (UTS 46), or undefined; it has at least two labels of letters,
 * digits and hyphens
 */
export function parseDomain(text: string): string | undefined {
  if (PLAIN_DOMAIN.test(text) && text.length <= DOMAIN_OCTETS_MAX && !text.includes('xn--')) return text
  if (/[%:/?#@[\]\\\s]/.test(text) || forbiddenInDomain(text) !== undefined) return undefined
  const ascii = domainToASCII(text.normalize('NFC')).toLowerCase()
  if (ascii.length === 0 || ascii.length > DOMAIN_OCTETS_MAX) return undefined
  const labels = ascii.split('.')
  if (labels.length < 2 || !labels.every(label => LABEL.test(label))) return undefined
  return /^\d+$/.test(labels.at(-1)!) ? undefined : ascii
}

/** An address needs SMTPUTF8 (RFC 6531) if its local part is not ASCII. */
export function needsSmtpUtf8(address: string): boolean {
  return /[^\x00-\x7f]/.test(address)
}

/**
 * Converts a part of an address that is searched for to the form of stored addresses: the domain behind the
 * `@`, or a whole domain without it, becomes A-labels. A part of a label cannot be converted.
 */
export function searchedAddress(text: string): string {
  const parsed = parseAddress(text)
  if (!('fault' in parsed)) return parsed.address
  const at = text.lastIndexOf('@')
  const domain = text.slice(at + 1)
  if (!/[^\x00-\x7f]/.test(domain)) return text
  const beginning = at < 0 ? undefined : parseDomain(`${domain}.example`)?.slice(0, -'.example'.length)
  return text.slice(0, at + 1) + (parseDomain(domain) ?? beginning ?? domain)
}

/** Returns the domain of an address as it is written. */
export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1)
}

/** Folds an address to the form in which suppressions, contacts and duplicates are compared. */
export function foldAddress(address: string): string {
  return address.toLowerCase()
}

interface NameRules {
  /** Checks what stands outside quotes before the angle bracket. */
  faultOf: (unquoted: string) => string | undefined
  /** Whether quotes around a part of the name belong to it; else they are syntax (RFC 5322 §3.2.5). */
  keepsInnerQuotes: boolean
}

function readMailbox(text: string, rules: NameRules): Mailbox | AddressFault {
  const whole = trimmed(text)
  if (CONTROL.test(whole)) return { fault: 'contains control characters' }
  if (!whole.endsWith('>')) return rules.keepsInnerQuotes ? readCommented(whole) : parseAddress(whole)
  const opens = lastAngleBracket(whole)
  if (opens < 0) return { fault: 'has ">" without "<"' }
  const name = parseDisplayName(whole.slice(0, opens), rules)
  if (typeof name === 'object' && name !== null) return name
  const bare = parseAddress(whole.slice(opens + 1, -1))
  return 'fault' in bare ? bare : { ...bare, name }
}

/** Removes blanks and line breaks at both ends, and no other white space, which is not seen. */
function trimmed(text: string): string {
  let from = 0
  let end = text.length
  while (from < end && ' \t\r\n'.includes(text[from]!)) from += 1
  while (end > from && ' \t\r\n'.includes(text[end - 1]!)) end -= 1
  return text.slice(from, end)
}

/** Reads an address with a comment behind or in front of it, such as `ann@acme.example (Cron Daemon)`. */
function readCommented(text: string): Mailbox | AddressFault {
  if (!text.includes('(')) return parseAddress(text)
  const behind = /^([^()]+)\(((?:[^()\\]|\\.)*)\)$/.exec(text)
  const before = /^\(((?:[^()\\]|\\.)*)\)([^()]+)$/.exec(text)
  const [address, comment] = behind ? [behind[1]!, behind[2]!] : [before?.[2], before?.[1]]
  if (address === undefined) return parseAddress(text)
  const mailbox = readMailbox(address, { faultOf: namesSeveral, keepsInnerQuotes: true })
  if ('fault' in mailbox) return mailbox
  const name = unescaped(comment!).replace(/\s+/g, ' ').trim()
  if (name.length > NAME_CHARACTERS_MAX) return { fault: NAME_TOO_LONG }
  return { ...mailbox, name: mailbox.name ?? (name === '' ? null : name) }
}

/** Finds the bracket before the address, whose quoted local part may contain brackets and quotes. */
function lastAngleBracket(text: string): number {
  const bracket = text.lastIndexOf('<')
  const closes = text.lastIndexOf('"@')
  if (closes < bracket) return bracket
  for (let at = text.lastIndexOf('"', closes - 1); at > 0; at = text.lastIndexOf('"', at - 1))
    if (text[at - 1] !== '\\') return text[at - 1] === '<' ? at - 1 : bracket
  return bracket
}

function splitAtSign(text: string): { localPart: string; isQuoted: boolean; domain: string } | AddressFault {
  const match = QUOTED.exec(text)
  if (match) {
    if (text[match[0].length] !== '@') return { fault: 'has text after its quoted local part' }
    const domain = text.slice(match[0].length + 1)
    return { localPart: unescaped(match[1]!), isQuoted: true, domain }
  }
  const at = text.indexOf('@')
  if (at < 0) return { fault: 'has no "@"' }
  if (text.indexOf('@', at + 1) >= 0) return { fault: 'has more than one "@"' }
  return { localPart: text.slice(0, at), isQuoted: false, domain: text.slice(at + 1) }
}

function parseDisplayName(
  text: string,
  { faultOf, keepsInnerQuotes }: NameRules,
): string | null | AddressFault {
  const words: string[] = []
  const unquoted: string[] = []
  const trimmed = text.trim()
  let rest = trimmed
  while (rest.length > 0) {
    const match = QUOTED.exec(rest)
    if (!match && rest.startsWith('"')) {
      if (words.length === 0) return { fault: 'has an unfinished quoted display name' }
      // A later quote without its end is part of the name, as in `12" Records`.
      unquoted.push(rest)
      const isApart = /\s/.test(trimmed[trimmed.length - rest.length - 1]!)
      words.push(isApart ? rest : words.pop()! + rest)
      break
    }
    const word = match ? match[0] : /^[^"]+/.exec(rest)![0]
    words.push(match ? unescaped(match[1]!) : word.trim())
    if (!match) unquoted.push(word)
    rest = rest.slice(word.length).trimStart()
  }
  const fault = faultOf(unquoted.join(' '))
  if (fault !== undefined) return { fault }
  const isMixed = unquoted.length > 0 && keepsInnerQuotes
  const name = (isMixed ? trimmed : words.join(' ')).replace(/\s+/g, ' ').trim()
  if (name.length > NAME_CHARACTERS_MAX) return { fault: NAME_TOO_LONG }
  return name === '' ? null : name
}

/** Tells names from lists, such as `a@x.example, Bob <b@x.example>`, of which no mailbox may get lost. */
function namesSeveral(unquoted: string): string | undefined {
  const hasBrackets = /[<>]/.test(unquoted) && unquoted.includes('@')
  const hasAddress = () => unquoted.split(/[\s,;:]+/).some(word => !('fault' in parseAddress(word)))
  return hasBrackets || (/[,;]/.test(unquoted) && hasAddress())
    ? 'is a list; each text must be one address'
    : undefined
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`
}

function unescaped(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

/** Formats a mailbox for people: `Name <address>`, the name quoted if it has special characters. */
export function mailboxText({ name, address }: { name: string | null; address: string }): string {
  if (name === null) return address
  return `${SPECIALS.test(name) ? quoted(name) : name} <${address}>`
}

/**
 * Patterns of other programs for many addresses, or for a domain. Most of them are addresses by RFC 5321,
 * which nobody has.
 */
const PATTERN = /\*.*@|^"?[?%]+"?@|^(?:@|\*\.?)[^@]+$/

/** Whether a text stands for many addresses, such as `*@gone.example`, `?@…`, `%@…` or `@gone.example`. */
export function isAddressPattern(text: string): boolean {
  return PATTERN.test(text.trim())
}
