/**
 * Looks a domain's records up as the world sees them, and at the name servers of its zone, and says what was
 * found, what is asked for, and what to do.
 */

import type { DnsObserver } from '../../protocols/dns/dns-observer.ts'
import { findZoneServers, type ZoneServers } from '../../protocols/dns/name-servers.ts'
import { selectorProbe } from './checks/dkim.ts'
import { checkDmarc, type DmarcCheck } from './checks/dmarc.ts'
import { findMisplaced, missing, type Wanted } from './checks/misplaced.ts'
import { exchangeProbe } from './checks/mx.ts'
import {
  type Check,
  type CheckStatus,
  checkOf,
  type DnsProbe,
  type Looks,
  type Observers,
  observe,
  type Problem,
  type Standing,
  standingOf,
  unknown,
  withProblems,
} from './checks/observation.ts'
import { spfProbe } from './checks/spf.ts'
import { spfCost } from './checks/spf-cost.ts'
import { isSpf } from './checks/spf-record.ts'
import { checkTracking, type VisitHost } from './checks/tracking.ts'
import type { TrackingHost } from './checks/tracking-host.ts'
import { isQuoted, plain, quotedProblem, textsOf, valueProblems } from './checks/values.ts'
import type { DomainDnsRecord } from './dns-records.ts'

/** Result in the spelling of the API. */
interface NameServersCheck {
  status: CheckStatus
  /** Null where it was not found. */
  zone: string | null
  servers: { name: string; address: string | null; status: string; reason: string | null }[]
  advice: string | null
  problems: Problem[]
}

const VERIFICATION_TEXT = /^svc-verify/i

/** In wire spelling: stored, and shown as it is. */
export interface DomainChecks {
  ownership: Check
  dkim: { status: CheckStatus; selectors: ({ host: string } & Check)[] }
  spf: Check
  mx: Check
  dmarc: DmarcCheck
  /** Null where the domain's own mail is not wanted here. */
  receiving: Check | null
  /** Tracking host; null where links use the common host. */
  tracking: ({ host: string } & Check) | null
  name_servers: NameServersCheck
}

export interface CheckedDomain {
  checks: DomainChecks
  ownership: Standing
  /** Results of the DKIM records, in the order of the selectors. */
  selectors: Standing[]
  /** Whether the tracking host resolves to this service; undefined without a tracking host. */
  linksAreServed: boolean | undefined
}

/** DKIM record of a selector, and the public key that it must contain. */
interface SelectorRecord {
  record: DomainDnsRecord
  publicKey: string
}

/** Resolvers and servers that a check queries. */
export interface Inquiry {
  resolvers: readonly DnsObserver[]
  /** Whether an address from the DNS may be connected to. */
  isAllowed(address: string): boolean
  openObserver(label: string, address: string): DnsObserver
}

export interface CheckOptions {
  domain: string
  mailHost: string
  records: readonly DomainDnsRecord[]
  selectors: readonly SelectorRecord[]
  /** Whether the domain's own mail is wanted here. */
  receiving: boolean
  /** The host of its links; undefined where it has none. */
  tracking: TrackingHost | undefined
  /** Looks who is there. */
  visit: VisitHost
  inquiry: Inquiry
  /** What the last check found; null before the first. */
  former: DomainChecks | null
  /** The provider zone cannot be delegated to (RFC 2606): the CNAME is all that can be asked for. */
  laboratory: boolean
}

export async function checkDomain(options: CheckOptions): Promise<CheckedDomain> {
  const { domain, selectors, inquiry, former } = options
  const servers = await findZoneServers(domain, inquiry)
  const scene = { ...options, servers, witnesses: { ...inquiry, authorities: servers.observers } }
  const record = recordIn(options)
  const [ownership, dkim, spf, mx, dmarc, receiving, links] = await Promise.all([
    checkRecord(
      scene,
      record('Verification'),
      ownershipProbeOf(record('Verification')),
      former?.ownership.status,
    ),
    Promise.all(selectors.map(selector => checkSelector(scene, selector))),
    checkSpf(scene, record('SPF')),
    checkRecord(scene, record('MX'), exchangeProbeOf(domain, record('MX')), former?.mx.status),
    checkDmarc(domain, inquiry.resolvers),
    options.receiving ? checkReceiving(scene) : null,
    options.tracking && checkTracking({ ...scene, tracking: options.tracking, record: record('Tracking') }),
  ])
  return {
    checks: {
      ownership: ownership.check,
      dkim: {
        status: worst(dkim.map(({ check }) => check)),
        selectors: dkim.map(({ check }, i) => ({ host: selectors[i]!.record.host, ...check })),
      },
      spf: spf.check,
      mx: mx.check,
      dmarc,
      receiving,
      tracking: links ? { host: options.tracking!.host, ...links.check } : null,
      name_servers: nameServersCheck(servers),
    },
    ownership: ownership.standing,
    selectors: dkim.map(({ standing }) => standing),
    linksAreServed: links?.isServed,
  }
}

interface Scene extends CheckOptions {
  servers: ZoneServers
  witnesses: Observers
}

interface Checked {
  check: Check
  standing: Standing
}

/** Where it is not found, also where it may stand by mistake. */
async function checkRecord(
  scene: Scene,
  record: DomainDnsRecord,
  probe: DnsProbe,
  former: CheckStatus | undefined,
): Promise<Checked> {
  const looks = await observe(probe, scene.witnesses)
  const standing = standingOf(looks)
  const check =
    standing === 'unknown' && former === 'verified'
      ? stillVerified(record, looks)
      : checkOf(record.value, looks)
  const isLost = standing === 'gone' && check.found.length === 0
  if (!isLost) return { check, standing }
  const misplaced = await findMisplaced(wantedOf(record), {
    domain: scene.domain,
    zone: scene.servers.zone ?? scene.domain,
    witness: scene.witnesses.authorities[0] ?? scene.witnesses.resolvers[0]!,
  })
  const told = [...check.problems, ...misplaced]
  const { type, host, value, priority } = record
  const text = priority === undefined ? value : `${priority} ${value}`
  return { check: withProblems(check, told.length > 0 ? misplaced : [missing(type, host, text)]), standing }
}

/** Lost answers take nothing away. */
function stillVerified({ value }: DomainDnsRecord, looks: Looks): Check {
  const message = 'The DNS lookup failed this time. The record still counts as found.'
  return withProblems(checkOf(value, looks), [{ code: 'still_counted', message }], 'verified')
}

function checkSelector(scene: Scene, { record, publicKey }: SelectorRecord): Promise<Checked> {
  const { domain, laboratory, former } = scene
  const { host, value: target } = record
  const before = former?.dkim.selectors.find(selector => selector.host === host)?.status
  return checkRecord(scene, record, selectorProbe({ domain, host, target, publicKey, laboratory }), before)
}

/** With what the record costs those who read it. */
async function checkSpf(scene: Scene, record: DomainDnsRecord): Promise<Checked> {
  const { witnesses, mailHost, laboratory } = scene
  const checked = await checkRecord(scene, record, spfProbe(record.host, mailHost), scene.former?.spf.status)
  const { check } = checked
  const text = check.found.find(isSpf)
  if (check.status !== 'verified' || text === undefined || laboratory) return checked
  const sees = check.resolvers.findIndex(({ status }) => status === 'verified')
  const { problems } = await spfCost(record.host, text, witnesses.resolvers[sees]!)
  return { ...checked, check: withProblems(check, problems, problems.length > 0 ? 'failed' : check.status) }
}

/** Mail of a domain may well be meant to go elsewhere: that is no failure. */
async function checkReceiving({ domain, mailHost, witnesses }: Scene): Promise<Check> {
  const looks = await observe(
    exchangeProbe({ domain, host: domain, exchange: mailHost, isAlone: false }),
    witnesses,
  )
  const check = checkOf(mailHost, looks)
  if (check.status === 'verified') return check
  const message = `Mail to ${domain} does not come here. If it is to, add an MX record at ${domain} with the value 10 ${mailHost}.`
  const problems = [{ code: 'not_received_here', message }]
  return { ...check, status: 'pending', advice: message, problems }
}

function ownershipProbeOf({ host, value }: DomainDnsRecord): DnsProbe {
  return ownershipProbe(host, value)
}

function exchangeProbeOf(domain: string, { host, value: exchange }: DomainDnsRecord): DnsProbe {
  return exchangeProbe({ domain, host, exchange, isAlone: true })
}

function wantedOf({ type, host, value }: DomainDnsRecord): Wanted {
  return {
    host,
    type,
    isOurs(record) {
      if (record.type === 'TXT') return isSameText(plain(record.text), value)
      if (record.type === 'CNAME') return record.target.toLowerCase() === value
      return record.type === 'MX' && record.exchange.toLowerCase() === value
    },
  }
}

/** An SPF record may hold more than was asked for. */
function isSameText(found: string, wanted: string): boolean {
  const include = wanted.split(' ').find(term => term.startsWith('include:'))
  return found === wanted || (include !== undefined && found.toLowerCase().split(' ').includes(include))
}

function recordIn({ records }: CheckOptions) {
  return (label: DomainDnsRecord['record']) => records.find(candidate => candidate.record === label)!
}

function worst(checks: readonly { status: CheckStatus }[]): CheckStatus {
  const has = (status: CheckStatus) => checks.some(check => check.status === status)
  return has('failed') ? 'failed' : has('pending') ? 'pending' : 'verified'
}

/** Others of its kind may stand beside it: another installation may have the domain, too. */
function ownershipProbe(host: string, expected: string): DnsProbe {
  return async witness => {
    const answer = await witness.ask(host, 'TXT')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { ttlSeconds, records, chain } = answer
    const texts = textsOf(records).filter(text => VERIFICATION_TEXT.test(plain(text)))
    const found = texts.map(plain)
    const right = texts.find(text => plain(text) === expected)
    if (right !== undefined)
      return { verdict: 'right', found, ttlSeconds, problems: isQuoted(right) ? [quotedProblem(right)] : [] }
    if (texts.length > 0) {
      const problems = texts.flatMap(text => valueProblems(text, expected))
      if (problems.length === 0)
        problems.push({
          code: 'other_value',
          message: `${host} has the verification text of another account or of an earlier registration. Replace it with ${expected}, or add ${expected}.`,
        })
      return { verdict: 'wrong', found, problems, ttlSeconds }
    }
    const problems =
      chain.length === 0
        ? []
        : [
            {
              code: 'alias',
              message: `${host} is an alias (CNAME) of ${chain[0]}: a name with a CNAME cannot have a TXT record.`,
            },
          ]
    return { verdict: 'absent', found, problems, ttlSeconds }
  }
}

function nameServersCheck({ zone, names, servers, delegatedTo }: ZoneServers): NameServersCheck {
  const problems = [
    ...servers
      .filter(({ status }) => status !== 'answers')
      .map(({ name, status, reason }) => ({
        code: `name_server_${status}`,
        message: `The name server ${name} of ${zone} ${reason}.`,
      })),
    ...(zone === null || delegatedTo === null ? [] : mismatch(zone, names, delegatedTo)),
  ]
  const isAnswered = servers.some(({ status }) => status === 'answers')
  const hasFailed = servers.length > 0 && !isAnswered
  return {
    status: isAnswered ? 'verified' : hasFailed ? 'failed' : 'pending',
    zone,
    servers,
    advice: problems.length === 0 ? null : problems.map(({ message }) => message).join(' '),
    problems,
  }
}

function mismatch(zone: string, own: readonly string[], delegatedTo: readonly string[]): Problem[] {
  if (own.length === delegatedTo.length && own.every(name => delegatedTo.includes(name))) return []
  const message = `${zone} names ${own.join(', ')} as its name servers, but the parent zone delegates to ${delegatedTo.join(', ')}: enter the records there, and make both lists the same.`
  return [{ code: 'name_servers_differ', message }]
}
