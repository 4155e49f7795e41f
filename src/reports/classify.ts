/**
 * What a negative reply means: whether to try again, what kind of bounce it is, and whether the address is at
 * fault. The phase comes first: a refused connection says nothing about a recipient.
 */
import type { Reply } from '../smtp/reply.ts'

/** `host`: before MAIL; the other side speaks to every sender alike. */
export type ReplyPhase = 'host' | 'mail' | 'rcpt' | 'data' | 'final-dot'

export type BounceClass =
  | 'invalid-recipient'
  | 'inactive-mailbox'
  | 'bad-domain'
  | 'mailbox-full'
  | 'message-too-large'
  | 'content'
  | 'attachment'
  | 'spam'
  | 'blocked'
  | 'policy'
  | 'authentication'
  | 'sender'
  | 'greylisted'
  | 'rate-limited'
  | 'protocol'
  | 'no-route'
  | 'unknown'

export interface Verdict {
  action: 'bounce' | 'defer'
  class: BounceClass
}

/** How webhooks and the API name a class. */
export interface BounceType {
  type: 'Permanent' | 'Transient' | 'Undetermined'
  subtype:
    | 'General'
    | 'NoEmail'
    | 'MailboxFull'
    | 'MessageTooLarge'
    | 'ContentRejected'
    | 'AttachmentRejected'
}

/** Only these say that mail to the address is in vain; everything else may be true of one message or one sender. */
const ADDRESS_FAULTS: ReadonlySet<BounceClass> = new Set([
  'invalid-recipient',
  'inactive-mailbox',
  'bad-domain',
])

const TYPES: Partial<Record<BounceClass, BounceType>> = {
  'invalid-recipient': { type: 'Permanent', subtype: 'NoEmail' },
  'inactive-mailbox': { type: 'Permanent', subtype: 'General' },
  'bad-domain': { type: 'Permanent', subtype: 'General' },
  'no-route': { type: 'Permanent', subtype: 'General' },
  'mailbox-full': { type: 'Transient', subtype: 'MailboxFull' },
  'message-too-large': { type: 'Transient', subtype: 'MessageTooLarge' },
  content: { type: 'Transient', subtype: 'ContentRejected' },
  spam: { type: 'Transient', subtype: 'ContentRejected' },
  attachment: { type: 'Transient', subtype: 'AttachmentRejected' },
  blocked: { type: 'Transient', subtype: 'General' },
  policy: { type: 'Transient', subtype: 'General' },
  authentication: { type: 'Transient', subtype: 'General' },
  sender: { type: 'Transient', subtype: 'General' },
}

export function bounceType(bounceClass: BounceClass): BounceType {
  return TYPES[bounceClass] ?? { type: 'Undetermined', subtype: 'General' }
}

export function blamesAddress(bounceClass: BounceClass): boolean {
  return ADDRESS_FAULTS.has(bounceClass)
}

/** By enhanced status code without its class (RFC 3463, RFC 7372, RFC 7505). */
const BY_STATUS: ReadonlyMap<string, BounceClass> = new Map([
  ['1.1', 'invalid-recipient'],
  ['1.2', 'bad-domain'],
  ['1.3', 'invalid-recipient'],
  ['1.6', 'inactive-mailbox'],
  ['1.7', 'sender'],
  ['1.8', 'sender'],
  ['1.10', 'bad-domain'],
  ['2.1', 'inactive-mailbox'],
  ['2.2', 'mailbox-full'],
  ['2.3', 'message-too-large'],
  ['3.4', 'message-too-large'],
  ['4.6', 'no-route'],
  ['6.1', 'content'],
  ['6.6', 'content'],
  ['7.9', 'authentication'],
  ['7.20', 'authentication'],
  ['7.23', 'authentication'],
  ['7.25', 'blocked'],
  ['7.26', 'authentication'],
  ['7.27', 'sender'],
])

/** By words, the most telling first. */
const BY_WORDS: readonly [RegExp, BounceClass][] = [
  [/grey-?list|gr[ae]ylist/i, 'greylisted'],
  [
    /blocked using|blocklist|blacklist|block list|black list|spamhaus|listed (?:in|on|at|by)|reputation/i,
    'blocked',
  ],
  [
    /mailbox (?:is )?full|over ?quota|quota exceeded|out of storage|insufficient (?:system )?storage/i,
    'mailbox-full',
  ],
  [/rate limit|too many (?:messages|connections|requests)|throttl|try again later.*rate/i, 'rate-limited'],
  [/\bspf\b|\bdkim\b|\bdmarc\b|unauthenticated/i, 'authentication'],
  [/virus|malware|infected/i, 'content'],
  [/attachment|file ?type|extension/i, 'attachment'],
  [/spam|junk|unsolicited|bulk mail/i, 'spam'],
  [/too large|too big|size limit|exceeds.*size|message size/i, 'message-too-large'],
  [
    /(?:account|mailbox|user|address)[^.]{0,30}(?:disabled|inactive|suspended|deactivated|closed|expired)/i,
    'inactive-mailbox',
  ],
  [
    /(?:no such|unknown|invalid|nonexistent|non-existent)[^.]{0,20}(?:user|recipient|mailbox|address|account)/i,
    'invalid-recipient',
  ],
  [
    /(?:user|recipient|mailbox|address|account)[^.]{0,40}(?:unknown|not found|not exist|doesn't exist|no longer|unavailable|not listed|not known|rejected)/i,
    'invalid-recipient',
  ],
  [/relay|not (?:permitted|allowed)|denied|policy|prohibited|refused|rejected|administrative/i, 'policy'],
]

/** @param reply one with a code of 400 or more */
export function classify(phase: ReplyPhase, reply: Reply): Verdict {
  const { code } = reply
  if (code < 500) return { action: 'defer', class: transientClass(reply) }
  if (code === 503 || code === 500 || code === 502) return { action: 'defer', class: 'protocol' }
  const found = permanentClass(reply)
  if (phase === 'host') {
    if (found === 'blocked' || found === 'rate-limited') return { action: 'defer', class: found }
    return { action: 'bounce', class: code === 521 || code === 556 ? 'no-route' : 'policy' }
  }
  if (phase === 'mail') return { action: 'bounce', class: blamesAddress(found) ? 'sender' : found }
  if (phase === 'rcpt') return { action: 'bounce', class: found }
  return { action: 'bounce', class: found === 'unknown' || found === 'policy' ? 'content' : found }
}

function permanentClass({ code, enhanced, text }: Reply): BounceClass {
  const byStatus = enhanced === null ? undefined : BY_STATUS.get(enhanced.slice(2))
  const byWords = BY_WORDS.find(([words]) => words.test(text))?.[1]
  if (byStatus === 'invalid-recipient' && (byWords === 'blocked' || byWords === 'spam')) return byWords
  if (byStatus) return byStatus
  if (byWords) return byWords
  return code === 552 ? 'mailbox-full' : 'unknown'
}

function transientClass({ code, enhanced, text }: Reply): BounceClass {
  const byWords = BY_WORDS.find(([words]) => words.test(text))?.[1]
  if (byWords === 'greylisted' || byWords === 'rate-limited' || byWords === 'blocked') return byWords
  if (enhanced === '4.2.2' || code === 452) return 'mailbox-full'
  return byWords ?? 'unknown'
}
