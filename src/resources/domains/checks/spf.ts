/**
 * Checks the SPF record of the return path, which must authorize the addresses of this service (RFC 7208).
 */
import type { DnsProbe, Problem } from './observation.ts'
import { unknown } from './observation.ts'
import { isSpf, parseSpf } from './spf-record.ts'
import { blankProblem, isQuoted, quotedProblem, startsBlank, textsOf } from './values.ts'

/** @param include provider host */
export function spfProbe(host: string, include: string): DnsProbe {
  return async witness => {
    const answer = await witness.ask(host, 'TXT')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { ttlSeconds } = answer
    const found = textsOf(answer.records).filter(text => /^\s*["“]?\s*v=spf1(?:["”\s]|$)/i.test(text))
    if (found.length === 0) return { verdict: 'absent', found, problems: [], ttlSeconds }
    const problems = problemsOf(found, host, include)
    return { verdict: problems.some(isFatal) ? 'wrong' : 'right', found, problems, ttlSeconds }
  }
}

const HARMLESS = new Set(['passes_everybody'])

function isFatal({ code }: Problem): boolean {
  return !HARMLESS.has(code)
}

/**
 * Receivers discard a record that does not begin with `v=spf1` and a space, and more than one of the others
 * is an error (RFC 7208 §4.5).
 */
function problemsOf(found: readonly string[], host: string, include: string): Problem[] {
  const seen = found.filter(isSpf)
  if (seen.length > 1)
    return [
      {
        code: 'several_spf',
        message: `${host} has ${seen.length} SPF records, which makes all of them invalid (permerror). Merge them into one.`,
      },
    ]
  const [text] = seen
  return text === undefined ? [beginningProblem(found[0]!)] : termProblems(text, include)
}

function beginningProblem(text: string): Problem {
  if (isQuoted(text)) return quotedProblem(text)
  if (startsBlank(text)) return blankProblem(text)
  return { code: 'spf_syntax', message: `${text.slice(0, 60)} is not an SPF record.` }
}

function termProblems(text: string, include: string): Problem[] {
  const { terms, faults } = parseSpf(text)
  const problems = faults.map(fault => ({
    code: 'spf_syntax',
    message: `"${fault}" is not valid in an SPF record and makes it invalid (permerror).`,
  }))
  const ours = terms.findIndex(
    ({ name, qualifier, value }) =>
      name === 'include' && qualifier === '+' && value.toLowerCase().replace(/\.$/, '') === include,
  )
  const all = terms.findIndex(({ name }) => name === 'all')
  const redirect = terms.find(({ name }) => name === 'redirect')
  const isRedirected = all < 0 && redirect?.value.toLowerCase().replace(/\.$/, '') === include
  if (ours < 0 && !isRedirected)
    problems.push({
      code: 'include_missing',
      message: `The SPF record does not include this service: add include:${include} before "all".`,
    })
  if (ours >= 0 && all >= 0 && all < ours)
    problems.push({
      code: 'include_after_all',
      message: `include:${include} is after "all" and is therefore ignored. Move it before "all".`,
    })
  if (all >= 0 && terms[all]!.qualifier === '+')
    problems.push({
      code: 'passes_everybody',
      message: 'The SPF record allows every server ("+all"): end it with "~all".',
    })
  return problems
}
