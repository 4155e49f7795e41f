/** Tables of links in emails, and of who has followed them. */
import type { Id } from '../../lib/ids.ts'
import type { Flag } from './values.ts'

/** Never changed, and shared by all emails that were accepted on the same terms. */
export interface LinkTermsRow {
  id: number
  /** Where the links of its emails lead. */
  baseUrl: string
  trackOpens: Flag
  trackClicks: Flag
}

/** What one recipient has opened or followed, and how often. */
export interface VisitRow {
  emailId: Id
  ordinal: number
  /** -1 for the pixel, else the number of the link in the email, or of its URL. */
  link: number
  accountId: Id
  /**
   * Where it led this recipient; null where that is what the link of the broadcast says, and where there is
   * no broadcast.
   */
  url: string | null
  /** By people, as far as can be told. */
  count: number
  /** By machines: previews, scanners, prefetching. */
  machineCount: number
  firstAt: number
  lastAt: number
}

/** How often a link of a broadcast has been followed, by all of its recipients. */
export interface BroadcastLinkRow {
  broadcastId: Id
  /** Its number in what the author has written; or of its URL, where a recipient's values have brought it. */
  link: number
  accountId: Id
  /** Where it leads; in the email in which it was followed first, where that differs. */
  url: string
  clickCount: number
  /** Recipients who followed it. */
  uniqueCount: number
  machineCount: number
}
