/** What statuses are called, how they are coloured, and what they mean. */
import type { Domain, EmailStatus } from '../api/types.ts'

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'none'

interface Word {
  label: string
  tone: Tone
  meaning: string
}

export const EMAIL_WORDS: Readonly<Record<EmailStatus, Word>> = {
  queued: { label: 'Queued', tone: 'none', meaning: 'It waits for its first attempt.' },
  scheduled: { label: 'Scheduled', tone: 'info', meaning: 'It is sent at the time you chose.' },
  sent: {
    label: 'Sent',
    tone: 'info',
    meaning: 'It is on its way; the receiving server has not decided yet.',
  },
  delivery_delayed: {
    label: 'Delayed',
    tone: 'warn',
    meaning:
      'The receiving server asked us to try later. Nothing is to be done: it is tried again by itself.',
  },
  delivered: { label: 'Delivered', tone: 'good', meaning: 'The receiving server has taken it.' },
  bounced: { label: 'Bounced', tone: 'bad', meaning: 'The receiving server has refused it for good.' },
  complained: { label: 'Complaint', tone: 'bad', meaning: 'Somebody has marked it as spam.' },
  suppressed: {
    label: 'Suppressed',
    tone: 'warn',
    meaning: 'The address is on your suppression list, so it was not sent.',
  },
  failed: { label: 'Failed', tone: 'bad', meaning: 'It was given up; the reason is below.' },
  canceled: { label: 'Canceled', tone: 'none', meaning: 'It was taken back before it was sent.' },
}

export const EMAIL_STATUS_ORDER = Object.keys(EMAIL_WORDS) as EmailStatus[]

export const DOMAIN_WORDS: Readonly<Record<Domain['status'], Word>> = {
  pending: {
    label: 'Waiting for DNS',
    tone: 'warn',
    meaning: 'Put the records below into DNS. They are looked up by themselves, again and again.',
  },
  verified: { label: 'Verified', tone: 'good', meaning: 'You can send from this domain.' },
  temporary_failure: {
    label: 'Records missing',
    tone: 'warn',
    meaning: 'The records were there and are gone. You can still send for a while; put them back soon.',
  },
  failed: {
    label: 'Not verified',
    tone: 'bad',
    meaning: 'The records were not found for three days. Put them into DNS and check again.',
  },
}

export const RECORD_WORDS: Readonly<Record<string, Word>> = {
  verified: { label: 'Found', tone: 'good', meaning: 'The world sees it.' },
  pending: { label: 'Not there yet', tone: 'warn', meaning: 'DNS changes take minutes, sometimes hours.' },
  failed: { label: 'Different', tone: 'bad', meaning: 'Something else is there.' },
  not_started: { label: 'Not checked', tone: 'none', meaning: 'It has not been looked for yet.' },
}
