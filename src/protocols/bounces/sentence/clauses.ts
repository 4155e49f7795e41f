/**
 * Splits a reply into clauses of plain words, in which marks stand for addresses and host names: whether an
 * address is the recipient's or ours is decided here, by the envelope.
 */
import { domainOf } from '../../smtp/address.ts'
import { addressesIn } from '../text/addresses.ts'
import { fold, withoutQuotations } from '../text/fold.ts'
import { MARKS, roleOf } from './roles.ts'

/** The parties of a delivery, as far as the reader knows them. */
export interface EnvelopeFacts {
  /** Address of the recipient; undefined when a report names none. */
  recipient: string | undefined
  /** Addresses and names of our side: From, return path, the name in EHLO. */
  ours: readonly string[]
}

export const NO_FACTS: EnvelopeFacts = { recipient: undefined, ours: [] }

const CHARACTERS_MAX = 1024
const LINK = /https?:\/\/\S{1,300}/gi
const ADDRESS =
  /[<("'[]?(?:"[^"\n]{1,64}"|[a-z0-9!#$%&*+/=?^_`{|}~.\u00c0-\u052f-]{1,64})@(?:\[[0-9a-f.:]{3,45}\]|[a-z0-9\u00c0-\u052f][a-z0-9.\u00c0-\u052f-]{0,252})[>)"'\]]?/giu
const IP =
  /[[(]?\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b[\])]?(?::\d{1,5})?|\[[0-9a-f]{0,4}:[0-9a-f:]{2,40}\]/gi
const HOST =
  /[<("'[]?(?<![\w.@-])[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){0,8}\.[a-z][a-z0-9-]{1,62}(?![\w@-])[>)"'\]]?/giu
const STATUS = /(?<![\d.])#?[245]\.\d{1,3}\.\d{1,3}(?![\d.])/g
/** Matches the names of the fields that hold our address; "from" alone only if it is written like a name. */
const FROM_FIELD =
  /\b(?:mail_?from|mail from(?= ?:)|(?:envelope|header)[ -]from|(?:5321|5322)\.?(?:mail)?from|(?:mail )?from:?(?= (?:header|field|address|domain|line|command|parameter)\b)|(?:return|reverse)[ -]?(?:path|address)|reply-?to)\b/gi
const FROM_NAME =
  /\bMAIL[ _]FROM\b|(?<=\b(?:header|field|envelope|the|in|your) )"?From\b"?(?! (?:the|a|an|this|your|our)\b)/g
/** Matches the names of the fields of recipients, if they are written like names. */
const RECIPIENT_FIELDS =
  /\b(?:To|Cc|Bcc)\b(?=,? (?:or|and|header|field|line|Cc|Bcc)\b)|(?<=\b(?:header|field) )(?:To|Cc|Bcc)\b/g
/** Ends of clauses; brackets around a mark are no ends. */
const ENDS =
  /([<>]{2,3}|[.:;!?…()[\]{}|。、，；：！？（）]+|(?<=\s)[-–—]+(?=\s)|,\s|(?<!\p{L})(?:because|since|but|therefore|so that|weil|denn|da(?=\s(?:der|die|das)\s)|sondern|parce que|car|porque|pero|perche|maar|omdat|потому что|поэтому|но|poniewaz|ale)(?!\p{L}))/gu
const RELATIVE =
  /(?<=\p{L}) and (?=(?:the|this|your|our|we|it|there|so|will|has|have|is|was|no|can|does|please|must) )/gu

export interface Clause {
  /** Words separated by single blanks. */
  text: string
  /**
   * True if a colon, an ellipsis or a dash follows, so that the next clause says more about what this one
   * names.
   */
  announces: boolean
  /** True for a question, which says nothing. */
  asks: boolean
}

export function clausesOf(text: string, facts: EnvelopeFacts): Clause[] {
  const marked = withMarks(text.slice(0, CHARACTERS_MAX), facts)
  const isUnpaired = marked.split('"').length % 2 === 0
  const pieces = plain(isUnpaired ? marked.replaceAll('"', '. ') : marked)
    .replace(RELATIVE, ', ')
    .split(ENDS)
  const names = [...facts.ours.map(one => [one, MARKS.ours]), [facts.recipient ?? '', MARKS.recipient]].map(
    ([address, name]) => [wordsIn(fold(address!.slice(0, Math.max(0, address!.lastIndexOf('@'))))), name!],
  )
  const clauses: Clause[] = []
  for (let i = 0; i < pieces.length; i += 2) {
    const words = wordsIn(pieces[i]!)
    const end = pieces[i + 1] ?? ''
    if (words !== '')
      clauses.push({
        text: withNames(words, names),
        announces: /^[^,]*(?::|\.\.|…|[-–—]|[?？])/.test(end),
        asks: /[?？]/.test(end),
      })
  }
  return clauses
}

function wordsIn(text: string): string {
  return (text.match(/@\p{L}+|[\p{L}\p{N}]+/gu) ?? []).join(' ')
}

/** Marks local parts of the parties, unless they are words that mean something; the recipient's wins. */
function withNames(words: string, names: readonly (readonly string[])[]): string {
  return names
    .reduceRight(
      (text, [name, mark]) =>
        name === '' || roleOf(name!) !== undefined ? text : text.replaceAll(` ${name} `, ` ${mark} `),
      ` ${words} `,
    )
    .trim()
}

function withMarks(text: string, facts: EnvelopeFacts): string {
  const recipient = facts.recipient?.toLowerCase()
  const recipientDomain = recipient === undefined ? undefined : domainOf(recipient)
  const ours = facts.ours.map(one => one.toLowerCase())
  const ourAddresses = new Set(ours.filter(one => one.includes('@')))
  const ourDomains = new Set([...ourAddresses].map(domainOf))
  const ourHosts = ours.map(one => (one.includes('@') ? domainOf(one) : one))
  const ofAddress = (found: string) => {
    const address = addressesIn(found)[0]?.toLowerCase()
    if (address === undefined) return found
    if (ourAddresses.has(address) && address !== recipient) return mark(MARKS.ours)
    const domain = domainOf(address)
    const isRecipient = recipientDomain === undefined || domain === recipientDomain
    if (!isRecipient && ourDomains.has(domain)) return mark(MARKS.ours)
    return mark(isRecipient ? MARKS.recipient : MARKS.otherAddress)
  }
  const ofHost = (found: string) => {
    const host = found.toLowerCase().replace(/[^\w.-]/g, '')
    if (host === recipientDomain) return mark(MARKS.recipientDomain)
    if (ourHosts.some(one => isWithin(one, host))) return mark(MARKS.ours)
    return mark(MARKS.otherHost)
  }
  return withoutQuotations(text.replace(LINK, ' '))
    .replace(ADDRESS, ofAddress)
    .replace(IP, mark(MARKS.ip))
    .replace(HOST, ofHost)
    .replace(STATUS, ' ')
    .replace(FROM_FIELD, ' fromfield ')
    .replace(FROM_NAME, ' fromfield ')
    .replace(RECIPIENT_FIELDS, ' header ')
}

/** Tells whether a name is a host, or a domain above it of at least two labels. */
function isWithin(host: string, name: string): boolean {
  return host === name || host.endsWith(`.${name}`) || name.endsWith(`.${host}`)
}

function mark(name: string): string {
  return ` ${name} `
}

/** Folds the text and undoes contractions, so that each word and each negation stands alone. */
function plain(text: string): string {
  return fold(text)
    .replace(/[’‘´`]/g, "'")
    .replace(/\bcan(?:not|'t)\b/g, 'can not')
    .replace(/\b(wo|sha)n'?t\b/g, 'will not')
    .replace(/n't\b|(?<=\b(?:does|is|was|could|did|has|have))nt\b/g, ' not')
    .replace(/'s\b/g, '')
    .replace(/e-mail/g, 'email')
    .replace(/\b(mail|look|user) (box|boxes|ups?|names?|ids?)\b/g, '$1$2')
    .replace(
      /\b(?:that|which|who) (?:sent|sends)\b|\b(?:sen[dt]|write|wrote|mailed|submit(?:ted)?|used?) from\b/g,
      ' sender ',
    )
    .replace(/\benvelope (?=recipient|rcpt|to\b)/g, '')
    .replace(/\bnon-(?=\p{L})|\bnon (?=exist|member|local\b)/gu, 'non')
    .replace(/\blocal[ -]part/g, 'localpart')
    .replace(/any ?(more|longer)\b/g, 'anymore')
    .replace(/\bnot because\b/g, 'notbecause')
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/(?<=[\p{L}\p{N}])-(?=[\p{L}\p{N}])|[/_']/gu, ' ')
}
