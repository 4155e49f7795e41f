/** Interface to a content filter: an external program that scans messages. */
import type { Clock } from '../../../lib/clock.ts'
import type { Envelope, Mail } from './mail.ts'

export interface ContentFilter<T> {
  /** As it is told where it was asked, and where it was not to be had. */
  name: 'rspamd' | 'spamd' | 'clamd'
  /** @throws FilterFault where it gives no verdict */
  ask(mail: Mail, envelope: Envelope): Promise<T>
  /** Whether it is there at all. @throws Error what stands against it */
  ping(signal: AbortSignal): Promise<void>
}

/** A filter that is not there, that is too slow, or that does not say what it should. */
export class FilterFault extends Error {}

export interface FilterOptions {
  clock: Clock
}

/** For a whole message: scanners look into archives. */
export const FILTER_MS = 30_000
export const PING_MS = 5_000
