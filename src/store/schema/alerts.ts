/** The table of the operator's alerts. */

/** What the operator must see to; the first reply of its hour. */
export interface OperatorAlertRow {
  /** Its beginning, epoch ms. */
  hour: number
  kind: string
  provider: string
  /** Empty where the system chooses. */
  sourceIp: string
  raisedAt: number
  mxHost: string | null
  domain: string
  reply: string
}
