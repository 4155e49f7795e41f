/**
 * MTA-STS policies of recipient domains: discovered by DNS, fetched over HTTPS, stored, and renewed before
 * they expire.
 *
 * In: a recipient domain. Out: its policy. Called by `domain-security.ts`.
 */

import { BoundedMap } from '../../../lib/bounded-map.ts'
import type { Clock } from '../../../lib/clock.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import type { Resolver } from '../../../protocols/dns/resolver.ts'
import { OutboundFault } from '../../../protocols/http-client/fault.ts'
import type { Outbound } from '../../../protocols/http-client/outbound.ts'
import type { Run } from '../../../store/model/command.ts'
import type { MtaStsPolicyRow } from '../../../store/model/schema/tls.ts'
import type { Find } from '../../../store/reading/read.ts'
import type { tlsCommands } from '../../queue/tls-rows.ts'
import { parseStsPolicy, type StsRules, stsIdOf } from './sts-policy.ts'

/** A policy that applies. It is plain data, because routes are passed between threads. */
export interface StsPolicy extends StsRules {
  domain: string
}

/** A failed fetch, with the result type for TLS reports (RFC 8460 §4.3). */
export interface StsFault {
  type: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'
  fault: string
}

export interface MtaStsCache {
  /** Null when the domain has no policy, or one with mode none; undefined when that is unknown. */
  policyOf(domain: string): Promise<StsPolicy | null | undefined>
}

interface MtaStsCacheOptions {
  resolver: Pick<Resolver, 'txt'>
  outbound: Pick<Outbound, 'send'>
  find: Find
  run: Run<Pick<typeof tlsCommands, 'putStsPolicy'>>
  clock: Clock
  /** HTTPS port of policy hosts. */
  port: number
  /** Called when a policy exists and cannot be fetched. */
  onFault(domain: string, fault: StsFault): void
  onError(error: unknown): void
}

const CONCURRENT_FETCHES_MAX = 32
/** A slower policy host does not delay mail: the policy that is stored applies. */
const FETCH_WAIT_MS_MAX = 10_000
const FETCH_MS_MAX = 30_000
const POLICY_BYTES_MAX = 64 * 1024
const RENEW_AFTER_MS = 24 * 3_600_000
const RETRY_DELAY_MS_MIN = 5 * 60_000
const RETRY_DELAY_MS_MAX = 3_600_000
const FAILED_DOMAINS_MAX = 5_000
const COLUMNS = ['domain', 'policyId', 'mode', 'mx', 'maxAgeSeconds', 'fetchedAt', 'expiresAt'] as const

export function createMtaStsCache(options: MtaStsCacheOptions): MtaStsCache {
  const { resolver, find, clock, run, onFault, onError } = options
  const slots = createSemaphore(CONCURRENT_FETCHES_MAX, Infinity)
  const underWay = new Map<string, Promise<MtaStsPolicyRow | undefined>>()
  /** Time of the next fetch after a failed one, in monotonic ms, and the last delay in ms. */
  const pauses = new BoundedMap<string, { until: number; lastMs: number }>(FAILED_DOMAINS_MAX)

  const storedPolicy = async (domain: string): Promise<MtaStsPolicyRow | undefined> => {
    const [row] = await find('mtaStsPolicies', [{ domain }], COLUMNS)
    return row && row.expiresAt > clock.now() ? row : undefined
  }

  const fetched = async (domain: string, policyId: string): Promise<MtaStsPolicyRow | undefined> => {
    if ((pauses.get(domain)?.until ?? 0) > clock.monotonic()) return undefined
    const found = await slots.run(() => fetchStsPolicy(options, domain))
    if ('fault' in found) {
      pause(domain)
      onFault(domain, found)
      return undefined
    }
    pauses.delete(domain)
    const { mode, mx, maxAgeSeconds } = found
    const fetchedAt = clock.now()
    const expiresAt = fetchedAt + maxAgeSeconds * 1000
    const row = { domain, policyId, mode, mx: JSON.stringify(mx), maxAgeSeconds, fetchedAt, expiresAt }
    await run('putStsPolicy', row)
    return row
  }

  const pause = (domain: string) => {
    const lastMs = Math.min(RETRY_DELAY_MS_MAX, (pauses.get(domain)?.lastMs ?? RETRY_DELAY_MS_MIN / 2) * 2)
    pauses.set(domain, { until: clock.monotonic() + lastMs, lastMs })
  }

  const fetchOnce = (domain: string, policyId: string): Promise<MtaStsPolicyRow | undefined> => {
    const known = underWay.get(domain)
    if (known) return known
    const fetching = fetched(domain, policyId)
      .catch(error => void onError(error))
      .finally(() => underWay.delete(domain))
    underWay.set(domain, fetching)
    return fetching
  }

  return {
    async policyOf(domain) {
      const [answer, stored] = await Promise.all([resolver.txt(`_mta-sts.${domain}`), storedPolicy(domain)])
      const id = answer.kind === 'found' ? stsIdOf(answer.records) : undefined
      if (id === undefined) return stored ? applied(stored) : answer.kind === 'failure' ? undefined : null
      if (stored?.policyId !== id) {
        const renewed = (await within(clock, fetchOnce(domain, id))) ?? stored
        return renewed ? applied(renewed) : undefined
      }
      const lifeMs = stored.expiresAt - stored.fetchedAt
      if (clock.now() - stored.fetchedAt >= Math.min(RENEW_AFTER_MS, lifeMs / 2)) void fetchOnce(domain, id)
      return applied(stored)
    },
  }
}

function within<T>(clock: Clock, fetching: Promise<T | undefined>): Promise<T | undefined> {
  return new Promise(resolve => {
    const timer = clock.timer(FETCH_WAIT_MS_MAX, () => resolve(undefined))
    void fetching.then(found => {
      timer.cancel()
      resolve(found)
    })
  })
}

function applied({ domain, mode, mx, maxAgeSeconds }: MtaStsPolicyRow): StsPolicy | null {
  return mode === 'none' ? null : { domain, mode, mx: JSON.parse(mx) as string[], maxAgeSeconds }
}

/**
 * Fetches a policy over HTTPS (RFC 8461 §3.3): without redirects, with a verified certificate, as plain text.
 */
async function fetchStsPolicy(
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
