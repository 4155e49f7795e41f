/**
 * Creates one record in a zone at a DNS provider, unless it exists or conflicts with another record. Records
 * are never deleted.
 */

import type { DnsObserver } from '../../../protocols/dns/dns-observer.ts'
import { spfCost } from '../checks/spf-cost.ts'
import { isSpf, parseSpf } from '../checks/spf-record.ts'
import type { DomainDnsRecord } from '../dns-records.ts'
import { type HostedZone, ProviderFault, type ZoneRecord } from './provider.ts'

export interface Placed {
  status: 'created' | 'already_exists' | 'conflict' | 'failed'
  message?: string
}

interface PlaceOptions {
  zone: HostedZone
  mailHost: string
  /** Whether to add the include of this service to an existing SPF record. */
  mergeSpf: boolean
  /** Observer for the DNS lookups of the merged SPF record. */
  witness: DnsObserver
}

/** @throws ProviderFault if the token is not accepted */
export async function placeRecord(record: DomainDnsRecord, options: PlaceOptions): Promise<Placed> {
  try {
    return await place(record, options)
  } catch (error) {
    if (!(error instanceof ProviderFault) || error.kind === 'token') throw error
    if (error.kind === 'exists') return { status: 'already_exists' }
    return { status: error.kind === 'taken' ? 'conflict' : 'failed', message: error.message }
  }
}

async function place(record: DomainDnsRecord, options: PlaceOptions): Promise<Placed> {
  const { zone } = options
  const there = await zone.recordsAt(record.host)
  const decided = record.record === 'SPF' ? await decideSpf(record, there, options) : decide(record, there)
  if (decided) return decided
  const { type, host, value, priority } = record
  await zone.create({ type, host, value, ...(priority !== undefined && { priority }) })
  return { status: 'created' }
}

/** Returns undefined if the record has to be created. */
function decide(record: DomainDnsRecord, there: readonly ZoneRecord[]): Placed | undefined {
  const same = there.find(({ type, value }) => type === record.type && value === record.value)
  if (same) return decideSame(record, same, there)
  const inTheWay = there.filter(({ type }) =>
    record.type === 'TXT' ? type === 'CNAME' : record.type === 'CNAME' || type === 'CNAME' || type === 'MX',
  )
  if (inTheWay.length === 0) return undefined
  const what = inTheWay.map(({ type, value }) => `${type} ${value}`).join(', ')
  return conflict(`${record.host} has ${what}. Remove it if it is not needed, then retry.`)
}

function decideSame(
  { host, type, priority }: DomainDnsRecord,
  same: ZoneRecord,
  there: readonly ZoneRecord[],
): Placed {
  if (same.isProxied) return conflict(`${host} is proxied: set it to "DNS only".`)
  const further = there.filter(other => other !== same && other.type === 'MX')
  if (type === 'MX' && further.length > 0)
    return conflict(
      `${host} has further MX records (${further.map(({ value }) => value).join(', ')}): remove them.`,
    )
  if (same.priority === priority) return { status: 'already_exists' }
  return {
    status: 'already_exists',
    message: `The preference of the MX record is ${same.priority}, which works, too.`,
  }
}

async function decideSpf(
  record: DomainDnsRecord,
  there: readonly ZoneRecord[],
  { zone, mailHost, mergeSpf, witness }: PlaceOptions,
): Promise<Placed | undefined> {
  const known = there.filter(({ type, value }) => type === 'TXT' && isSpf(value))
  const [first] = known
  if (!first) return decide(record, there)
  if (known.length > 1)
    return conflict(
      `${record.host} has ${known.length} SPF records, which makes all of them invalid. Keep only one.`,
    )
  if (first.value === record.value) return { status: 'already_exists' }
  if (hasInclude(first.value, mailHost))
    return {
      status: 'already_exists',
      message: `The SPF record ${first.value} already includes this service.`,
    }
  if (!mergeSpf)
    return conflict(
      `${record.host} has the SPF record ${first.value}. Set merge_spf to add this service to it.`,
    )
  const merged = mergedSpf(first.value, mailHost)
  const { problems } = await spfCost(record.host, merged, witness)
  const tooMuch = problems.find(({ code }) => code === 'too_many_look_ups')
  if (tooMuch) return conflict(`With this service added: ${tooMuch.message}`)
  await zone.rewrite(first.id, merged)
  return { status: 'created', message: `Merged into the existing record: ${merged}` }
}

function conflict(message: string): Placed {
  return { status: 'conflict', message }
}

/** Whether the record lets our mail pass: the include stands before any `all`. */
function hasInclude(text: string, include: string): boolean {
  const { terms } = parseSpf(text)
  const at = terms.findIndex(
    ({ name, qualifier, value }) =>
      name === 'include' && qualifier === '+' && value.toLowerCase() === include,
  )
  const all = terms.findIndex(({ name }) => name === 'all')
  return at >= 0 && (all < 0 || at < all)
}

/**
 * Before what ends the record: `all`, or the modifiers. An include of ours that stands too late, or fails, is
 * moved.
 */
function mergedSpf(text: string, include: string): string {
  const words = text.trim().split(/ +/)
  const others = words.filter(word => !isOurs(word, include))
  const end = others.findIndex((word, i) => i > 0 && /^(?:[+?~-]?all$|[a-z][a-z0-9._-]*=)/i.test(word))
  return others.toSpliced(end < 0 ? others.length : end, 0, `include:${include}`).join(' ')
}

function isOurs(word: string, include: string): boolean {
  return word.toLowerCase().replace(/^[+?~-]/, '') === `include:${include}`
}
