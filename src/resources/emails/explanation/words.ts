/** Says in words what a code means for a recipient, and what the sender or the operator can do. */

import { editDistance } from '../../../lib/edit-distance.ts'
import type { Cause } from './cause.ts'
import type { ExplanationCode } from './codes.ts'

/** What the words name. */
export interface WordFacts extends Partial<Omit<Cause, 'code' | 'last'>> {
  address: string
  domain: string
  /** Time of the next event, or since when something lasts, in ms since the epoch. */
  at?: number | null
  /** Number in a limit. */
  limit?: number
  /** Summary of the last attempt. */
  last?: string
}

/** A summary, and an action if there is one. */
export type Words = readonly [summary: string, action?: string | undefined]

const PHASES: Readonly<Record<string, string>> = {
  connect: 'while connecting',
  banner: 'while its greeting was awaited',
  ehlo: 'after EHLO',
  starttls: 'after STARTTLS',
  tls: 'in the TLS handshake',
  auth: 'in the login',
  mail: 'after MAIL FROM',
  rcpt: 'after RCPT TO',
  data: 'after DATA',
  body: 'while the message was transmitted',
  'final-dot': 'after the message was transmitted',
}

const SUPPRESSED_BY: Readonly<Record<string, string>> = {
  bounce: ', because an email to it bounced',
  complaint: ', because its owner marked an email as spam',
  manual: ', to which it was added by hand',
}

const WORDS: Record<ExplanationCode, (facts: WordFacts & { server: string; when: string }) => Words> = {
  delivered: ({ server }) => [`${server} accepted the message.`],
  complained: () => [
    'The recipient marked the message as spam.',
    'Do not send to the address again. It is on the suppression list.',
  ],
  mixed: () => ['The recipients are in different states.'],
  scheduled: ({ at }) => [`Will be sent ${at ? `at ${timeText(at)}` : 'later'}.`],
  due_now: ({ last }) => [withLast('Due now, waiting its turn', last)],
  in_progress: ({ at, last }) => [withLast(at ? `In progress since ${timeText(at)}` : 'In progress', last)],
  held_by_operator: ({ by }) => [
    `Held by the operator${by ? `: ${by}` : ''}.`,
    'Only the operator can release the hold.',
  ],
  held_automatically: ({ by }) => [
    `Held automatically${by ? `: ${by}` : ''}.`,
    'The operator can release the hold.',
  ],
  held_by_account: () => ['Held, because the broadcast is paused.', 'Resume the broadcast.'],
  destination_paused: ({ server, when, last }) => [
    withLast(`Sending to ${server} is paused${when} after repeated failures`, last),
  ],
  rate_limited: ({ server, limit }) => [
    `Waiting its turn: the operator limits mail to ${server} to ${limit} per minute.`,
  ],
  warmup_limit: ({ server }) => [
    `Waiting: the warm-up limit of the day for ${server} is used up.`,
    'Nothing. Sending continues tomorrow.',
  ],
  storage_full: () => [
    'Waiting: the disk of this server is full.',
    'The operator must free disk space. Sending continues then.',
  ],
  connection_limit: ({ server, limit }) => [
    `Waiting its turn: all ${limit} connections to ${server} are in use.`,
  ],
  domain_not_found: facts => [`The domain ${facts.domain} does not exist.`, typoAction(facts)],
  null_mx: facts => [`The domain ${facts.domain} does not accept email (null MX).`, typoAction(facts)],
  no_mail_host: facts => [`The domain ${facts.domain} has no usable mail server.`, typoAction(facts)],
  dns_failed: ({ domain }) => [`The mail servers of ${domain} could not be looked up in the DNS.`],
  mail_loop: ({ domain, host }) => [
    host ? `${host} reports a mail loop for ${domain}.` : `Mail to ${domain} would come back to this server.`,
    `Check the MX records of ${domain}.`,
  ],
  connection_refused: ({ server }) => [`${server} refused the connection.`],
  connection_failed: ({ server }) => [`Could not connect to ${server}.`],
  timed_out: ({ server, phase }) => [`${server} did not answer in time${phaseText(phase)}.`],
  connection_lost: ({ server, phase }) => [`The connection to ${server} broke off${phaseText(phase)}.`],
  unconfirmed: ({ server }) => [
    `The connection to ${server} broke off after the message was transmitted, so it may have arrived.`,
    'The recipient may get the message twice if it is sent again.',
  ],
  protocol_error: ({ server }) => [`${server} did not follow the SMTP protocol.`],
  tls_failed: ({ server }) => [`TLS with ${server} could not be established.`],
  tls_policy: ({ server, by, domain }) => [
    `${by ?? 'The TLS policy'} requires a verified certificate, which ${server} does not have.`,
    `The administrator of ${domain} must repair the certificate or the policy.`,
  ],
  tls_required: ({ server }) => [`${server} accepts mail over TLS only, and TLS failed.`],
  smart_host_login: ({ server }) => [
    `The smart host ${server} did not accept the login.`,
    'The operator must correct the user name and the password of the smart host.',
  ],
  greylisted: ({ server }) => [`${server} uses greylisting: it asks unknown senders to try again later.`],
  throttled: ({ server }) => [`${server} limits how much mail it accepts from this server.`],
  blocked: ({ server, by }) => [
    `${server} blocks the sending IP address${by ? `, which is listed by ${by}` : ''}.`,
    `The operator must have the address removed from ${by ?? 'the blocklist'}. See Deliverability.`,
  ],
  no_reverse_dns: ({ server }) => [
    `${server} requires a reverse DNS (PTR) record of the sending IP address.`,
    'The operator must set the PTR record. See Deliverability.',
  ],
  policy: ({ domain }) => [`Rejected by a policy of ${domain}.`, `Ask the administrator of ${domain}.`],
  authentication_failed: ({ server }) => [
    `${server} could not authenticate the sender (SPF, DKIM or DMARC).`,
    'Check the DNS records of the sending domain.',
  ],
  sender_rejected: ({ server }) => [
    `${server} does not accept the sender address.`,
    'Check the From address.',
  ],
  no_such_user: facts => [`The mailbox ${facts.address} does not exist.`, typoAction(facts)],
  mailbox_inactive: ({ address }) => [`The mailbox ${address} is disabled.`],
  mailbox_full: ({ address }) => [`The mailbox ${address} is full.`],
  domain_rejected: facts => [`${facts.server} accepts no mail for ${facts.domain}.`, typoAction(facts)],
  relay_denied: ({ server, domain }) => [
    `${server} does not accept mail for ${domain} (relay denied).`,
    `The MX records of ${domain} may be wrong. Tell its administrator.`,
  ],
  too_large: ({ server }) => [`The message is too large for ${server}.`, 'Send a smaller message.'],
  content_rejected: ({ server }) => [`${server} refuses the content of the message.`, 'Change the content.'],
  attachment_rejected: ({ server }) => [
    `${server} refuses an attachment of the message.`,
    'Send a link in place of the attachment.',
  ],
  spam: ({ server }) => [
    `${server} considers the message to be spam.`,
    'Change the content, or check its links.',
  ],
  too_many_recipients: ({ server }) => [`${server} accepts fewer recipients.`],
  rejected: ({ server }) => [`${server} rejected the message without a known reason.`],
  deferred: ({ server }) => [`${server} deferred the message without a known reason.`],
  expired: ({ by, last }) => [withLast(`Not accepted${by ? ` within ${by} hours` : ' in time'}`, last)],
  suppressed: ({ address, by }) => [
    `Not sent: ${address} is on the suppression list${SUPPRESSED_BY[by ?? ''] ?? ''}.`,
    'Remove the address from the suppression list if it should receive email.',
  ],
  unsubscribed: ({ address }) => [`Not sent: ${address} has unsubscribed or left the audience.`],
  canceled: () => ['Canceled before it was sent.'],
  given_up: ({ by, last }) => [withLast(`Given up${by ? ` by the ${by}` : ''}`, last)],
  not_sendable: ({ by }) => [sentence(`Not sent${by ? `: ${by}` : ' by this server'}`)],
  internal_error: () => [
    'An error of this server delayed the delivery.',
    'The operator finds it in the log.',
  ],
  not_reported: () => ['The region of the sending domain reports no delivery results.'],
}

/** Returns the summary and the action of a code. */
export function wordsOf(code: ExplanationCode, facts: WordFacts): Words {
  const server = facts.host ?? `the mail server of ${facts.domain}`
  const when = facts.at ? ` until ${timeText(facts.at)}` : ''
  const [summary, action] = WORDS[code]({ ...facts, server, when })
  const advice = facts.suppresses ? [action, ADDED_TO_LIST].filter(text => text).join(' ') : action
  return [summary.startsWith('the ') ? `T${summary.slice(1)}` : summary, advice]
}

const ADDED_TO_LIST = 'The address was added to the suppression list, so it is sent no further email.'

/** Says what to do about a deferral that the sender cannot help. */
export function retryAdvice(expiresAt: number): string {
  return `Nothing to do: it is retried until ${timeText(expiresAt)}.`
}

/** Ends a text that may already end with a full stop. */
function sentence(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

function withLast(text: string, last: string | undefined): string {
  return last === undefined ? `${text}.` : `${text}. Last reason: ${last}`
}

function phaseText(phase: string | undefined): string {
  const known = phase === undefined ? undefined : PHASES[phase]
  return known === undefined ? '' : ` ${known}`
}

function typoAction({ domain }: WordFacts): string {
  const meant = suggestedDomain(domain)
  return meant ? `Check the address for typos. Did you mean ${meant}?` : 'Check the address for typos.'
}

/** `2026-11-27 20:31 UTC` */
function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** Domains of the largest mailbox providers. */
const COMMON = `
  gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com ymail.com icloud.com
  me.com mac.com aol.com proton.me protonmail.com zoho.com gmx.com gmx.de gmx.net gmx.at gmx.ch web.de
  t-online.de freenet.de posteo.de hotmail.fr hotmail.co.uk hotmail.it hotmail.de outlook.de
  outlook.fr live.co.uk yahoo.co.uk yahoo.fr yahoo.de yahoo.it yahoo.es yahoo.co.jp yahoo.co.in
  yahoo.com.br orange.fr wanadoo.fr free.fr laposte.net sfr.fr libero.it virgilio.it btinternet.com
  comcast.net verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net mail.ru yandex.ru
  qq.com 163.com 126.com naver.com uol.com.br bol.com.br wp.pl bluewin.ch fastmail.com hey.com
  mail.com rediffmail.com telenet.be ziggo.nl kpnmail.nl
`
  .trim()
  .split(/\s+/)
const KNOWN = new Set(COMMON)

/**
 * Suggests the domain that a mistyped recipient domain probably stands for.
 * @returns undefined if no common domain is similar, or the domain is one itself
 */
export function suggestedDomain(domain: string): string | undefined {
  if (KNOWN.has(domain)) return undefined
  const name = nameOf(domain)
  const sameName = COMMON.find(common => nameOf(common) === name && name.length >= NAME_CHARACTERS_MIN)
  let best: string | undefined
  let fewest = domain.length < SHORT_CHARACTERS ? 2 : EDITS_MAX + 1
  for (const common of COMMON) {
    const edits = editDistance(domain, common, { max: EDITS_MAX, swaps: true })
    if (edits < fewest) [best, fewest] = [common, edits]
  }
  return best ?? sameName
}

/** In a name that is shorter, another top-level domain is more likely meant than a mistyped one. */
const NAME_CHARACTERS_MIN = 5
/** Number of edits within which a domain is similar. */
const EDITS_MAX = 2
/** Shorter domains are similar only with a single edit. */
const SHORT_CHARACTERS = 8

function nameOf(domain: string): string {
  return domain.slice(0, domain.indexOf('.') >>> 0)
}
