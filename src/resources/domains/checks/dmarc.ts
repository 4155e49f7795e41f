/** Finds the DMARC policy of a domain: its own record, or that of a parent domain (RFC 7489 §6.6.3). */
import type { DnsObserver, ObservedAnswer } from '../../../protocols/dns/dns-observer.ts'
import {
  type Check,
  checkOf,
  type Looks,
  type Observation,
  observe,
  type Problem,
  unknown,
} from './observation.ts'
import { blankProblem, isQuoted, quotedProblem, startsBlank, textsOf } from './values.ts'

/** DMARC result in the spelling of the API. */
interface DmarcPolicy {
  /** Domain of the record. */
  domain: string
  /** Whether the record belongs to a parent domain. */
  inherited: boolean
  /** Policy for mail of the domain: `none`, `quarantine` or `reject`. */
  policy: string
  /** Values of `p` and `sp` as written; null where absent. */
  p: string | null
  sp: string | null
  /** Addresses of aggregate reports. */
  rua: string[]
}

export type DmarcCheck = Check & { policy: DmarcPolicy | null }

const EXPECTED = 'v=DMARC1; p=none'
/** Receivers discard records that begin in any other way (RFC 7489 §6.4, §6.6.3). */
const VERSION = /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/
const POLICIES = new Set(['none', 'quarantine', 'reject'])
/** Maximum number of names to look up, from the domain itself upwards. */
const LEVELS_MAX = 6

interface DmarcSight extends Observation {
  policy: DmarcPolicy | null
}

export async function checkDmarc(domain: string, resolvers: readonly DnsObserver[]): Promise<DmarcCheck> {
  const policies: DmarcPolicy[] = []
  const looks: Looks = await observe(
    async witness => {
      const sight = await lookUp(domain, witness)
      if (sight.policy) policies.push(sight.policy)
      return sight
    },
    { resolvers, authorities: [] },
  )
  const check = checkOf(EXPECTED, looks, [])
  const none: Problem = {
    code: 'missing',
    message: `Large mailbox providers require a DMARC policy. Add a TXT record at _dmarc.${domain}, for example "${EXPECTED}".`,
  }
  const isMissing =
    check.status === 'pending' && looks.resolvers.some(({ sight }) => sight.verdict === 'absent')
  const problems = isMissing ? [none, ...check.problems] : check.problems
  const advice = problems.length === 0 ? null : problems.map(({ message }) => message).join(' ')
  return { ...check, problems, advice, policy: policies[0] ?? null }
}

/** A domain without a record inherits that of the nearest parent domain. */
async function lookUp(domain: string, witness: DnsObserver): Promise<DmarcSight> {
  const labels = domain.split('.')
  for (let level = 0; level < Math.min(labels.length - 1, LEVELS_MAX); level++) {
    const at = labels.slice(level).join('.')
    const answer = await witness.ask(`_dmarc.${at}`, 'TXT')
    if (answer.kind === 'unknown') return { ...unknown(answer.reason), policy: null }
    const sight = sightOf(domain, at, answer)
    if (sight) return sight
  }
  return { verdict: 'absent', found: [], problems: [], policy: null }
}

function sightOf(
  domain: string,
  at: string,
  { records, ttlSeconds }: Extract<ObservedAnswer, { kind: 'answer' }>,
): DmarcSight | undefined {
  const found = textsOf(records).filter(text => /^\s*["“]?v\s*=\s*DMARC1\b/i.test(text))
  if (found.length === 0) return undefined
  const seen = found.filter(text => VERSION.test(text))
  if (seen.length > 1) {
    const problem = {
      code: 'several_dmarc',
      message: `There are ${seen.length} DMARC records at _dmarc.${at}; receivers then ignore all of them. Keep only one.`,
    }
    return { verdict: 'wrong', found, problems: [problem], ttlSeconds, policy: null }
  }
  const { policy, problems } = readPolicy(seen[0] ?? found[0]!, domain, at)
  return { verdict: policy ? 'right' : 'wrong', found, problems, ttlSeconds, policy }
}

function readPolicy(
  text: string,
  domain: string,
  at: string,
): { policy: DmarcPolicy | null; problems: Problem[] } {
  if (isQuoted(text)) return { policy: null, problems: [quotedProblem(text)] }
  if (startsBlank(text)) return { policy: null, problems: [blankProblem(text)] }
  const tags = tagsOf(text)
  const bad = (message: string) => ({ policy: null, problems: [{ code: 'dmarc_syntax', message }] })
  if (!VERSION.test(text)) return bad(`The DMARC record must begin with "v=DMARC1;", in this spelling.`)
  const [p, sp] = [tags.get('p')?.toLowerCase() ?? null, tags.get('sp')?.toLowerCase() ?? null]
  if (p === null || !POLICIES.has(p))
    return bad(
      `The DMARC record has ${p === null ? 'no policy' : `the unknown policy "${p}"`}: p= must be none, quarantine or reject.`,
    )
  if (sp !== null && !POLICIES.has(sp)) return bad(`sp=${sp} must be none, quarantine or reject.`)
  const rua = (tags.get('rua') ?? '')
    .split(',')
    .map(uri => uri.trim())
    .filter(Boolean)
  const inherited = at !== domain
  const policy = inherited ? (sp ?? p) : p
  return {
    policy: { domain: at, inherited, policy, p, sp, rua },
    problems: [...reportProblems(rua), ...alignmentProblems(tags)],
  }
}

function tagsOf(text: string): Map<string, string> {
  return new Map(
    text.split(';').flatMap(part => {
      const [, name, value] = /^\s*([a-z]+)\s*=\s*(.*?)\s*$/i.exec(part) ?? []
      return name === undefined ? [] : [[name.toLowerCase(), value!] as const]
    }),
  )
}

function reportProblems(rua: readonly string[]): Problem[] {
  return rua
    .filter(uri => !/^mailto:[^@\s]+@[^@\s]+$/i.test(uri))
    .map(uri => ({
      code: 'dmarc_rua',
      message: `rua=${uri} is not a valid report address: use mailto: followed by an e-mail address.`,
    }))
}

/**
 * The return path is at `send.<domain>`, so that SPF aligns in relaxed mode only. DKIM aligns in both modes.
 */
function alignmentProblems(tags: ReadonlyMap<string, string>): Problem[] {
  if (tags.get('aspf')?.toLowerCase() !== 's') return []
  const message =
    'aspf=s is too strict: the return path uses a subdomain, so SPF does not align and DMARC depends on DKIM alone. Remove aspf.'
  return [{ code: 'strict_spf_alignment', message }]
}
