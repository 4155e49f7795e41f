/** Checks the provider zone in public DNS: its delegation, its name servers and its records. */
import { getDomain } from 'tldts'
import type { DnsObserver } from '../../protocols/dns/dns-observer.ts'
import { findZoneServers } from '../../protocols/dns/name-servers.ts'
import { recordData } from '../../protocols/dns/record-text.ts'
import type { DnsRecord } from '../../protocols/dns/wire.ts'
import type { CheckSessions } from '../../resources/domains/check-session.ts'
import { checkDmarc } from '../../resources/domains/checks/dmarc.ts'
import { bad, type DoctorFinding, type Examination, good, unknownFinding } from './finding.ts'

interface ZoneCheckOptions {
  mailHost: string
  inquiries: CheckSessions
  /** Expected records. */
  records: readonly DnsRecord[]
  /** A sample of DKIM keys of customers, as expected in the zone. */
  sampleKeys(): Promise<readonly DnsRecord[]>
  /** Address for DMARC reports about `mailHost`; null if there is none. */
  reportsTo: string | null
  /** Whether the zone cannot be delegated, because its name is reserved (RFC 2606). */
  laboratory: boolean
}

const DMARC = 'own_dmarc'
/** Record with which a domain agrees to receive reports about another one. */
const CONSENT = /^v=DMARC1\s*(?:;|$)/
const DELEGATE =
  'Delegate the zone in its parent zone (NS and glue records), and forward port 53 (UDP and TCP) to dns.listen; or copy the records printed by `mailhorn dns records`.'

export function providerZone(options: ZoneCheckOptions): Examination[] {
  const { mailHost, inquiries, laboratory } = options
  const examination = (
    check: string,
    examine: (resolvers: readonly DnsObserver[]) => Promise<DoctorFinding[]>,
  ) => ({
    check,
    async examine() {
      if (laboratory)
        return [
          bad(
            'warning',
            check,
            mailHost,
            'mail_host is not a public DNS name.',
            'Set mail_host to a host name you own.',
          ),
        ]
      const inquiry = inquiries.open()
      try {
        return await examine(inquiry.resolvers)
      } finally {
        inquiry.close()
      }
    },
  })
  return [
    examination('zone_delegation', () => delegation(options)),
    examination('zone_records', resolvers => records(options, resolvers)),
    examination('zone_keys', resolvers => keys(options, resolvers)),
    examination(DMARC, resolvers => dmarc(options, resolvers)),
  ]
}

async function delegation({ mailHost, inquiries }: ZoneCheckOptions): Promise<DoctorFinding[]> {
  const check = 'zone_delegation'
  const inquiry = inquiries.open()
  try {
    const { zone, servers } = await findZoneServers(mailHost, inquiry)
    if (zone === null)
      return [bad('failed', check, mailHost, 'No name servers found in public DNS.', DELEGATE)]
    const troubled = servers.filter(({ status }) => status !== 'answers')
    const told = troubled.map(({ name, reason }) =>
      bad('failed', check, name, `The name server ${name} ${reason}.`, DELEGATE),
    )
    if (zone !== mailHost)
      return [good(check, mailHost, `Hosted in the zone ${zone}, whose name servers respond.`), ...told]
    if (told.length > 0) return told
    return [good(check, mailHost, `${servers.map(({ name }) => name).join(', ')} respond.`)]
  } finally {
    inquiry.close()
  }
}

async function records(
  { records: wanted }: ZoneCheckOptions,
  resolvers: readonly DnsObserver[],
): Promise<DoctorFinding[]> {
  const check = 'zone_records'
  const visible = wanted.filter(({ type }) => ['A', 'AAAA', 'MX', 'TXT', 'CNAME'].includes(type))
  const findings = await Promise.all(
    visible.map(async record => {
      const answer = await askAny(resolvers, record)
      if (answer.kind === 'unknown')
        return unknownFinding(check, record.name, `${record.type}: ${answer.reason}.`)
      if (answer.records.some(found => textOf(found) === textOf(record))) return undefined
      const found = answer.records.map(textOf).join(', ') || 'nothing'
      const message = `Expected ${record.type} ${textOf(record)}, found ${found}.`
      return bad('failed', check, record.name, message, DELEGATE)
    }),
  )
  const told = findings.filter(finding => finding !== undefined)
  return told.length > 0 ? told : [good(check, null, `All ${visible.length} records are correct.`)]
}

async function keys(
  { sampleKeys }: ZoneCheckOptions,
  resolvers: readonly DnsObserver[],
): Promise<DoctorFinding[]> {
  const check = 'zone_keys'
  const sample = await sampleKeys()
  const findings = await Promise.all(
    sample.map(async record => {
      const answer = await askAny(resolvers, record)
      if (answer.kind === 'unknown') return unknownFinding(check, record.name, `${answer.reason}.`)
      if (answer.records.some(found => textOf(found) === textOf(record))) return undefined
      const message = 'This DKIM key is not in public DNS: signatures made with it fail verification.'
      return bad('failed', check, record.name, message, DELEGATE)
    }),
  )
  const told = findings.filter(finding => finding !== undefined)
  if (told.length > 0 || sample.length === 0) return told
  return [good(check, null, `The DKIM keys are in public DNS (${sample.length} checked).`)]
}

/** Checks the DMARC policy of the provider host, which sends mail such as reports itself. */
async function dmarc(
  { mailHost, reportsTo }: ZoneCheckOptions,
  resolvers: readonly DnsObserver[],
): Promise<DoctorFinding[]> {
  const { status, policy, advice } = await checkDmarc(mailHost, resolvers)
  const message = 'No valid DMARC policy found.'
  const own = policy
    ? good(DMARC, mailHost, `The DMARC policy is ${policy.policy}.`)
    : bad(status === 'failed' ? 'failed' : 'warning', DMARC, mailHost, message, advice ?? DELEGATE)
  return [own, ...(await reportConsent(mailHost, reportsTo, resolvers))]
}

/** A foreign domain must agree to receive reports, or they are not sent (RFC 7489 §7.1). */
async function reportConsent(
  mailHost: string,
  reportsTo: string | null,
  resolvers: readonly DnsObserver[],
): Promise<DoctorFinding[]> {
  const receiver = reportsTo?.slice(reportsTo.lastIndexOf('@') + 1).toLowerCase()
  if (receiver === undefined || organizationOf(receiver) === organizationOf(mailHost)) return []
  const name = `${mailHost}._report._dmarc.${receiver}`
  const answer = await askAny(resolvers, { name, type: 'TXT' })
  if (answer.kind === 'unknown') return [unknownFinding(DMARC, name, `${answer.reason}.`)]
  if (answer.records.some(found => found.type === 'TXT' && CONSENT.test(found.text)))
    return [good(DMARC, name, `${receiver} agrees to receive DMARC reports.`)]
  return [
    bad(
      'warning',
      DMARC,
      name,
      `No TXT record "v=DMARC1": DMARC reports are not sent to ${reportsTo}, because ${receiver} has not agreed to receive them.`,
      `Add ${name} TXT "v=DMARC1" at ${receiver}, or set dns.reports_to to an address of your own domain.`,
    ),
  ]
}

function organizationOf(name: string): string {
  return getDomain(name, { allowPrivateDomains: true }) ?? name
}

async function askAny(resolvers: readonly DnsObserver[], { name, type }: Pick<DnsRecord, 'name' | 'type'>) {
  for (const resolver of resolvers) {
    const answer = await resolver.ask(name, type)
    if (answer.kind === 'answer') return answer
  }
  return { kind: 'unknown' as const, reason: 'no resolver responded' }
}

function textOf(record: DnsRecord): string {
  return record.type === 'TXT' ? record.text : recordData(record).toLowerCase()
}
