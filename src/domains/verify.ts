/** Looks a domain's records up as the world sees them and says what was found, what is asked for, and what to do. */
import type { Answer } from '../dns/answer.ts'
import type { MxRecord, Resolver } from '../dns/resolver.ts'
import type { DnsRecord } from './dns-records.ts'

/** `pending`: not there yet, or no answer; `failed`: something else is there. */
export type CheckStatus = 'verified' | 'pending' | 'failed'

export interface Check {
  status: CheckStatus
  expected: string
  found: string[]
}

export interface DomainChecks {
  ownership: Check & { resolvers: { server: string; status: CheckStatus; found: string[] }[] }
  dkim: { status: CheckStatus; selectors: ({ host: string } & Check)[] }
  spf: Check
  mx: Check
  dmarc: Check & { advice: string | null }
}

/** A resolver and the address it is known by. */
export interface NamedResolver {
  server: string
  resolver: Resolver
}

/** A DKIM selector's record and the key it must lead to. */
export interface SelectorRecord {
  record: DnsRecord
  publicKey: string
}

interface VerifyOptions {
  domain: string
  records: readonly DnsRecord[]
  selectors: readonly SelectorRecord[]
  /** Each is asked; one that sees a record is enough, since others may still hold an older answer. */
  resolvers: readonly NamedResolver[]
  /** The provider zone cannot be delegated to (RFC 2606): the CNAME is all that can be asked for. */
  laboratory: boolean
}

const FRESH = { fresh: true }

export async function checkDomain(options: VerifyOptions): Promise<DomainChecks> {
  const { domain, records, selectors, resolvers, laboratory } = options
  const record = (label: DnsRecord['record']) => records.find(candidate => candidate.record === label)!
  const [ownership, dkim, spf, mx, dmarc] = await Promise.all([
    checkOwnership(record('Verification'), resolvers),
    Promise.all(selectors.map(selector => checkSelector(selector, resolvers, laboratory))),
    best(resolvers, resolver => checkSpf(resolver, record('SPF'))),
    best(resolvers, resolver => checkMx(resolver, record('MX'))),
    best(resolvers, resolver => checkDmarc(resolver, domain)),
  ])
  return { ownership, dkim: { status: worst(dkim), selectors: dkim }, spf, mx, dmarc }
}

async function checkOwnership(record: DnsRecord, resolvers: readonly NamedResolver[]) {
  const seen = await Promise.all(
    resolvers.map(async ({ server, resolver }) => {
      const texts = recordsOf(await resolver.txt(record.host, FRESH)).map(plain)
      const found = texts.filter(text => text.startsWith('svc-verify='))
      return { server, status: statusOf(found, found.includes(record.value)), found }
    }),
  )
  const found = [...new Set(seen.flatMap(view => view.found))]
  return { status: mostHopeful(seen), expected: record.value, found, resolvers: seen }
}

/** Others may be included beside us; more than one record is an error to every receiver (RFC 7208 §4.5). */
async function checkSpf(resolver: Resolver, { host, value }: DnsRecord): Promise<Check> {
  const found = recordsOf(await resolver.txt(host, FRESH)).filter(text => /^v=spf1( |$)/i.test(plain(text)))
  const include = value.split(' ').find(term => term.startsWith('include:'))!
  return {
    status: statusOf(found, found.length === 1 && isPermitted(found[0]!, include)),
    expected: value,
    found,
  }
}

/** Whether mail is let pass by `include`, which no `all` stands before. */
function isPermitted(spf: string, include: string): boolean {
  const terms = spf.toLowerCase().split(' ')
  const at = terms.findIndex(term => term.replace(/^\+/, '') === include.toLowerCase())
  return terms[0] === 'v=spf1' && at > 0 && !terms.slice(0, at).some(term => /^[+?~-]?all$/.test(term))
}

async function checkSelector(
  { record, publicKey }: SelectorRecord,
  resolvers: readonly NamedResolver[],
  laboratory: boolean,
): Promise<{ host: string } & Check> {
  const check = await best(resolvers, async (resolver): Promise<Check> => {
    const texts = recordsOf(await resolver.txt(record.host, FRESH))
    const expected = record.value
    if (texts.length > 0) {
      const right = texts.some(text => publicKeyOf(text) === publicKey)
      return { status: right ? 'verified' : 'failed', expected, found: texts }
    }
    const found = recordsOf(await resolver.cname(record.host, FRESH))
    if (found.length === 0) return { status: 'pending', expected, found }
    if (!found.includes(expected)) return { status: 'failed', expected, found }
    return { status: laboratory ? 'verified' : 'pending', expected, found }
  })
  return { host: record.host, ...check }
}

async function checkMx(resolver: Resolver, { host, value }: DnsRecord): Promise<Check> {
  const records = recordsOf<MxRecord>(await resolver.mx(host, FRESH))
  const found = records.map(({ exchange, preference }) => `${preference} ${exchange}`)
  const isRight = records.some(({ exchange }) => exchange === value)
  return { status: statusOf(found, isRight), expected: value, found }
}

async function checkDmarc(resolver: Resolver, domain: string): Promise<DomainChecks['dmarc']> {
  const found = recordsOf(await resolver.txt(`_dmarc.${domain}`, FRESH)).filter(text =>
    /^v=DMARC1\b/i.test(text),
  )
  const expected = 'v=DMARC1; p=none'
  if (found.length === 1) return { status: 'verified', expected, found, advice: null }
  const advice =
    found.length > 1
      ? `There are ${found.length} DMARC records; receivers ignore all of them. Leave one.`
      : `Large mailbox providers ask for a DMARC policy. Add a TXT record at _dmarc.${domain}, to begin with "${expected}".`
  return { status: found.length > 1 ? 'failed' : 'pending', expected, found, advice }
}

/** The most hopeful of what the resolvers see. */
async function best<C extends Check>(
  resolvers: readonly NamedResolver[],
  check: (resolver: Resolver) => Promise<C>,
): Promise<C> {
  const checks = await Promise.all(resolvers.map(({ resolver }) => check(resolver)))
  const status = mostHopeful(checks)
  return checks.find(candidate => candidate.status === status)!
}

function mostHopeful(checks: readonly { status: CheckStatus }[]): CheckStatus {
  const has = (status: CheckStatus) => checks.some(check => check.status === status)
  return has('verified') ? 'verified' : has('failed') ? 'failed' : 'pending'
}

function worst(checks: readonly { status: CheckStatus }[]): CheckStatus {
  const has = (status: CheckStatus) => checks.some(check => check.status === status)
  return has('failed') ? 'failed' : has('pending') ? 'pending' : 'verified'
}

function recordsOf<T>(answer: Answer<T>): T[] {
  return answer.kind === 'found' ? [...answer.records] : []
}

function statusOf(found: readonly string[], isRight: boolean): CheckStatus {
  if (isRight) return 'verified'
  return found.length > 0 ? 'failed' : 'pending'
}

/** Without the blanks and quotes that DNS panels add. */
function plain(text: string): string {
  return text.replace(/"/g, '').replace(/\s+/g, ' ').trim()
}

/** The `p=` tag of a key record (RFC 6376 §3.6.1), without the blanks it may be folded with. */
function publicKeyOf(text: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(text)?.[1]?.replace(/\s+/g, '')
}
