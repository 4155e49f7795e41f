/** The recipient that never leaves: the local part of a simulator address says what becomes of the mail. */
import type { BounceClass } from '../../protocols/bounces/bounce-class.ts'
import type { SmtpReply } from '../../protocols/smtp/reply.ts'

type SimulatedEvent = 'complained' | 'opened' | 'clicked'

export interface Simulated {
  outcome: 'delivered' | 'deferred' | 'bounced' | 'suppressed' | 'failed'
  class: BounceClass
  reply: SmtpReply
  /** Of a deferral: when to try again. */
  retryAfterMs?: number
  /** What happens after delivery. */
  followedBy: SimulatedEvent[]
}

const ACCEPTED: SmtpReply = { code: 250, enhanced: '2.0.0', text: 'accepted by the simulator' }
const NO_USER: SmtpReply = { code: 550, enhanced: '5.1.1', text: 'no such user at the simulator' }
const FULL: SmtpReply = { code: 552, enhanced: '5.2.2', text: 'the mailbox is full (simulated)' }
const LATER: SmtpReply = { code: 451, enhanced: '4.7.1', text: 'try again later (simulated)' }
const FAILED: SmtpReply = {
  code: 554,
  enhanced: '5.0.0',
  text: 'the message could not be handed over (simulated)',
}
const DELAY_MS = 2_000

/** @param address at the simulator domain, with an optional `+label` */
export function simulate(address: string, attempt: number): Simulated {
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
        : { outcome: 'deferred', class: 'unknown', reply: LATER, retryAfterMs: DELAY_MS, followedBy: [] }
    case 'soft-bounced':
      return { outcome: 'bounced', class: 'mailbox-full', reply: FULL, followedBy: [] }
    case 'suppressed':
      return { outcome: 'suppressed', class: 'unknown', reply: NO_USER, followedBy: [] }
    case 'failed':
      return { outcome: 'failed', class: 'unknown', reply: FAILED, followedBy: [] }
    default:
      return { outcome: 'bounced', class: 'invalid-recipient', reply: NO_USER, followedBy: [] }
  }
}

function delivered(...followedBy: SimulatedEvent[]): Simulated {
  return { outcome: 'delivered', class: 'unknown', reply: ACCEPTED, followedBy }
}

/** While the installation has no name. `.test` is reserved (RFC 6761 §6.2): no real mail goes there. */
export const LABORATORY_SIMULATOR = 'simulator.test'

/** The default once it has one. */
export function simulatorOf(mailHost: string): string {
  return `simulator.${mailHost}`
}
