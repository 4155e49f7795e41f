/** From counted results to what a report says of each policy of a domain. */
import type { PolicyResults } from '../../reports/tls-report.ts'
import type { TlsResultRow } from '../../store/schema/tls.ts'

/** @param rows of one domain and day; a policy is told as it was at last */
export function policyResults(rows: readonly TlsResultRow[]): PolicyResults[] {
  return [...Map.groupBy(rows, row => row.policyType)].map(([type, ofPolicy]) => {
    const told = ofPolicy.findLast(({ policy }) => policy !== '{}')
    const { strings = [], mxHosts = [] } = JSON.parse(told?.policy ?? '{}') as {
      strings?: string[]
      mxHosts?: string[]
    }
    const failures = ofPolicy.filter(({ result }) => result !== '')
    const successCount = ofPolicy.reduce((sum, { result, count }) => (result === '' ? sum + count : sum), 0)
    return {
      type,
      strings,
      mxHosts,
      successCount,
      failures: failures.map(({ result, mxHost, mxIp, count, reason }) => ({
        result,
        mxHost,
        mxIp,
        count,
        reason,
      })),
    }
  })
}
