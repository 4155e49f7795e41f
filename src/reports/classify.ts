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

/** By enhanced status code without its class (RFC 3463, RFC 7372, RFC 7505); 4.1 and 4.14 as Exchange uses them. */
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
  ['4.1', 'invalid-recipient'],
  ['4.6', 'no-route'],
  ['4.14', 'no-route'],
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
    /rate limit|too many (?:messages|connections|requests|invalid|unknown|bad )|too (?:quickly|fast)|at a rate that|frequency limit|connections? limit|unexpected volume|server (?:is )?busy|throttl|try again later.*rate/i,
    'rate-limited',
  ],
  [
    /blocked using|block ?list|black ?list|spamhaus|(?<!not )listed (?:in|on|at|by)|reputation|banned/i,
    'blocked',
  ],
  [
    /mailbox (?:is )?full|over ?quota|quota exceeded|out of storage|insufficient storage|storage allocation/i,
    'mailbox-full',
  ],
  [/\b(?:open)?spf\b|\bdkim\b|\bdmarc\b|unauthenticated|authentication level/i, 'authentication'],
  [
    /sender (?:address )?(?:rejected|denied|refused|verif)|(?:valid|envelope) sender|domain of sender/i,
    'sender',
  ],
  [/virus|malware|infected/i, 'content'],
  [/attachment|file ?type|extension/i, 'attachment'],
  [/spam|junk|unsolicited|bulk mail/i, 'spam'],
  [/too large|too big|size limit|exceeds.*size|message size/i, 'message-too-large'],
  [
    /(?:account|mailbox|user|address)(?:[^.]|\.\b){0,60}(?:disabled|inactive|suspended|deactivated|closed|expired)/i,
    'inactive-mailbox',
  ],
  [
    /(?:no such|unknown|invalid|illegal|nonexistent|non-existent|not a valid)[^.]{0,20}(?:user|recipient|mailbox|address|account|alias|person)/i,
    'invalid-recipient',
  ],
  [
    /(?:user|recipient|mailbox|address|account)(?:[^.]|\.\b){0,60}(?:unknown|not found|not exist|doesn't exist|doesn't have|no longer|unavailable|not listed|not known)/i,
    'invalid-recipient',
  ],
  [/no mailbox|unroute?able/i, 'invalid-recipient'],
]
/** Less telling words: servers give other reasons for the same. */
const ADDRESS_REJECTED = /(?:user|recipient|mailbox|address|account)(?:[^.]|\.\b){0,60}rejected/i
const POLICY =
  /relay|rcpthosts|not (?:permitted|allowed)|denied|policy|prohibited|refused|rejected|administrative/i
/** These say of one day or one sender what the status code seems to say of the address. */
const EXCUSES: ReadonlySet<BounceClass> = new Set([
  'greylisted',
  'rate-limited',
  'blocked',
  'spam',
  'mailbox-full',
  'authentication',
])
/** Where qmail and its kin put the status code. */
const STATUS_IN_TEXT = /\(#[45]\.(\d{1,3}\.\d{1,3})\b/

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

function permanentClass(reply: Reply): BounceClass {
  const found = classOf(reply)
  if (found) return found
  if (statusOf(reply)?.startsWith('7.')) return 'policy'
  return reply.code === 552 ? 'mailbox-full' : 'unknown'
}

function transientClass(reply: Reply): BounceClass {
  return classOf(reply) ?? (reply.code === 452 && statusOf(reply) === undefined ? 'mailbox-full' : 'unknown')
}

function classOf(reply: Reply): BounceClass | undefined {
  const status = statusOf(reply)
  const byStatus = status === undefined ? undefined : BY_STATUS.get(status)
  const byWords = classOfWords(reply.text, status)
  if (!byStatus || !byWords || !blamesAddress(byStatus)) return byStatus ?? byWords
  if (byStatus === 'bad-domain' && byWords === 'invalid-recipient') return byWords
  return EXCUSES.has(byWords) ? byWords : byStatus
}

function classOfWords(said: string, status: string | undefined): BounceClass | undefined {
  const text = withoutAddresses(said)
  const found = BY_WORDS.find(([words]) => words.test(text))?.[1]
  if (found) return found
  if (ADDRESS_REJECTED.test(text) && !status?.startsWith('7.')) return 'invalid-recipient'
  return POLICY.test(text) ? 'policy' : undefined
}

/** The words of an address say nothing. */
function withoutAddresses(text: string): string {
  return text
    .split(' ')
    .filter(word => !word.includes('@'))
    .join(' ')
}

/** Subject and detail, as in `1.1`. */
function statusOf({ enhanced, text }: Reply): string | undefined {
  return enhanced === null ? STATUS_IN_TEXT.exec(text)?.[1] : enhanced.slice(2)
}
