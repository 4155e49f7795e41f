/**
 * Combines the observations of several DNS servers into the check of one record, as the API shows it.
 *
 * In: one observation per resolver and name server. Out: a `Check` with status, values and problems, and a
 * `Standing` that decides the status of the domain. Called by `verify.ts` and the checks in this folder.
 */
import type { DnsObserver } from '../../../protocols/dns/dns-observer.ts'

/** `pending`: not found, or no answer. `failed`: another value was found. */
export type CheckStatus = 'verified' | 'pending' | 'failed'

/** Problem or hint for users, with a code for programs. */
export interface Problem {
  code: string
  message: string
}

/**
 * Observation by one DNS server. `absent` and `wrong` are definite answers; `unknown` means that there was no
 * answer.
 */
export interface Observation {
  verdict: 'right' | 'wrong' | 'absent' | 'unknown'
  found: string[]
  problems: Problem[]
  /** Time for which other resolvers may keep a cached answer. */
  ttlSeconds?: number | undefined
}

export interface Seen {
  server: string
  status: CheckStatus
  found: string[]
}

/** Check in the spelling of the API, in which it is also stored. */
export interface Check {
  status: CheckStatus
  expected: string
  found: string[]
  /** All problems as one text; null if there are none. */
  advice: string | null
  problems: Problem[]
  resolvers: Seen[]
  name_servers: Seen[]
}

/**
 * Result that counts for the status of the domain. `gone` requires definite answers, and more of them than
 * lost ones.
 */
export type Standing = 'right' | 'gone' | 'unknown'

export interface Observers {
  resolvers: readonly DnsObserver[]
  /** Observations of the authoritative name servers that answered. */
  authorities: readonly DnsObserver[]
}

interface Look {
  server: string
  sight: Observation
}

export interface Looks {
  resolvers: Look[]
  authorities: Look[]
}

export type DnsProbe = (witness: DnsObserver, isAuthority: boolean) => Promise<Observation>

export async function observe(probe: DnsProbe, { resolvers, authorities }: Observers): Promise<Looks> {
  const ask = (witnesses: readonly DnsObserver[], areAuthorities: boolean) =>
    Promise.all(
      witnesses.map(async witness => ({
        server: witness.server,
        sight: await probe(witness, areAuthorities),
      })),
    )
  const [byResolvers, byAuthorities] = await Promise.all([ask(resolvers, false), ask(authorities, true)])
  return { resolvers: byResolvers, authorities: byAuthorities }
}

/**
 * The status depends on the resolvers, because receivers use resolvers. One resolver that sees the record is
 * sufficient, since others may have cached an older answer.
 */
export function checkOf(expected: string, looks: Looks, more: readonly Problem[] = []): Check {
  const status = bestOf(looks.resolvers.map(statusOf))
  const found = union(looks.resolvers)
  const problems = [...problemsOf(looks), ...more]
  return {
    status,
    expected,
    found: found.length > 0 || status === 'verified' ? found : union(looks.authorities),
    advice: adviceOf(problems),
    problems,
    resolvers: looks.resolvers.map(seenOf),
    name_servers: looks.authorities.map(seenOf),
  }
}

/** Adds problems to a check. The status never improves. */
export function withProblems(check: Check, more: readonly Problem[], status = check.status): Check {
  const problems = unique([...check.problems, ...more])
  return { ...check, status, problems, advice: adviceOf(problems) }
}

export function standingOf({ resolvers, authorities }: Looks): Standing {
  const has = (looks: readonly Look[], verdict: Observation['verdict']) =>
    looks.filter(({ sight }) => sight.verdict === verdict).length
  if (has(resolvers, 'right') > 0) return 'right'
  if (has(authorities, 'right') > 0) return 'unknown'
  const lost = has(resolvers, 'unknown')
  return resolvers.length - lost > lost ? 'gone' : 'unknown'
}

function bestOf(statuses: readonly CheckStatus[]): CheckStatus {
  if (statuses.includes('verified')) return 'verified'
  return statuses.includes('failed') ? 'failed' : 'pending'
}

export function unknown(reason: string): Observation {
  return { verdict: 'unknown', found: [], problems: [{ code: 'no_answer', message: reason }] }
}

function statusOf({ sight: { verdict } }: Look): CheckStatus {
  if (verdict === 'right') return 'verified'
  return verdict === 'wrong' ? 'failed' : 'pending'
}

function seenOf(seen: Look): Seen {
  return { server: seen.server, status: statusOf(seen), found: seen.sight.found }
}

function union(looks: readonly Look[]): string[] {
  return [...new Set(looks.flatMap(({ sight }) => sight.found))]
}

/**
 * Differences between servers are more specific than the observation of each of them, so they are reported
 * first.
 */
function problemsOf({ resolvers, authorities }: Looks): Problem[] {
  const isRight = ({ sight }: Look) => sight.verdict === 'right'
  const isClean = ({ sight }: Look) => sight.verdict === 'absent' || sight.verdict === 'wrong'
  const knowing = authorities.filter(isRight)
  const [late, lacking] = [resolvers.filter(isClean), authorities.filter(isClean)]
  const seenSomewhere = resolvers.some(isRight) || knowing.length > 0
  const problems = [...resolvers, ...authorities]
    .filter(each => (seenSomewhere ? isRight(each) : isClean(each)))
    .flatMap(({ sight }) => sight.problems)
  if (knowing.length > 0 && lacking.length > 0) problems.push(disagreement(knowing, lacking))
  else if (knowing.length > 0 && late.length > 0) problems.push(...late.map(lateness))
  else if (resolvers.some(isRight) && lacking.length > 0)
    problems.push(vanishing(resolvers.filter(isRight), lacking))
  for (const { server, sight } of [...resolvers, ...authorities])
    if (sight.verdict === 'unknown')
      problems.push(
        ...sight.problems.map(({ code, message }) => ({ code, message: `${server} ${message}.` })),
      )
  return unique(problems)
}

function lateness({ server, sight: { ttlSeconds } }: Look): Problem {
  const wait = ttlSeconds === undefined ? 'until its copy expires' : `for up to ${timeText(ttlSeconds)}`
  return {
    code: 'old_answer_cached',
    message: `Your name servers have the record, but the resolver ${server} still returns a cached answer, ${wait}. Wait; no action is needed.`,
  }
}

function vanishing(knowing: readonly Look[], lacking: readonly Look[]): Problem {
  const ttls = knowing.flatMap(({ sight }) => sight.ttlSeconds ?? [])
  const left = ttls.length === 0 ? 'soon' : `in ${timeText(Math.max(...ttls))} at the latest`
  return {
    code: 'vanishing',
    message: `Your name servers no longer have the record (${names(lacking)}); resolvers drop it ${left}. Add it again.`,
  }
}

function disagreement(knowing: readonly Look[], lacking: readonly Look[]): Problem {
  return {
    code: 'name_servers_disagree',
    message: `The record is at ${names(knowing)}, but not at ${names(lacking)}: the name servers of a zone must return the same records. A new record may take some time to reach all of them.`,
  }
}

function names(looks: readonly Look[]): string {
  return looks.map(({ server }) => server).join(', ')
}

function timeText(seconds: number): string {
  if (seconds < 90) return `${seconds} s`
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3_600)} h`
}

function adviceOf(problems: readonly Problem[]): string | null {
  return problems.length === 0 ? null : problems.map(({ message }) => message).join(' ')
}

function unique(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map(problem => [problem.message, problem])).values()]
}
