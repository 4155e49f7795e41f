/** Interface to a content filter: an external program that scans messages. */
import type { Clock } from '../../../lib/clock.ts'
import type { Envelope, Mail } from './mail.ts'

export interface ContentFilter<T> {
  /** Name of the filter in findings and in the log. */
  name: 'rspamd' | 'spamd' | 'clamd'
  /** @throws FilterFault when the filter returns no verdict */
  ask(mail: Mail, envelope: Envelope): Promise<T>
  /** Checks that the filter is reachable. @throws Error with the reason */
  ping(signal: AbortSignal): Promise<void>
}

/** A filter is unreachable or too slow, or returns an unexpected reply. */
export class FilterFault extends Error {}

export interface FilterOptions {
  clock: Clock
}

/** Time limit for a message. It is long, since scanners unpack archives. */
export const FILTER_MS = 30_000
export const PING_MS = 5_000
