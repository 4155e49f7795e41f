/** SMTP TLS reports (RFC 8460): destinations from the policy record, and the report's content. */

/** Policy, with the sessions that it applied to. */
export interface PolicyResults {
  type: 'sts' | 'tlsa' | 'no-policy-found'
  /** The policy as published, line by line or record by record. */
  strings: readonly string[]
  /** Host names or patterns of an MTA-STS policy. */
  mxHosts: readonly string[]
  successCount: number
  failures: readonly FailureDetails[]
}

interface FailureDetails {
  /** Result type of RFC 8460 §4.3. */
  result: string
  /** Source address of the first of the sessions; null without one. */
  sendingIp: string | null
  /** Host name of the MX; empty if no connection was made. */
  mxHost: string
  mxIp: string | null
  count: number
  reason: string | null
}

export interface TlsReport {
  domain: string
  /** UTC day, such as `2026-11-21`. */
  day: string
  /** Mail host of the reporter. */
  submitter: string
  contact: string
  policies: readonly PolicyResults[]
}

export const TLS_REPORT_TYPE = 'application/tlsrpt+gzip'
const RECORD = /^v=TLSRPTv1[ \t]*;/
const URI = /^(?:mailto:[^@\s]+@[^@\s]+|https:\/\/\S+)$/i
const DESTINATIONS_MAX = 4

/**
 * Returns the `rua` URIs, `mailto:` or `https:`; none without a record, or for several records (RFC 8460 §3).
 */
export function tlsReportAddresses(texts: readonly string[]): string[] {
  const records = texts.filter(text => RECORD.test(text))
  if (records.length !== 1) return []
  const rua = records[0]!.split(';').find(field => /^\s*rua\s*=/.test(field))
  if (rua === undefined) return []
  return rua
    .slice(rua.indexOf('=') + 1)
    .split(',')
    .map(uri => uri.trim())
    .filter(uri => URI.test(uri) && isReadable(uri))
    .slice(0, DESTINATIONS_MAX)
}

/** Tells whether the %-escapes of an address can be decoded. */
function isReadable(uri: string): boolean {
  if (/^https:/i.test(uri)) return true
  try {
    decodeURIComponent(uri)
    return true
  } catch {
    return false
  }
}

export function reportId({ day, domain, submitter }: TlsReport): string {
  return `${day}.${domain}@${submitter}`
}

/** Names the report file (RFC 8460 §5.1). */
export function reportFileName({ day, domain, submitter }: TlsReport): string {
  const begin = Date.parse(day) / 1000
  return `${submitter}!${domain}!${begin}!${begin + 86_399}.json.gz`
}

/** Formats the report as JSON (RFC 8460 §4.4). */
export function reportJson(report: TlsReport): string {
  const { domain, day, submitter, contact, policies } = report
  return JSON.stringify({
    'organization-name': submitter,
    'date-range': { 'start-datetime': `${day}T00:00:00Z`, 'end-datetime': `${day}T23:59:59Z` },
    'contact-info': contact,
    'report-id': reportId(report),
    policies: policies.map(({ type, strings, mxHosts, successCount, failures }) => ({
      policy: {
        'policy-type': type,
        'policy-domain': domain,
        ...(strings.length > 0 && { 'policy-string': strings }),
        ...(mxHosts.length > 0 && { 'mx-host': mxHosts }),
      },
      summary: {
        'total-successful-session-count': successCount,
        'total-failure-session-count': failures.reduce((sum, { count }) => sum + count, 0),
      },
      ...(failures.length > 0 && { 'failure-details': failures.map(failureJson) }),
    })),
  })
}

function failureJson({ result, sendingIp, mxHost, mxIp, count, reason }: FailureDetails) {
  return {
    'result-type': result,
    ...(sendingIp !== null && { 'sending-mta-ip': sendingIp }),
    ...(mxHost !== '' && { 'receiving-mx-hostname': mxHost }),
    ...(mxIp !== null && { 'receiving-ip': mxIp }),
    'failed-session-count': count,
    ...(reason !== null && { 'failure-reason-code': reason }),
  }
}
