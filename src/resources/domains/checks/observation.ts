/**
 * What several witnesses see of one record, and what follows from all of it: a check, as the API shows it.
 */
import type { DnsObserver } from '../../../protocols/dns/dns-observer.ts'

/** `pending`: not there yet, or no answer; `failed`: something else is there. */
export type CheckStatus = 'verified' | 'pending' | 'failed'

/** Something to be put right or to know, for people, with a word for programs. */
export interface Problem {
  code: string
  message: string
}

/** What one witness sees. `absent` and `wrong` are clean answers; with `unknown` there was none. */
export interface Observation {
  verdict: 'right' | 'wrong' | 'absent' | 'unknown'
  found: string[]
  problems: Problem[]
  /** How long others may go on hearing the same. */
  ttlSeconds?: number | undefined
}

export interface Seen {
  server: string
  status: CheckStatus
  found: string[]
}

/** In wire spelling: it is stored and shown as it is. */
export interface Check {
  status: CheckStatus
  expected: string
  found: string[]
  /** All problems in one text; null where there are none. */
  advice: string | null
  problems: Problem[]
  resolvers: Seen[]
  name_servers: Seen[]
}

/** Whether the record stands: `gone` takes clean answers, and more of them than were lost. */
export type Standing = 'right' | 'gone' | 'unknown'

export interface Observers {
  resolvers: readonly DnsObserver[]
  /** The zone's own name servers, as far as they answer. */
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

export async function look(probe: DnsProbe, { resolvers, authorities }: Observers): Promise<Looks> {
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
 * The resolvers decide: mail is judged by what they see. One that sees the record is enough, others may be
 * late.
 */
export function checkOf(expected: string, looks: Looks, more: readonly Problem[] = []): Check {
  const status = mostHopeful(looks.resolvers.map(statusOf))
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

/** The same check with more to say, and no better than before. */
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

export function mostHopeful(statuses: readonly CheckStatus[]): CheckStatus {
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

/** What differs between witnesses says more than what each of them sees. */
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
