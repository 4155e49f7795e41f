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
  mxHost: string | null
  domain: string
  reply: string
}
