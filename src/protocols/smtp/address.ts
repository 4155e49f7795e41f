/**
 * Parses addresses (RFC 5321 §4.1.2, RFC 5322 §3.4). Every interface (HTTP API, SMTP, contacts) uses this
 * parser, and only the address that it returns is checked, signed and put on an envelope.
 */
import { domainToASCII } from 'node:url'

export interface Mailbox {
  /** Display name as plain text, or null. */
  name: string | null
  /** `local@domain`, with the domain as lower-case A-labels. The local part keeps its case. */
  address: string
  /** Lower-case A-labels. */
  domain: string
}

/** Reason why a text is not a mailbox. `fault` completes the sentence "The address …". */
export interface AddressFault {
  fault: string
}

const ATEXT = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|(?![\\x00-\\x7f])[\\p{L}\\p{N}\\p{M}\\p{S}\\p{P}]"
const DOT_ATOM = new RegExp(`^(?:${ATEXT})+(?:\\.(?:${ATEXT})+)*$`, 'u')
const LABEL_TEXT = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
/**
 * Matches a domain that is in its final form already. A-labels go through the runtime; a numeric last label
 * would make the domain an IP address.
 */
const PLAIN_DOMAIN = new RegExp(`^(?:${LABEL_TEXT}\\.)+(?=[a-z])${LABEL_TEXT}$`)
const LABEL = new RegExp(`^${LABEL_TEXT}$`)
const FORBIDDEN_IN_NAME = /[()<>[\]:;@\\,"]/
const QUOTED = /^"((?:[^"\\]|\\.)*)"/
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/
const LOCAL_PART_OCTETS_MAX = 64
const DOMAIN_OCTETS_MAX = 253
const ADDRESS_OCTETS_MAX = 254
const NAME_CHARACTERS_MAX = 512

/**
 * Parses `Name <local@domain>`, `"Name" <local@domain>` or `local@domain`. Groups, routes, comments and lists
 * are refused.
 */
export function parseMailbox(text: string): Mailbox | AddressFault {
  if (CONTROL.test(text)) return { fault: 'contains control characters' }
  const trimmed = text.trim()
  if (!trimmed.endsWith('>')) return parseAddress(trimmed)
  const opens = trimmed.lastIndexOf('<')
  if (opens < 0) return { fault: 'has ">" without "<"' }
  const name = parseDisplayName(trimmed.slice(0, opens))
  if (typeof name === 'object' && name !== null) return name
  const bare = parseAddress(trimmed.slice(opens + 1, -1))
  return 'fault' in bare ? bare : { ...bare, name }
}

/** Parses a bare `local@domain`, without display name or angle brackets. */
export function parseAddress(text: string): Mailbox | AddressFault {
  const split = splitAtSign(text)
  if ('fault' in split) return split
  const localPart = split.localPart.normalize('NFC')
  if (!DOT_ATOM.test(localPart)) return { fault: 'has a local part that is not a dot-atom' }
  if (Buffer.byteLength(localPart) > LOCAL_PART_OCTETS_MAX)
    return { fault: `has a local part longer than ${LOCAL_PART_OCTETS_MAX} octets` }
  const domain = parseDomain(split.domain)
  if (domain === undefined) return { fault: 'has an invalid domain' }
  const address = `${localPart}@${domain}`
  if (Buffer.byteLength(address) > ADDRESS_OCTETS_MAX)
    return { fault: `is longer than ${ADDRESS_OCTETS_MAX} octets` }
  return { name: null, address, domain }
}

/**
 * @returns the domain as lower-case A-labels (UTS 46), or undefined; it has at least two labels of letters,
 * digits and hyphens
 */
export function parseDomain(text: string): string | undefined {
  if (PLAIN_DOMAIN.test(text) && text.length <= DOMAIN_OCTETS_MAX && !text.includes('xn--')) return text
  if (/[%:/?#@[\]\\\s]/.test(text)) return undefined
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

/** Folds an address to the form in which suppressions, contacts and duplicates are compared. */
export function foldAddress(address: string): string {
  return address.toLowerCase()
}

/** A quoted local part is accepted only if its quotes are unnecessary; the quotes are removed. */
function splitAtSign(text: string): { localPart: string; domain: string } | AddressFault {
  const quoted = QUOTED.exec(text)
  if (quoted) {
    if (text[quoted[0].length] !== '@') return { fault: 'has text after its quoted local part' }
    return { localPart: quoted[1]!.replace(/\\(.)/g, '$1'), domain: text.slice(quoted[0].length + 1) }
  }
  const at = text.indexOf('@')
  if (at < 0) return { fault: 'has no "@"' }
  if (text.indexOf('@', at + 1) >= 0) return { fault: 'has more than one "@"' }
  return { localPart: text.slice(0, at), domain: text.slice(at + 1) }
}

function parseDisplayName(text: string): string | null | AddressFault {
  const words: string[] = []
  let rest = text.trim()
  while (rest.length > 0) {
    const quoted = QUOTED.exec(rest)
    const word = quoted ? quoted[0] : /^[^"]+/.exec(rest)?.[0]
    if (word === undefined) return { fault: 'has an unfinished quoted display name' }
    if (!quoted && FORBIDDEN_IN_NAME.test(word))
      return { fault: 'has a display name with special characters outside quotes' }
    words.push(quoted ? quoted[1]!.replace(/\\(.)/g, '$1') : word.trim())
    rest = rest.slice(word.length).trimStart()
  }
  const name = words.join(' ').replace(/\s+/g, ' ').trim()
  if (name.length > NAME_CHARACTERS_MAX)
    return { fault: `has a display name longer than ${NAME_CHARACTERS_MAX} characters` }
  return name === '' ? null : name
}

/** Formats a mailbox for people: `Name <address>`, the name quoted if it has special characters. */
export function mailboxText({ name, address }: { name: string | null; address: string }): string {
  if (name === null) return address
  const plain = !/[()<>[\]:;@\\,"]/.test(name)
  return `${plain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${address}>`
}
