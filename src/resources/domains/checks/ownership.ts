/** The TXT record by which an account shows that a domain is its own. */
import type { DnsProbe } from './observation.ts'
import { unknown } from './observation.ts'
import { isQuoted, plain, quotedProblem, textsOf, valueProblems } from './values.ts'

const OURS = /^svc-verify/i

/** Others of its kind may stand beside it: another installation may have the domain, too. */
export function ownershipProbe(host: string, expected: string): DnsProbe {
  return async witness => {
    const answer = await witness.ask(host, 'TXT')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { ttlSeconds, records, chain } = answer
    const texts = textsOf(records).filter(text => OURS.test(plain(text)))
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
