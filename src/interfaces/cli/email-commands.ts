/**
 * `mailhorn email …`: the full delivery history of an email, including events that are hidden from the
 * account.
 */

import { type Id, parseWireId, wireId } from '../../lib/ids.ts'
import { transcriptOf } from '../../pipeline/delivery/outcome/transcript.ts'
import { type ExplainedEmail, explainParts } from '../../pipeline/queue/explained.ts'
import { type Holds, holdsOf, listHolds } from '../../pipeline/queue/hold-rows.ts'
import { mailboxText } from '../../protocols/smtp/address.ts'
import { messageIdOf, parseStoredMailboxes } from '../../resources/emails/email-rows.ts'
import { type EmailTrace, findEmailTrace } from '../../resources/emails/email-trace.ts'
import type { Explanation } from '../../resources/emails/explanation/explain.ts'
import { DELIVERY_STATE, type DeliveryRow } from '../../store/model/schema.ts'
import { timestamp } from '../api/schema/timestamp.ts'
import type { CliCommand, Installation } from './command.ts'
import { CommandError, duration, printable, UsageError } from './control/result.ts'

export const emailCommands: CliCommand[] = [
  {
    name: 'email show',
    usage: '<id>',
    summary: 'Show an email with the state and the SMTP transcripts of its deliveries',
    details: '  <id>  The email ID, eml_…, of any account, even if its region has no delivery events.',
    positionals: { min: 1, max: 1 },
    async run({ positionals, open }) {
      const named = positionals[0]!
      const id = parseWireId('eml', named)
      if (!id) throw new UsageError(`"${named}" is not an email ID; it must begin with eml_`)
      const installation = await open()
      const shown = await readEmail(installation, id)
      if (!shown) throw new CommandError(`Email ${named} not found.`)
      return { json: shown, text: emailText(shown, installation.clock.now()) }
    },
  },
]

/** @returns undefined if there is no such email */
export async function readEmail(installation: Installation, id: Id): Promise<ShownEmail | undefined> {
  const { db, clock, pathsTo, isDiskFull } = installation
  const trace = await findEmailTrace(db, id)
  if (!trace) return undefined
  const options = { db, pathsTo, isDiskFull, now: clock.now(), forOperator: true }
  return emailJson(trace, await explainParts(options, trace), holdsOf(await listHolds(db)))
}

/** Width of the columns below a host. */
const PHASE_COLUMNS = 10
const TIME_COLUMNS = 9

export type ShownEmail = ReturnType<typeof emailJson>
type ShownRecipient = ShownEmail['recipients'][number]
type ShownAttempt = ShownRecipient['transcripts'][number]
type ShownHost = ShownAttempt['hosts'][number]

/** Its words are those of `GET /emails/:id`. */
function emailJson(
  { email, accountName, deliveries, attempts }: EmailTrace,
  { explanation, recipients }: ExplainedEmail,
  holds: Holds,
) {
  const { id, accountId, subject, status, createdAt, scheduledAt, broadcastId, error } = email
  return {
    id: wireId('eml', id),
    message_id: messageIdOf(email),
    account_id: wireId('acc', accountId),
    account: accountName,
    broadcast_id: broadcastId && wireId('brd', broadcastId),
    from: parseStoredMailboxes(email.sender).map(mailboxText).join(', '),
    to: parseStoredMailboxes(email.toList).map(mailboxText),
    cc: parseStoredMailboxes(email.ccList).map(mailboxText),
    bcc: parseStoredMailboxes(email.bccList).map(mailboxText),
    subject,
    status,
    error,
    explanation,
    created_at: timestamp(createdAt),
    scheduled_at: timestamp(scheduledAt),
    recipients: deliveries.map((delivery, i) => {
      const state = stateOf(delivery, holds.holdsMail({ ...delivery, email }))
      return {
        address: delivery.address,
        kind: delivery.kind,
        status: delivery.status,
        state,
        attempts: delivery.attempts,
        explanation: recipients[i]!,
        next_attempt_at: recipients[i]!.next_attempt_at,
        transcripts: attempts.filter(({ ordinal }) => ordinal === delivery.ordinal).map(transcriptOf),
      }
    }),
  }
}

function stateOf({ state }: DeliveryRow, isHeld: boolean) {
  switch (state) {
    case DELIVERY_STATE.waiting:
      return isHeld ? 'held' : 'waiting'
    case DELIVERY_STATE.leased:
      return 'under_way'
    case DELIVERY_STATE.held:
      return 'held'
    case DELIVERY_STATE.done:
      return 'done'
    default:
      return 'scheduled'
  }
}

export function emailText(email: ShownEmail, now: number): string {
  const head = [
    ['From', email.from],
    ...(['to', 'cc', 'bcc'] as const).map(kind => [HEADINGS[kind], email[kind].join(', ')] as const),
    ['Subject', email.subject],
    ['Status', email.error === null ? email.status : `${email.status}: ${email.error}`],
    ['Account', `${email.account} (${email.account_id})`],
    ['Created', email.created_at],
    ['Scheduled', email.scheduled_at ?? ''],
  ].filter(([, value]) => value !== '')
  return [
    email.id,
    ...head.map(([name, value]) => `${name!.padEnd(9)}  ${printable(value!)}`),
    ...email.recipients.flatMap(recipient => ['', ...recipientLines(recipient, now)]),
  ].join('\n')
}

const HEADINGS = { to: 'To', cc: 'Cc', bcc: 'Bcc' }

function recipientLines(recipient: ShownRecipient, now: number): string[] {
  const { address, kind, status, attempts, explanation, transcripts } = recipient
  const tried = attempts === 1 ? '1 attempt' : `${attempts} attempts`
  const next = nextText(recipient, now)
  return [
    `${printable(address)} (${kind}): ${status}, ${tried}${next && `, ${next}`}`,
    ...reasonLines(explanation),
    ...transcripts.flatMap(attemptLines),
  ]
}

function reasonLines({ code, summary, action }: Explanation): string[] {
  if (code === 'delivered') return []
  return [`  ${printable(summary)}`, ...(action === null ? [] : [`  ${printable(action)}`])]
}

function nextText({ state, next_attempt_at: next }: ShownRecipient, now: number): string {
  if (state === 'done') return ''
  if (state === 'scheduled') return state
  if (next === null) return WITHOUT_TIME[state] ?? state
  const at = Date.parse(next)
  return at <= now ? 'will be tried next' : `next attempt in ${duration(at - now)}, at ${next}`
}

const WITHOUT_TIME: Readonly<Record<string, string>> = {
  under_way: 'in progress',
  waiting: 'will be tried next',
}

function attemptLines(attempt: ShownAttempt): string[] {
  const { at, finished_at: end, outcome, hosts, mx_host: host, mx_ip: ip } = attempt
  const took = end === null ? '' : ` in ${Date.parse(end) - Date.parse(at)} ms`
  const where = hosts.length === 0 && host !== null ? ` by ${host}${ip === null ? '' : ` [${ip}]`}` : ''
  const reply = attempt.reply === null ? '' : `: ${printable(attempt.reply)}`
  return [
    `  Attempt ${attempt.attempt}, ${at}: ${outcome}${took}${printable(where)}${phaseText(attempt.phase)}${reply}`,
    ...hosts.flatMap(hostLines),
  ]
}

function hostLines(trial: ShownHost): string[] {
  const { host, ip, source_ip: source, policy, phase, phases, reply } = trial
  const from = source === null ? '' : ` from ${source}`
  const steps = phases.map(({ phase: name, ms, reply: phaseReply }) => {
    const isLast = name === phase && phaseReply === null
    return `      ${name.padEnd(PHASE_COLUMNS)} ${`${ms} ms`.padStart(TIME_COLUMNS)}  ${printable((isLast ? reply : phaseReply) ?? '')}`
  })
  const isTold = phases.some(
    step => step.phase === phase && (step.reply === null || step.reply.slice(0, 3) === reply.slice(0, 3)),
  )
  return [
    `    ${printable(host)} [${ip}]${from}, ${printable(tlsText(trial))}, policy ${policy}`,
    ...steps.map(step => step.trimEnd()),
    ...(isTold ? [] : [`      ${printable(reply)}`]),
  ]
}

function phaseText(phase: string | null): string {
  return phase === null ? '' : ` at ${phase}`
}

function tlsText({ tls, tls_fallback: fallback }: ShownHost): string {
  if (tls === null) return fallback === null ? 'no TLS' : `no TLS (${fallback})`
  const { version, cipher, verified, reason } = tls
  const trust = verified ? 'verified' : `not verified${reason === null ? '' : ` (${reason})`}`
  return `${version} ${cipher} ${trust}`
}
