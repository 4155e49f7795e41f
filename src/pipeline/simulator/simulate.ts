/**
 * The simulator: mail to its addresses never leaves the process, and the local part of an address determines
 * the result.
 *
 * In: deliveries that `delivery` routes to the simulator. Out: the reply to the attempt, and afterwards
 * opens, clicks and complaints.
 */
import type { BounceClass } from '../../protocols/bounces/rules/bounce-class.ts'
import type { SmtpReply } from '../../protocols/smtp/reply.ts'
import type { recipientCommands } from '../../resources/events/commands.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import { numberOfUrl } from '../tracking/link-numbers.ts'

type SimulatedEvent = 'complained' | 'opened' | 'clicked'

interface Simulated {
  outcome: 'delivered' | 'deferred' | 'bounced' | 'suppressed' | 'failed'
  class: BounceClass
  reply: SmtpReply
  /** Delay of the next attempt after a deferral, in ms. */
  retryAfterMs?: number
  /** Events that follow the delivery. */
  followedBy: SimulatedEvent[]
}

const ACCEPTED: SmtpReply = { code: 250, enhanced: '2.0.0', text: 'accepted by the simulator' }
const NO_USER: SmtpReply = { code: 550, enhanced: '5.1.1', text: 'no such user at the simulator' }
const SUPPRESSED: SmtpReply = { code: 550, enhanced: '5.7.1', text: 'the address is suppressed (simulated)' }
const FULL: SmtpReply = { code: 552, enhanced: '5.2.2', text: 'the mailbox is full (simulated)' }
const LATER: SmtpReply = { code: 451, enhanced: '4.7.1', text: 'try again later (simulated)' }
const FAILED: SmtpReply = {
  code: 554,
  enhanced: '5.0.0',
  text: 'the message could not be handed over (simulated)',
}
const RETRY_DELAY_MS = 2_000

/** The address is one of the simulator domain, with an optional `+label`. */
export function simulate({ address, attempt }: Pick<ClaimedDelivery, 'address' | 'attempt'>): Simulated {
  const localPart = address.slice(0, address.lastIndexOf('@')).toLowerCase().replace(/\+.*$/, '')
  switch (localPart) {
    case 'delivered':
      return delivered()
    case 'complained':
      return delivered('complained')
    case 'opened':
      return delivered('opened')
    case 'clicked':
      return delivered('opened', 'clicked')
    case 'delayed':
      return attempt > 1
        ? delivered()
        : {
            outcome: 'deferred',
            class: 'unknown',
            reply: LATER,
            retryAfterMs: RETRY_DELAY_MS,
            followedBy: [],
          }
    case 'soft-bounced':
      return { outcome: 'bounced', class: 'mailbox-full', reply: FULL, followedBy: [] }
    case 'suppressed':
      return { outcome: 'suppressed', class: 'unknown', reply: SUPPRESSED, followedBy: [] }
    case 'failed':
      return { outcome: 'failed', class: 'unknown', reply: FAILED, followedBy: [] }
    default:
      return { outcome: 'bounced', class: 'invalid-recipient', reply: NO_USER, followedBy: [] }
  }
}

function delivered(...followedBy: SimulatedEvent[]): Simulated {
  return { outcome: 'delivered', class: 'unknown', reply: ACCEPTED, followedBy }
}

/** Simulator domain of an installation without a host name. `.test` is reserved (RFC 6761 §6.2). */
export const LABORATORY_SIMULATOR = 'simulator.test'

/** Default simulator domain of an installation with a host name. */
export function simulatorOf(mailHost: string): string {
  return `simulator.${mailHost}`
}

/** Records the complaint, open or click that the address stands for. */
export async function recordFollowUps(
  run: Run<typeof recipientCommands>,
  delivery: ClaimedDelivery,
  { kind }: { kind: string },
  at: number,
): Promise<void> {
  if (kind !== 'delivered') return
  const { accountId, emailId, ordinal, domain } = delivery
  const ref = { accountId, emailId, ordinal, at }
  const visitor = { ip_address: '192.0.2.1', user_agent: 'Simulator' }
  for (const event of simulate(delivery).followedBy)
    if (event === 'complained')
      await run('complain', { ...ref, data: { complaint: { type: 'abuse' } }, suppress: false })
    else if (event === 'opened') await run('opened', { ...ref, data: { open: visitor } })
    else {
      const url = `https://${domain}/`
      const link = { number: numberOfUrl(url), url }
      await run('clicked', { ...ref, link, data: { click: { link: url, ...visitor } } })
    }
}
