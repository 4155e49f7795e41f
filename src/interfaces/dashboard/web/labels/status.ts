/** Labels, colors and explanations of statuses. */
import type { Domain, EmailStatus, Suppression } from '../api/types.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'none'

interface Word {
  label: string
  tone: Tone
  meaning: string
}

export const EMAIL_WORDS: Readonly<Record<EmailStatus, Word>> = {
  queued: { label: 'Queued', tone: 'none', meaning: 'The email is waiting for its first delivery attempt.' },
  scheduled: { label: 'Scheduled', tone: 'info', meaning: 'The email will be sent at the scheduled time.' },
  sent: {
    label: 'Sent',
    tone: 'info',
    meaning: 'Delivery is in progress. The receiving server has not accepted or rejected the email yet.',
  },
  delivery_delayed: {
    label: 'Deferred',
    tone: 'warn',
    meaning: 'The email is not delivered yet. Mailhorn retries automatically.',
  },
  delivered: { label: 'Delivered', tone: 'good', meaning: 'The receiving server accepted the email.' },
  bounced: { label: 'Bounced', tone: 'bad', meaning: 'The email cannot be delivered.' },
  complained: { label: 'Complaint', tone: 'bad', meaning: 'A recipient marked the email as spam.' },
  suppressed: {
    label: 'Suppressed',
    tone: 'warn',
    meaning: 'The email was not sent because the address is on your suppression list.',
  },
  failed: {
    label: 'Failed',
    tone: 'bad',
    meaning: 'Delivery failed.',
  },
  canceled: { label: 'Canceled', tone: 'none', meaning: 'The email was canceled before it was sent.' },
}

export const EMAIL_STATUS_ORDER = Object.keys(EMAIL_WORDS) as EmailStatus[]

export const DOMAIN_WORDS: Readonly<Record<Domain['status'], Word>> = {
  pending: {
    label: 'Pending',
    tone: 'warn',
    meaning: 'Add the records below to your DNS. They are checked automatically.',
  },
  verified: { label: 'Verified', tone: 'good', meaning: 'You can send from this domain.' },
  temporary_failure: {
    label: 'Records missing',
    tone: 'warn',
    meaning:
      'The DNS records were found before and are missing now. You can still send for a while; restore them soon.',
  },
  failed: {
    label: 'Not verified',
    tone: 'bad',
    meaning: 'The DNS records were not found for three days. Add them and verify again.',
  },
}

export const RECORD_WORDS: Readonly<Record<string, Word>> = {
  verified: { label: 'Verified', tone: 'good', meaning: 'The record is published.' },
  pending: {
    label: 'Not found',
    tone: 'warn',
    meaning: 'DNS changes can take minutes or hours to become visible.',
  },
  failed: { label: 'Wrong value', tone: 'bad', meaning: 'The record has a different value.' },
  not_started: { label: 'Not checked', tone: 'none', meaning: 'The record has not been checked yet.' },
}

/** Says how many records the last check did not find; undefined before it, and if it found all of them. */
export function recordsLeft(records: Domain['records']): string | undefined {
  if (records.some(({ status }) => status === 'not_started')) return undefined
  const wrong = records.filter(({ status }) => status === 'failed').length
  const missing = records.filter(({ status }) => status === 'pending').length
  if (wrong + missing === 0) return undefined
  const parts = [missing > 0 && `${missing} not found`, wrong > 0 && `${wrong} with a wrong value`]
  return `${records.length} DNS records: ${parts.filter(Boolean).join(', ')}. They are checked automatically.`
}

export const SUPPRESSION_REASONS: Readonly<{
  [R in Suppression['reason']]: readonly [label: string, tone: Tone]
}> = {
  bounce: ['Bounce', 'bad'],
  complaint: ['Complaint', 'bad'],
  manual: ['Manual', 'none'],
}
