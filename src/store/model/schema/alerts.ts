/** Table of alerts to the operator. */

/** A condition that needs the operator's attention, with the first reply of the hour that showed it. */
export interface OperatorAlertRow {
  /** Start of the hour, in ms since the epoch. */
  hour: number
  kind: string
  provider: string
  /** Source address; empty when the system chooses it. */
  sourceIp: string
  raisedAt: number
  /** When the condition ended; null while it lasts, and for what has no end, such as a reply. */
  endedAt?: number | null | undefined
  mxHost: string | null
  domain: string
  reply: string
}
