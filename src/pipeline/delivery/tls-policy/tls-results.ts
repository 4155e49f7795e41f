/**
 * Counts the TLS results of sessions with other domains' hosts, for TLS reports (RFC 8460).
 *
 * In: opened and failed sessions, refusals and policy faults. Out: rows for the store, once a minute. Called
 * by `attempt.ts`, `addresses.ts` and the MTA-STS cache.
 */

import type { Clock, Timer } from '../../../lib/clock.ts'
import { utcDay } from '../../../lib/periods.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import { tlsReportAddresses } from '../../../protocols/bounces/tls-report.ts'
import type { Resolver } from '../../../protocols/dns/resolver.ts'
import type { Run } from '../../../store/model/command.ts'
import type { TlsResultRow } from '../../../store/model/schema/tls.ts'
import type { tlsCommands } from '../../queue/tls-rows.ts'
import type { SessionFailure, SmtpFailure, SmtpSession } from '../smtp-client/types.ts'
import type { HostRefusal, HostTlsPolicy } from './host-tls-policy.ts'
import type { StsPolicy } from './mta-sts-cache.ts'
import type { NextHop } from './next-hop.ts'
import { fitsPolicy } from './sts-policy.ts'

export interface TlsResults {
  /** Counts a session that was opened or failed. */
  count(
    nextHop: NextHop,
    tlsPolicy: HostTlsPolicy,
    host: string,
    ip: string,
    opened: SmtpSession | SessionFailure,
  ): void
  /** Counts a host that was not used because of the domain's policy. */
  countRefusal(nextHop: NextHop, host: string, refusal: HostRefusal): void
  /** Counts a policy fault that occurred before a host was known. */
  countFault(domain: string, policyType: TlsResultRow['policyType'], result: string, reason: string): void
  /** Stores the counts without checking which domains want reports. */
  close(): Promise<void>
}

interface ResultsOptions {
  resolver: Pick<Resolver, 'txt'>
  run: Run<Pick<typeof tlsCommands, 'addTlsResults'>>
  clock: Clock
  onError(error: unknown): void
}

const STORE_INTERVAL_MS = 60_000
/** Number of rows between two writes to the store. Further results are not counted. */
const ROWS_MAX = 20_000
const REASON_CHARACTERS_MAX = 200
const CONCURRENT_LOOKUPS_MAX = 16

export function createTlsResults({ resolver, run, clock, onError }: ResultsOptions): TlsResults {
  let rows = new Map<string, TlsResultRow>()
  let timer: Timer | undefined
  let storing: Promise<unknown> = Promise.resolve()
  const asking = createSemaphore(CONCURRENT_LOOKUPS_MAX, Infinity)
  const closed = Promise.withResolvers<undefined>()

  const add = (row: Counted) => {
    const day = utcDay(clock.now())
    const key = [day, row.domain, row.policyType, row.result, row.mxHost].join(' ')
    const known = rows.get(key)
    if (known) known.count++
    else if (rows.size < ROWS_MAX) rows.set(key, { ...row, day, count: 1 })
    timer ??= clock.timer(STORE_INTERVAL_MS, beginStoring)
  }

  /**
   * Whether the domain certainly wants no reports. When its name server fails or is slow, the counts are
   * kept.
   */
  const isUnwanted = (domain: string) =>
    asking.run(async () => {
      const answer = await Promise.race([closed.promise, resolver.txt(`_smtp._tls.${domain}`)])
      if (answer === undefined || answer.kind === 'failure') return false
      return answer.kind !== 'found' || tlsReportAddresses(answer.records).length === 0
    })

  const store = async () => {
    timer = undefined
    const counted = [...rows.values()]
    rows = new Map()
    const wanted = await Promise.all(
      [...Map.groupBy(counted, row => row.domain)].map(async ([domain, ofDomain]) =>
        (await isUnwanted(domain)) ? [] : ofDomain,
      ),
    )
    const results = wanted.flat()
    if (results.length > 0) await run('addTlsResults', results)
  }
  const beginStoring = () => {
    storing = Promise.all([storing, store().catch(onError)])
  }

  return {
    count(nextHop, tlsPolicy, host, ip, opened) {
      const counted = countedSession(nextHop, tlsPolicy, host, ip, opened)
      if (counted) add(counted)
    },
    countRefusal({ domain, sts }, host, { refusal, policyType, result }) {
      const policy = JSON.stringify(policyType === 'sts' && sts ? stsText(sts) : {})
      add({ domain, policyType, result, mxHost: host, policy, reason: cut(refusal), mxIp: null })
    },
    countFault: (domain, policyType, result, reason) =>
      add({ domain, policyType, result, mxHost: '', policy: '{}', reason: cut(reason), mxIp: null }),
    async close() {
      timer?.cancel()
      closed.resolve(undefined)
      beginStoring()
      await storing
    },
  }
}

/** A result before it is added to those of the day. */
type Counted = Omit<TlsResultRow, 'day' | 'count'>

/** Undefined when the session says nothing about TLS. */
function countedSession(
  nextHop: NextHop,
  tlsPolicy: HostTlsPolicy,
  host: string,
  ip: string,
  opened: SmtpSession | SessionFailure,
): Counted | undefined {
  const found = 'failure' in opened ? failedResult(opened) : sessionResult(nextHop, tlsPolicy, host, opened)
  if (found === undefined) return undefined
  const { result, reason } = found
  const { localAddress } = 'failure' in opened ? opened : opened.facts
  const policy = { ...policyText(nextHop, tlsPolicy), ...(localAddress && { from: localAddress }) }
  return {
    domain: nextHop.domain,
    policyType: tlsPolicy.policy === 'dane' ? 'tlsa' : nextHop.sts ? 'sts' : 'no-policy-found',
    result,
    mxHost: host,
    policy: JSON.stringify(policy),
    reason: cut(reason),
    mxIp: ip,
  }
}

interface Result {
  /** Result type; empty for a success. */
  result: string
  reason: string | null
}

const GOOD: Result = { result: '', reason: null }
const NO_STARTTLS: Result = { result: 'starttls-not-supported', reason: null }
const OF_CERTIFICATES = new Map([
  ['CERT_HAS_EXPIRED', 'certificate-expired'],
  ['CERT_NOT_YET_VALID', 'certificate-expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate-host-mismatch'],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate-not-trusted'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate-not-trusted'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate-not-trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate-not-trusted'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate-not-trusted'],
])

/** A policy in testing mode fails no session, but is reported as if it had. */
function sessionResult(
  { sts }: NextHop,
  { policy, brokenTls }: HostTlsPolicy,
  host: string,
  { facts }: SmtpSession,
): Result {
  const { tls, tlsFallback } = facts
  if (!tls && brokenTls !== null) return { result: 'validation-failure', reason: brokenTls }
  if (!tls) return tlsFallback ? tlsResult(tlsFallback) : NO_STARTTLS
  if (!sts || policy === 'dane') return GOOD
  if (!fitsPolicy(sts, host)) return { result: 'validation-failure', reason: 'the host is not in the policy' }
  return tls.unauthorizedReason === null ? GOOD : certificateResult(tls.unauthorizedReason)
}

/** Undefined when the session failed before TLS. */
function failedResult({ failure, tlsFallback }: SessionFailure): Result | undefined {
  if (tlsFallback) return tlsResult(tlsFallback)
  return failure.kind === 'tls' || failure.phase === 'starttls' ? tlsResult(failure) : undefined
}

function tlsResult({ phase, kind, code, message }: SmtpFailure): Result {
  if (phase === 'starttls' && kind === 'tls') return NO_STARTTLS
  if (phase === 'starttls' && kind === 'reply') return { ...NO_STARTTLS, reason: message }
  return code !== undefined && OF_CERTIFICATES.has(code)
    ? certificateResult(code)
    : { result: 'validation-failure', reason: message }
}

function certificateResult(code: string): Result {
  return { result: OF_CERTIFICATES.get(code) ?? 'certificate-not-trusted', reason: code }
}

/** The policy as a report quotes it (RFC 8460 §4.4). */
interface PolicyText {
  strings?: readonly string[]
  mxHosts?: readonly string[]
}

function policyText({ sts }: NextHop, { tlsa }: HostTlsPolicy): PolicyText {
  if (tlsa) return { strings: tlsa }
  return sts ? stsText(sts) : {}
}

function stsText({ mode, mx, maxAgeSeconds }: StsPolicy): PolicyText {
  const patterns = mx.map(pattern => `mx: ${pattern}`)
  return {
    strings: ['version: STSv1', `mode: ${mode}`, ...patterns, `max_age: ${maxAgeSeconds}`],
    mxHosts: mx,
  }
}

function cut(reason: string | null): string | null {
  return reason === null ? null : reason.slice(0, REASON_CHARACTERS_MAX)
}
