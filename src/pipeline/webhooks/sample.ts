/** Builds the body of a test event, with sample data. */

import { type Id, wireId } from '../../lib/ids.ts'
import type { Cause } from '../../resources/emails/explanation/cause.ts'
import { type Explanation, explainCause } from '../../resources/emails/explanation/explain.ts'
import { ON_SUPPRESSION_LIST, suppressedEvent } from '../../resources/events/email-events.ts'
import { inBothSpellings } from '../../resources/events/payload.ts'
import type { EventType } from '../../resources/events/types.ts'

interface SampleOptions {
  id: Id
  /** Id used for the email, contact or domain. */
  subjectId: Id
  type: EventType
  /** Time of the event, in ms since the epoch. */
  at: number
}

const BOUNCE = {
  type: 'Permanent',
  subtype: 'NoEmail',
  class: 'no-such-user',
  code: 550,
  enhanced_code: '5.1.1',
  message: '550 5.1.1 no such user',
  mx_host: 'mx.example.com',
}
const VISITOR = { ip_address: '192.0.2.1', user_agent: 'Mozilla/5.0' }

/** @returns JSON */
export function sampleBody({ id, subjectId, type, at }: SampleOptions): string {
  const created_at = new Date(at).toISOString()
  const data = type.startsWith('contact.')
    ? contact(subjectId, created_at)
    : type.startsWith('domain.')
      ? domain(subjectId, created_at)
      : email(subjectId, type, created_at)
  return JSON.stringify({ id: wireId('evt', id), type, created_at, data: { ...data, test: true } })
}

function email(id: Id, type: EventType, created_at: string) {
  const common = {
    message_id: '<sample@example.com>',
    from: 'Sample <sample@example.com>',
    to: ['recipient@example.com'],
    subject: 'A test of your webhook',
    created_at,
  }
  if (type === 'email.received')
    return {
      object: 'inbound_email',
      id: wireId('inb', id),
      email_id: wireId('inb', id),
      ...common,
      cc: [],
      bcc: [],
      reply_to: [],
      received_for: ['recipient@example.com'],
      automatic: null,
      in_reply_to_email_id: null,
      spam_verdict: 'PASS',
      virus_verdict: 'PASS',
      spf_verdict: 'PASS',
      dkim_verdict: 'PASS',
      dmarc_verdict: 'PASS',
      parse_error: null,
      size: 2_048,
      attachments: [],
    }
  const data = inBothSpellings(typeData(type, created_at), Date.parse(created_at))
  return { email_id: wireId('eml', id), ...common, tags: {}, ...data }
}

function typeData(type: EventType, at: string): object {
  switch (type) {
    case 'email.delivered':
      return {
        delivery: {
          mx_host: 'mx.example.com',
          mx_ip: '192.0.2.2',
          tls: 'TLSv1.3',
          reply: '250 2.0.0 Ok',
          duration_ms: 480,
        },
      }
    case 'email.complained':
      return { complaint: { type: 'abuse' } }
    case 'email.bounced':
      return { bounce: BOUNCE, explanation: explained({ code: 'no_such_user' }) }
    case 'email.delivery_delayed':
      return {
        delay: { attempt: 1, next_attempt_at: at, reply: '451 4.7.1 try again later' },
        explanation: { ...explained({ code: 'deferred' }), next_attempt_at: at },
      }
    case 'email.clicked':
      return { click: { link: 'https://example.com/', ...VISITOR } }
    case 'email.opened':
      return { open: VISITOR }
    case 'email.failed':
      return {
        failed: { reason: 'expired after 48 h: 451 4.7.1 try again later' },
        explanation: explained({ code: 'expired', by: '48', last: { code: 'deferred' } }),
      }
    case 'email.suppressed':
      return {
        ...suppressedEvent(ON_SUPPRESSION_LIST).data,
        explanation: explained({ code: 'suppressed', by: 'bounce' }),
      }
    case 'email.scheduled':
      return { scheduled: { scheduled_at: at } }
    default:
      return {}
  }
}

function explained(cause: Cause): Explanation {
  const recipient = { address: 'recipient@example.com', domain: 'example.com', simulated: 0 as const }
  return explainCause({ ...cause, host: 'mx.example.com' }, recipient)
}

function contact(id: Id, created_at: string) {
  return {
    object: 'contact',
    id: wireId('con', id),
    audience_id: wireId('aud', id),
    segment_ids: [wireId('aud', id)],
    email: 'recipient@example.com',
    first_name: 'Ann',
    last_name: null,
    unsubscribed: false,
    properties: {},
    unsubscribed_topics: [],
    created_at,
    updated_at: created_at,
  }
}

/** In the stored format, see `body.ts`. */
function domain(id: Id, created_at: string) {
  return {
    object: 'domain',
    id: wireId('dom', id),
    name: 'example.com',
    region: 'us-west-2',
    status: 'verified',
    tls: 'opportunistic',
    open_tracking: false,
    click_tracking: false,
    sending: true,
    receiving: true,
    created_at,
    verified_at: created_at,
    verification_token: 'sample',
    selectors: [],
    record_statuses: [],
  }
}
