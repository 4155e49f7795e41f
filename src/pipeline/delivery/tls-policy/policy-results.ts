/** From counted results to what a report says of each policy of a domain. */
import type { PolicyResults } from '../../../protocols/bounces/tls-report.ts'
import type { TlsResultRow } from '../../../store/schema/tls.ts'

/** @param rows of one domain and day; a policy is told as it was at last */
export function policyResults(rows: readonly TlsResultRow[]): PolicyResults[] {
  return [...Map.groupBy(rows, row => row.policyType)].map(([type, ofPolicy]) => {
    const { strings = [], mxHosts = [] } =
      ofPolicy.map(quotesOf).findLast(quotes => quotes.strings !== undefined) ?? {}
    const failures = ofPolicy.filter(({ result }) => result !== '')
    const successCount = ofPolicy.reduce((sum, { result, count }) => (result === '' ? sum + count : sum), 0)
    return {
      type,
      strings,
      mxHosts,
      successCount,
      failures: failures.map(row => {
        const { result, mxHost, mxIp, count, reason } = row
        return { result, sendingIp: quotesOf(row).from ?? null, mxHost, mxIp, count, reason }
      }),
    }
  })
}

interface Quotes {
  strings?: string[]
  mxHosts?: string[]
  from?: string
}

function quotesOf({ policy }: TlsResultRow): Quotes {
  return JSON.parse(policy) as Quotes
}
