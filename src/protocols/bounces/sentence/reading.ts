/** The parts of a reply that the rules match: code, enhanced status code, and the server's own words. */

import { domainOf } from '../../smtp/address.ts'
import type { SmtpReply } from '../../smtp/reply.ts'
import { fold, withoutQuotations } from '../text/fold.ts'
import type { EnvelopeFacts } from './clauses.ts'
import { type Findings, findingsIn } from './finding.ts'

/**
 * Phase of the session. `host` stands for everything before MAIL, where a server treats every sender alike.
 */
export type ReplyPhase = 'host' | 'mail' | 'rcpt' | 'data' | 'final-dot'

export interface ReplyReading {
  phase: ReplyPhase
  provider: string | undefined
  /** Reply code, three digits. */
  code: string
  /** Subject and detail of the enhanced status code, such as `1.1` (RFC 3463); undefined without one. */
  status: string | undefined
  /**
   * True if the classes of the enhanced status code and of the reply code differ, so that one of them is
   * wrong.
   */
  contradicts: boolean
  /**
   * Text in lower case without accents, addresses, host names and quoted subjects, in which `restriction:`
   * stands for Postfix's `Recipient address rejected:`.
   */
  words: string
  /** Words of the reply without links. */
  prose: string
  /**
   * True if a domain or host that is not found is the recipient's: a reporting system says so in its own
   * words, or a status code does, or the name stands there.
   */
  meansRecipientDomain: boolean
  /** What the sentences of the reply are about. */
  findings: Findings
}

/** Limit of the text that is examined. */
const CHARACTERS_MAX = 1024

/**
 * Matches a status code within a line: behind a colon, in brackets as qmail writes it, or in the quoted
 * reply of another host. No digit or dot may adjoin the code, so that parts of addresses and versions do
 * not match.
 */
const STATUS_IN_TEXT = [
  /^#?([245])\.(\d{1,3}\.\d{1,3})(?=[:;,\-_\])]|$)/,
  /[(#[]([245])\.(\d{1,3}\.\d{1,3})(?=[ :;,)\]]|$)/,
  /(?:^|[ :<])[45]\d\d[ -]['"(]?([245])\.(\d{1,3}\.\d{1,3})(?=[ :;,]|$)/,
]
const QUOTED_ADDRESS = /"[^"]{1,64}"@/g
/**
 * Matches the words that Postfix puts before the text of any restriction that it applies at RCPT: only the
 * text says whether the address is at fault.
 */
const RESTRICTION = /\brecipient (?:address )?rejected ?[:;(-]/g
/** Matches the host names of block lists. */
const LIST_HOST =
  /spamhaus|spamcop|barracuda|sorbs|uceprotect|abusix|abuseat|dnsbl|rbl|surbl|uribl|mailspike|psbl|senderscore|invaluement/
/** Status codes about the destination: its domain (RFC 3463 §3.2), and how to get there (§3.5). */
const DOMAIN_STATUSES: ReadonlySet<string> = new Set(['1.2', '1.10', '4.0', '4.3', '4.4'])
const HOST_NAME = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63}){1,8}$/

/** A reply with a code of 400 or more, and what is known about the delivery. */
export interface FailedReply extends SmtpReply {
  phase: ReplyPhase
  /** Name of the host's provider in `pipeline/delivery/destinations/providers.ts`. */
  provider?: string | undefined
  facts?: EnvelopeFacts | undefined
  /** True for the words of a reporting system about its own attempt, and no reply of a host. */
  isOwnWords?: boolean
}

export function readReplyText(reply: FailedReply): ReplyReading {
  const { phase, code, enhanced, text, provider, facts, isOwnWords = false } = reply
  const sentence = text.slice(0, CHARACTERS_MAX)
  const [statusClass, status] = enhanced === null ? statusIn(sentence) : [enhanced[0], enhanced.slice(2)]
  return {
    phase,
    provider,
    code: String(code),
    status,
    contradicts: statusClass !== undefined && statusClass !== String(code)[0],
    words: wordsOf(sentence),
    prose: wordsOf(sentence.replace(/https?:\/\/\S{1,300}/gi, '')),
    meansRecipientDomain:
      isOwnWords || DOMAIN_STATUSES.has(status ?? '') || namesDomainOf(facts?.recipient, sentence),
    findings: findingsIn(sentence, facts),
  }
}

function namesDomainOf(recipient: string | undefined, sentence: string): boolean {
  if (recipient === undefined) return false
  const address = recipient.toLowerCase()
  const [, ...behind] = sentence.toLowerCase().split(address)
  const text = sentence.toLowerCase().replaceAll(address, ' ')
  // The name of a host in the domain does not name the domain.
  const pieces = text.split(domainOf(address))
  const isNamed = pieces.some(
    (piece, i) => i > 0 && !/[\w.@-]$/.test(pieces[i - 1]!) && !/^(?:[\w-]|\.\w)/.test(piece),
  )
  return (
    isNamed ||
    behind.some(words =>
      /^[>).:\s]{1,6}(?:[45]\d\d[ -])?(?:host|domain|no mx)\b(?! [\w-]{1,63}\.\w)/.test(words),
    )
  )
}

export function statusIn(text: string): [statusClass: string | undefined, status: string | undefined] {
  for (const place of STATUS_IN_TEXT) {
    const found = place.exec(text)
    if (found) return [found[1]!, found[2]!]
  }
  // A code of the wrong class stays in the text (`replyOf`).
  const leading = /^([245])\.(\d{1,3}\.\d{1,3}) /.exec(text)
  return leading ? [leading[1]!, leading[2]!] : [undefined, undefined]
}

function wordsOf(sentence: string): string {
  const own = withoutQuotations(sentence.replace(QUOTED_ADDRESS, '@'))
    .split(' ')
    .map((word, i, all) => (isHostName(word) && isSubject(all, i) ? 'name' : word))
    .filter(word => !word.includes('@') && !isHostName(word))
    .join(' ')
  return fold(own).replace(RESTRICTION, 'restriction:')
}

/** Tells whether a word is what does not exist or is unknown, so that without it the sentence would blame. */
function isSubject(words: readonly string[], at: number): boolean {
  return /^(?:does(?:n.?t)?|is (?:unknown|not))\b/i.test(words.slice(at + 1, at + 3).join(' '))
}

function isHostName(word: string): boolean {
  const bare = word.replace(/^[<([]/, '').replace(/[>)\],;:.]{1,3}$/, '')
  return HOST_NAME.test(bare) && !LIST_HOST.test(bare)
}
