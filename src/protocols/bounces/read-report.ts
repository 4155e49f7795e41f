/**
 * Parses a returned mail into a report: a bounce (RFC 3464 or free text), a complaint (RFC 5965), an
 * automatic reply or another kind of report. The parser never throws, and its work is bounded.
 *
 * In: the octets of the mail. Out: `BounceReport`. Called in a reader process (`workers/parse.ts`) for
 * `pipeline/inbound/bounce-processor.ts`.
 */
import type { Head } from '../mime/read/head.ts'
import { cleanText } from '../smtp/reply.ts'
import { textsAbout } from './blamed.ts'
import { hostIn, isBounceText, readBounceText } from './bounce-text.ts'
import {
  type DsnStatus,
  fieldsIn,
  holdsDeliveryStatus,
  readDeliveryStatus,
  type StatusGroup,
  withoutType,
} from './delivery-status.ts'
import { type OwnText, ownTextOf } from './passage.ts'
import { BOUNCE_PHRASE, CHALLENGE_ACT, CHALLENGE_PHRASE, DELAY_PHRASE } from './phrases.ts'
import { type BounceReport, MAIL, type ReportAction, type ReportedRecipient } from './report.ts'
import { type ReportMail, type ReportPart, readReportMail } from './report-mail.ts'
import { oursOf, type Signs, signsOf } from './sender.ts'
import { addressesIn, addressOf } from './text/addresses.ts'
import { fold } from './text/fold.ts'
import { verdictOf } from './verdict.ts'

interface ReadingOptions {
  /** Name of the header field that identifies the delivery of a returned mail. */
  correlationHeader: string
  /** Name of the host's provider, as the rules use it. */
  providerOf(host: string): string | undefined
}

const STATUS_TYPES = new Set(['message/delivery-status', 'message/global-delivery-status'])
const RECEIPT_TYPES = new Set(['message/disposition-notification', 'message/global-disposition-notification'])

/** Dispositions of a message that nobody will see. */
const DISCARDED = /;\s{0,4}(?:deleted|denied|failed)\b/
const REFUSED_SUBJECT =
  /^\s{0,4}(?:automatically |automatisch )?(?:rejected|refused|abgelehnt|abgewiesen|rejete|refuse|rechazad|rifiutat|respint|rejeitad|recusad|geweigerd)/
const REFUSED =
  /(?:has been|was|is|been) (?:automatically )?(?:rejected|refused)|automatically (?:rejected|refused)|abgelehnt|abgewiesen|(?:ete|est) (?:rejete|refuse)|(?:ha sido|fue) rechazad|e stato (?:rifiutato|respinto)|foi (?:rejeitad|recusad)|(?:is|werd) (?:automatisch )?geweigerd/
/** Matches the words of a client whose user deleted the message, which may quote our subject. */
const DELETED_UNREAD =
  /without (?:being|having been) read|not read|unread|ungelesen|ohne (?:gelesen|dass)|sans (?:etre|avoir ete) lu|sin (?:ser|haber sido) leid|senza (?:essere|essere stato) lett|sem (?:ser|ter sido) lid|zonder (?:te zijn |dat )?gelezen/
/** Matches the reason behind the sentence of the system. */
const REASON =
  /(?:reject|refus|abgelehnt|abgewiesen|rejet|rechaz|rifiut|respint|rejeit|recus|geweiger)[^:]{0,160}:\s{1,8}(\S.{0,900})/is

export function readReport(raw: Uint8Array, options: ReadingOptions): BounceReport {
  return readMailAs(readReportMail(raw), options, 0)
}

function readMailAs(mail: ReportMail, options: ReadingOptions, depth: number): BounceReport {
  const signs = signsOf(mail.head)
  const { parts } = mail
  const own = ownTextOf(mail)
  const base = { ...MAIL, ...returnedOf(own.returned, options) }
  return (
    feedbackIn(mail, parts, base) ??
    aggregateIn(mail, parts, signs, base) ??
    deliveryStatusIn(parts, { signs, own, base, options }) ??
    dispositionIn(parts, { signs, own, base, options }) ??
    enclosedIn(parts, signs, options, depth) ??
    (parts.some(isCalendarAnswer) ? { ...base, kind: 'auto-reply' as const } : undefined) ??
    inWords(signs, own, base, options, saysThatItReports(mail, parts))
  )
}

function returnedOf(returned: Head | undefined, { correlationHeader }: ReadingOptions) {
  const id = returned?.raw('message-id')
  return {
    messageId: id === undefined ? undefined : withoutBrackets(id),
    correlation: returned?.raw(correlationHeader.toLowerCase()),
  }
}

/**
 * Recognizes abuse reports (RFC 5965), and those of Microsoft, which are a bare copy of the mail from a
 * certain address.
 */
function feedbackIn(
  mail: ReportMail,
  parts: readonly ReportPart[],
  base: BounceReport,
): BounceReport | undefined {
  const part = parts.find(({ type }) => type.value === 'message/feedback-report')
  if (part) {
    const type =
      /^feedback-type[\t ]{0,8}:[\t ]{0,8}([\w-]{1,40})/im.exec(part.text())?.[1]?.toLowerCase() ?? 'abuse'
    if (type === 'auth-failure' || type === 'dmarc') return { ...base, kind: 'dmarc-report' }
    const feedbackType = type === 'opt-out-list' ? 'opt-out' : type
    return { ...base, kind: type === 'not-spam' ? 'feedback' : 'complaint', feedbackType }
  }
  const from = addressesIn(mail.head.text('from') ?? '')[0]?.toLowerCase() ?? ''
  const isJunkReport =
    /^staff@(?:hotmail|outlook|live|msn)\.com$/.test(from) &&
    /^\s*complaint about/i.test(mail.head.text('subject') ?? '')
  return isJunkReport ? { ...base, kind: 'complaint', feedbackType: 'abuse' } : undefined
}

/**
 * Recognizes reports on DMARC (RFC 7489 §7.2) and TLS (RFC 8460 §5.3), also by their file names, since some
 * set no fields.
 */
function aggregateIn(
  mail: ReportMail,
  parts: readonly ReportPart[],
  { subject }: Signs,
  base: BounceReport,
): BounceReport | undefined {
  const reportType = mail.type.params.get('report-type')?.toLowerCase()
  const isTls = ({ type, fileName }: ReportPart) =>
    type.value.startsWith('application/tlsrpt') ||
    /^[^!]{1,255}![^!]{1,255}!.{1,80}\.json(?:\.gz)?$/.test(fileName)
  const isDmarc = ({ fileName }: ReportPart) =>
    /^[^!]{1,255}![^!]{1,255}!\d{1,12}!\d{1,12}.{0,80}\.(?:xml|zip|gz)/.test(fileName)
  if (reportType === 'tlsrpt' || parts.some(isTls)) return { ...base, kind: 'tls-report' }
  const namesReport = /^report domain:/.test(subject) && parts.some(({ type }) => /zip|xml/.test(type.value))
  return reportType === 'dmarc' || namesReport || parts.some(isDmarc)
    ? { ...base, kind: 'dmarc-report' }
    : undefined
}

/** Recognizes answers to invitations (RFC 5546 §3.2), which calendars send. */
function isCalendarAnswer({ type, text }: ReportPart): boolean {
  if (type.value !== 'text/calendar') return false
  const method = type.params.get('method') ?? /^METHOD:(\S{1,40})/im.exec(text())?.[1] ?? ''
  return /^(?:reply|counter|declinecounter|refresh)$/i.test(method)
}

interface Found {
  signs: Signs
  own: OwnText
  base: BounceReport
  options: ReadingOptions
}

function deliveryStatusIn(parts: readonly ReportPart[], found: Found): BounceReport | undefined {
  const { signs, base } = found
  const typed = parts.filter(({ type }) => STATUS_TYPES.has(type.value))
  const bySystem = signs.isDaemon || signs.hasNullSender || signs.failed.length > 0
  const untyped = typed.length > 0 || !bySystem || signs.isReply ? [] : parts.filter(mayHoldStatus)
  const all = [...typed, ...untyped].map(part => readDeliveryStatus(part.text()))
  const statuses = all.filter(({ recipients }) => recipients.length > 0)
  if (statuses.length === 0) return undefined
  const groups = statuses.flatMap(({ recipients }) => recipients)
  const textsOf = textsAbout(found.own.lines, groups.map(namedBy))
  const recipients = groups.map(group => recipientOf(group, textsOf, found))
  const first = <K extends keyof DsnStatus>(key: K) =>
    statuses.find(status => status[key] !== undefined)?.[key]
  const isBounce = recipients.some(({ action }) => action === 'failed' || action === 'delayed')
  const id = first('messageId')
  return {
    ...base,
    kind: isBounce ? 'bounce' : 'delivery',
    recipients,
    reportingMta: first('reportingMta'),
    envelopeId: first('envelopeId'),
    messageId: base.messageId ?? (id === undefined ? undefined : withoutBrackets(id)),
  }
}

/**
 * Reads a disposition notification: a receipt, or the refusal of a message by the recipient's filter (RFC
 * 5429 §2.1.2), which is a bounce for the reason that its text gives.
 */
function dispositionIn(parts: readonly ReportPart[], found: Found): BounceReport | undefined {
  const part = parts.find(({ type }) => RECEIPT_TYPES.has(type.value))
  if (!part) return undefined
  const { signs, own, base, options } = found
  const fields = fieldsIn(part.text())
  const id = fields.get('original-message-id')
  const about = { ...base, messageId: base.messageId ?? (id === undefined ? undefined : withoutBrackets(id)) }
  const text = own.lines.join('\n')
  const isRefused = signs.isRefusal || isRefusalIn(signs.subject, fold(text))
  if (!isRefused || !DISCARDED.test(fold(fields.get('disposition') ?? '')))
    return { ...about, kind: 'receipt' }
  const [final, original] = ['final-recipient', 'original-recipient'].map(name =>
    addressOf(withoutType(fields.get(name))),
  )
  const reason = REASON.exec(text)?.[1]?.trim() ?? text
  const recipient = final ?? original ?? soleRecipient(signs, own)
  const host = recipient?.split('@').at(-1)
  const verdict = verdictOf({
    ...{ action: 'failed', status: undefined, texts: [reason, text] },
    provider: host === undefined ? undefined : options.providerOf(host),
    facts: { recipient, ours: oursOf(signs, own.returned) },
  })
  const refusal: ReportedRecipient = {
    ...{ recipient, originalRecipient: original, action: 'failed', remoteMta: undefined },
    ...{ ...verdict, diagnostic: cleanText(reason) },
    class: verdict.class === 'unknown' ? 'policy' : verdict.class,
  }
  return { ...about, kind: 'bounce', recipients: [refusal] }
}

function isRefusalIn(subject: string, text: string): boolean {
  return !DELETED_UNREAD.test(text) && (REFUSED_SUBJECT.test(subject) || REFUSED.test(text))
}

function mayHoldStatus({ type, text }: ReportPart): boolean {
  const plain = type.value.startsWith('text/plain') || type.value.startsWith('application/octet')
  return plain && holdsDeliveryStatus(text())
}

function recipientOf(
  group: StatusGroup,
  textsOf: (address: string | undefined) => string[],
  { signs, own, options }: Found,
): ReportedRecipient {
  const original = addressOf(withoutType(group.originalRecipient))
  const named = namedBy(group)
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(group.status ?? '')?.[0]
  const action = actionOf(group.action, status, signs, own)
  const words = textsOf(named)
  const diagnostics = group.diagnostics
    .map(value => withoutType(value)!.replace(/^[\w-]{1,40}$/, word => word.replaceAll('-', ' ')))
    .filter(value => /\p{L}{2}|\d{3}/u.test(value))
  const comment = commentIn(group.status ?? '')
  const texts = [...sorted(diagnostics), ...(comment === undefined ? [] : [comment]), ...words]
  const remoteMta =
    withoutType(group.remoteMta)
      ?.split(/[\s(;]/)[0]
      ?.replace(/\.$/, '') || texts.map(hostIn).find(Boolean)
  const provider = remoteMta === undefined ? undefined : options.providerOf(remoteMta.toLowerCase())
  return {
    recipient: named ?? soleRecipient(signs, own),
    originalRecipient: original,
    action,
    remoteMta,
    ...verdictOf({
      action,
      status,
      texts,
      provider,
      facts: { recipient: named, ours: oursOf(signs, own.returned) },
    }),
  }
}

/** Sorts SMTP replies before other texts. */
function sorted(diagnostics: readonly string[]): string[] {
  const isReply = (text: string) => /[245]\d\d[\s-]/.test(text)
  return [...diagnostics.filter(isReply), ...diagnostics.filter(text => !isReply(text))]
}

/** Returns the text behind the code of a Status field, without the brackets of a comment. */
function commentIn(status: string): string | undefined {
  const text = /[245]\.\d{1,3}\.\d{1,3}[\s;:,-]{0,4}([^\s\d.].{0,300})/.exec(status)?.[1]?.trim()
  return text?.replace(/^\(\s{0,4}(.{0,300}?)\s{0,4}\)?$/, '$1')
}

/** Returns the address of a group; without one, a bare name. */
function namedBy({ finalRecipient, originalRecipient }: StatusGroup): string | undefined {
  const final = addressOf(withoutType(finalRecipient))
  const original = addressOf(withoutType(originalRecipient))
  return [final, original].find(address => address?.includes('@')) ?? final ?? original
}

function soleRecipient(signs: Signs, { lines, returned }: OwnText): string | undefined {
  const addressed = addressesIn(returned?.text('to') ?? '')
  const inText = lines.flatMap(addressesIn).find(address => !signs.own.includes(address))
  return signs.failed[0] ?? (addressed.length === 1 ? addressed[0] : inText)
}

function actionOf(
  reportedAction: string | undefined,
  status: string | undefined,
  signs: Signs,
  own: OwnText,
): ReportAction {
  const action = fold(reportedAction ?? '')
  if (/^(?:fail|bounc|error|undeliv|expire|reject|hard|perm|denied)/.test(action)) return 'failed'
  if (/^(?:delay|defer|warn|temp|retry|soft)/.test(action)) return 'delayed'
  if (action.startsWith('deliver') || action.startsWith('success')) return 'delivered'
  if (action.startsWith('relay')) return 'relayed'
  if (action.startsWith('expand')) return 'expanded'
  if (status?.startsWith('2')) return 'delivered'
  const waits = DELAY_PHRASE.test(fold(`${signs.subject} ${own.lines.slice(0, 40).join(' ')}`))
  return status?.startsWith('4') && waits ? 'delayed' : 'failed'
}

/**
 * Reads a bounce that a gateway or a mailing list has forwarded as a whole. A bounce that a person forwards
 * is not read, since the mail is the person's.
 */
function enclosedIn(
  parts: readonly ReportPart[],
  signs: Signs,
  options: ReadingOptions,
  depth: number,
): BounceReport | undefined {
  if (depth > 1 || !(signs.isDaemon || signs.hasNullSender)) return undefined
  for (const part of parts) {
    const inner = part.enclosed()
    if (!inner || !signsOf(inner.head).isDaemon) continue
    const report = readMailAs(inner, options, depth + 1)
    if (report.kind === 'bounce') return report
  }
  return undefined
}

/**
 * Tells whether the media type declares a delivery status, even if the status is empty or was removed on
 * the way.
 */
function saysThatItReports(mail: ReportMail, parts: readonly ReportPart[]): boolean {
  return (
    mail.type.params.get('report-type')?.toLowerCase() === 'delivery-status' ||
    parts.some(({ type }) => STATUS_TYPES.has(type.value))
  )
}

function inWords(
  signs: Signs,
  own: OwnText,
  base: BounceReport,
  options: ReadingOptions,
  isReport: boolean,
): BounceReport {
  const text = fold(own.lines.join('\n').slice(0, 8_000))
  const asks = CHALLENGE_PHRASE.test(`${signs.subject}\n${text}`) && CHALLENGE_ACT.test(text)
  const isBounceOfDaemon = signs.failed.length > 0 || (signs.isDaemon && BOUNCE_PHRASE.test(text))
  if (asks && !isReport && (signs.isAutomatic || signs.hasNullSender) && !signs.isDaemon)
    return { ...base, kind: 'challenge' }
  if (signs.isAutoReply && !isBounceOfDaemon && !isReport) return { ...base, kind: 'auto-reply' }
  if (isReport || signs.isRefusal || isBounceText(signs, own))
    return { ...base, kind: 'bounce', recipients: readBounceText(signs, own, options.providerOf) }
  return signs.isAutomatic && !signs.isDaemon ? { ...base, kind: 'auto-reply' } : { ...base, kind: 'mail' }
}

function withoutBrackets(id: string): string {
  return id.trim().replace(/^<|>.{0,100}$/g, '')
}
