/** Reads who sent a returned mail, and what its header section says about how it was generated. */
import { withoutComments } from '../mime/date.ts'
import type { Head } from '../mime/read/head.ts'
import { addressesIn } from './addresses.ts'
import { AUTO_SUBJECT } from './phrases.ts'
import { fold } from './reading.ts'

export interface Signs {
  /** Subject, normalized by `fold`. */
  subject: string
  /** True if the address or name of the sender is that of a mail system. */
  isDaemon: boolean
  /** True for `Return-Path: <>` (RFC 5321 §4.5.5), or the notation of some hosts for it. */
  hasNullSender: boolean
  /** True for mail that no person wrote (RFC 3834 §5, and header fields of vendors). */
  isAutomatic: boolean
  /** True for a refusal by the recipient's filter (RFC 5429 §2.1.2). */
  isRefusal: boolean
  /** True if fields or subject are those of vacation programs. */
  isAutoReply: boolean
  /** True for a reply or a forwarded message of a person. */
  isReply: boolean
  /** True for bulk mail. */
  isBulk: boolean
  /** Recipients that Exim and others list in `X-Failed-Recipients`. */
  failed: readonly string[]
  /** Addresses in the header section, which are never the failed recipient. */
  own: readonly string[]
}

const DAEMON_ADDRESS =
  /^(?:mailer[._-]?daemon|mail[._-]?daemon|daemon|postmaster|post[._-]?master|mail-?delivery|mdaemon|microsoftexchange\w{0,64}|system|notes|imss|bounces?|mailerdaemon|undeliver\w{0,8}|mail-?admin\w{0,10}|failure)(?:[+._-]|$)/
const DAEMON_NAME =
  /mailer[ -]?daemon|mail(?:er)? daemon|(?:mail|message|e-?mail|internet mail) delivery|delivery (?:sub|agent|notif|status|system)|mail (?:system|server|admin|gateway|transport)|system administrator|domino mailer|content-?filter|^postmaster|postmaster$|microsoft (?:outlook|exchange)|\bexchange\b.{0,30}(?:server|system)|systemadministrator|courier mail/
const REPLY_SUBJECT = /^\s*(?:(?:re|fwd?|aw|wg|antw|sv|vs|tr|rv|enc|res|odp|rif|i|ynt)(?:\[\d\])?\s?:)/

/** Header fields that only vacation programs set. */
export const VACATION_FIELDS = [
  'x-autoreply',
  'x-autorespond',
  'x-autoresponder',
  'x-auto-reply',
  'x-vacation',
  'x-mail-autoreply',
]

export function signsOf(head: Head): Signs {
  const subject = fold(head.text('subject') ?? '')
  const from = head.text('from') ?? ''
  const [address = ''] = addressesIn(from)
  const name =
    fold(
      from
        .split('<')[0]!
        .trim()
        .replace(/^["']|["']$/g, ''),
    ) + fold(/\(([^)]{1,80})\)/.exec(from)?.[1] ?? '')
  const isDaemon =
    DAEMON_ADDRESS.test(fold(address.split('@')[0]!)) ||
    DAEMON_NAME.test(name) ||
    DAEMON_ADDRESS.test(fold(from.trim().replace(/^<|[>\s(].{0,200}$/g, '')))
  const submitted = head.raw('auto-submitted')
  const precedence = fold(`${head.raw('precedence') ?? ''} ${head.raw('x-precedence') ?? ''}`)
  return {
    subject,
    isDaemon,
    hasNullSender: /^\s*<\s*(?:mailer-daemon[^>]{0,100})?>/i.test(head.raw('return-path') ?? ''),
    isAutomatic: isAutoSubmitted(submitted) || isDaemon,
    isRefusal: /\(.{0,40}reject/.test(fold(submitted ?? '')),
    isAutoReply: setsVacationFields(head) || /auto[_-]?reply/.test(precedence) || AUTO_SUBJECT.test(subject),
    isReply: REPLY_SUBJECT.test(subject),
    isBulk: head.raw('list-unsubscribe') !== undefined || head.raw('list-id') !== undefined,
    failed: head.all('x-failed-recipients').flatMap(addressesIn),
    own: [from, ...['to', 'reply-to', 'sender', 'cc'].map(field => head.text(field) ?? '')].flatMap(
      addressesIn,
    ),
  }
}

/** Tells whether the value of an Auto-Submitted field says that no person sent the message (RFC 3834 §5). */
export function isAutoSubmitted(value = ''): boolean {
  const keyword = /^[a-z\d-]*/i.exec(withoutComments(value).trim())![0].toLowerCase()
  return keyword !== '' && keyword !== 'no'
}

function setsVacationFields(head: Head): boolean {
  return (
    VACATION_FIELDS.some(name => head.raw(name) !== undefined) ||
    /vacation|autorespond/i.test(head.raw('x-mailer') ?? '') ||
    /vacation/i.test(head.raw('auto-submitted') ?? '')
  )
}
