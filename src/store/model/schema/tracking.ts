/** Tables of tracking links, opens and clicks. */
import type { Id } from '../../../lib/ids.ts'
import type { Flag } from './values.ts'

/**
 * Settings of links. A row never changes and is shared by all emails that were accepted with the same
 * settings.
 */
export interface LinkTermsRow {
  id: number
  /** Base URL of the links. */
  baseUrl: string
  trackOpens: Flag
  trackClicks: Flag
}

/** Number of opens or clicks of one recipient. */
export interface VisitRow {
  emailId: Id
  ordinal: number
  /** -1 for the pixel; otherwise the number of the link in the email, or of its URL. */
  link: number
  accountId: Id
  /**
   * Target of the link for this recipient; null when it equals the link of the broadcast, and without a
   * broadcast.
   */
  url: string | null
  /** Number of visits by people, as far as they can be distinguished. */
  count: number
  /** Number of visits by machines: previews, scanners, prefetching. */
  machineCount: number
  firstAt: number
  lastAt: number
}

/** Number of clicks on a link of a broadcast, by all recipients. */
export interface BroadcastLinkRow {
  broadcastId: Id
  /** Number of the link in the author's content, or of its URL if the values of a recipient contain it. */
  link: number
  accountId: Id
  /** Target of the link; if it differs between emails, the target in the first email that was clicked. */
  url: string
  clickCount: number
  /** Recipients who followed it. */
  uniqueCount: number
  machineCount: number
}
