/**
 * One fetch of a domain's MTA-STS policy over HTTPS (RFC 8461 §3.3): no redirects, a certificate that
 * verifies, plain text.
 */
import { OutboundFault } from '../../../protocols/http-client/fault.ts'
import type { Outbound } from '../../../protocols/http-client/outbound.ts'
import { parseStsPolicy, type StsRules } from './sts-policy.ts'

/** By the result types of TLS reports (RFC 8460 §4.3). */
export interface StsFault {
  type: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'
  fault: string
}

const FETCH_MS_MAX = 30_000
const POLICY_BYTES_MAX = 64 * 1024

export async function fetchStsPolicy(
  { outbound, port }: { outbound: Pick<Outbound, 'send'>; port: number },
  domain: string,
): Promise<StsRules | StsFault> {
  const host = port === 443 ? `mta-sts.${domain}` : `mta-sts.${domain}:${port}`
  const reply = await outbound.send({
    url: `https://${host}/.well-known/mta-sts.txt`,
    limitMs: FETCH_MS_MAX,
    limitBytes: POLICY_BYTES_MAX,
  })
  if (reply instanceof OutboundFault) {
    const isCertificate = reply.message.startsWith('TLS failed')
    return { type: isCertificate ? 'sts-webpki-invalid' : 'sts-policy-fetch-error', fault: reply.message }
  }
  if (reply.status !== 200)
    return { type: 'sts-policy-fetch-error', fault: `the policy host answered ${reply.status}` }
  const mediaType = (reply.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase()
  if (mediaType !== 'text/plain') return { type: 'sts-policy-invalid', fault: 'the policy is not text/plain' }
  const policy = parseStsPolicy(reply.body.toString('utf8'))
  return 'fault' in policy ? { type: 'sts-policy-invalid', fault: policy.fault } : policy
}
