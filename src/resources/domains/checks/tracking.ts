/** Checks the tracking host of a domain: its record, and whether requests to it reach this service. */
import { equalBytes, type SecretKeys } from '../../../lib/secret-keys.ts'
import { OutboundFault } from '../../../protocols/http-client/fault.ts'
import type { Outbound } from '../../../protocols/http-client/outbound.ts'
import {
  type Check,
  checkOf,
  type DnsProbe,
  type Observers,
  observe,
  type Problem,
  unknown,
  withProblems,
} from './observation.ts'
import { NOT_SERVED, PROOF_PATH, proofFor, type TrackingHost } from './tracking-host.ts'
import { targetProblems } from './values.ts'

/**
 * Resolves to undefined if requests reach this service, otherwise to a description of the response, without a
 * full stop.
 */
export type VisitHost = (tracking: TrackingHost) => Promise<string | undefined>

interface TrackingCheck {
  check: Check
  isServed: boolean
}

interface TrackingQuestion {
  domain: string
  tracking: TrackingHost
  /** Expected CNAME. */
  record: { value: string }
  witnesses: Observers
  visit: VisitHost
}

const LIMIT_MS = 10_000
const LIMIT_BYTES = 1_024

/**
 * The request counts more than the record, because the host may also point here by A records or through a
 * proxy.
 */
export async function checkTracking(question: TrackingQuestion): Promise<TrackingCheck> {
  const { tracking, record, witnesses, visit } = question
  const [looks, fault] = await Promise.all([observe(aliasProbe(question), witnesses), visit(tracking)])
  const check = checkOf(record.value, looks)
  if (fault === undefined)
    return { check: { ...check, status: 'verified', advice: null, problems: [] }, isServed: true }
  return {
    check: check.status === 'verified' ? withProblems(check, [notServed(tracking, fault)], 'pending') : check,
    isServed: false,
  }
}

export function createVisitHost(outbound: Pick<Outbound, 'send'>, secrets: SecretKeys): VisitHost {
  return async ({ baseUrl }) => {
    const { host, href: url } = new URL(`${baseUrl}${PROOF_PATH}`)
    const reply = await outbound.send({ url, limitMs: LIMIT_MS, limitBytes: LIMIT_BYTES })
    if (reply instanceof OutboundFault) return reply.message
    if (reply.status !== 200) return `the answer is ${reply.status}`
    const wanted = Buffer.from(proofFor(secrets, host))
    return equalBytes(reply.body, wanted) ? undefined : 'another service answers'
  }
}

function aliasProbe({ domain, tracking: { host }, record: { value: target } }: TrackingQuestion): DnsProbe {
  return async witness => {
    const answer = await witness.ask(host, 'A')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { chain, records, ttlSeconds } = answer
    if (chain.includes(target)) return { verdict: 'right', found: [chain[0]!], problems: [], ttlSeconds }
    const addresses = records.flatMap(record => (record.type === 'A' ? [record.address] : []))
    const found = chain.length > 0 ? [chain[0]!] : addresses
    if (found.length === 0) return { verdict: 'absent', found, problems: [], ttlSeconds }
    const problems = targetProblems(found[0]!, target, domain)
    return {
      verdict: 'wrong',
      found,
      problems: problems.length > 0 ? problems : [elsewhere(host, found, target)],
      ttlSeconds,
    }
  }
}

function elsewhere(host: string, found: readonly string[], target: string): Problem {
  const message = `${host} leads to ${found.join(', ')}, and nobody gets from there to this service. Make it a CNAME record to ${target}.`
  return { code: 'other_target', message }
}

function notServed({ host, baseUrl }: TrackingHost, fault: string): Problem {
  const message = `${host} points to this service, but at ${baseUrl} ${fault}. Set up a certificate for this name, or a proxy that forwards requests. Until then, links use the shared tracking host.`
  return { code: NOT_SERVED, message }
}
