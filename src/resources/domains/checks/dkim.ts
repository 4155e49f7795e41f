/** Checks the CNAME of a selector, which must point to the key that signs (RFC 6376 §3.6.2). */
import type { DnsObserver, ObservedAnswer } from '../../../protocols/dns/dns-observer.ts'
import type { DnsProbe, Observation, Problem } from './observation.ts'
import { unknown } from './observation.ts'
import { isQuoted, plain, quotedProblem, targetProblems, textsOf } from './values.ts'

interface SelectorProbe {
  domain: string
  host: string
  /** Target of the CNAME. */
  target: string
  /** Public key in base64, as in the `p=` tag. */
  publicKey: string
  /** Whether the provider zone cannot be delegated (RFC 2606), so that only the CNAME can be checked. */
  laboratory: boolean
}

type Answer = Extract<ObservedAnswer, { kind: 'answer' }>

export function selectorProbe(selector: SelectorProbe): DnsProbe {
  const { host, target, publicKey, laboratory } = selector
  return async (witness, isAuthority) => {
    const answer = await witness.ask(host, 'TXT')
    if (answer.kind === 'unknown') return unknown(answer.reason)
    const { ttlSeconds, chain } = answer
    const texts = textsOf(answer.records)
    if (texts.some(text => publicKeyOf(text) === publicKey))
      return { verdict: 'right', found: texts, problems: [], ttlSeconds }
    if (texts.length > 0)
      return {
        verdict: 'wrong',
        found: texts,
        problems: texts.flatMap(text => textProblems(text, selector)),
        ttlSeconds,
      }
    if (chain.length === 0) return withoutCname(witness, host, answer)
    const found = [chain[0]!]
    if (!chain.includes(target))
      return { verdict: 'wrong', found, problems: aliasProblems(chain[0]!, selector), ttlSeconds }
    // the key is in the provider zone, which the customer's name servers do not serve
    if (isAuthority || laboratory) return { verdict: 'right', found, problems: [], ttlSeconds }
    return { verdict: 'absent', found, problems: [unpublished(target)], ttlSeconds }
  }
}

/** A provider that flattens the CNAME or proxies the host returns addresses instead. */
async function withoutCname(
  witness: DnsObserver,
  host: string,
  { exists, ttlSeconds }: Answer,
): Promise<Observation> {
  const absent: Observation = { verdict: 'absent', found: [], problems: [], ttlSeconds }
  if (!exists) return absent
  const addresses = await witness.ask(host, 'A')
  if (addresses.kind === 'unknown') return absent
  const found = addresses.records.flatMap(record => (record.type === 'A' ? [record.address] : []))
  if (found.length === 0) return absent
  const problem = {
    code: 'flattened',
    message: `${host} has addresses (${found.join(', ')}) instead of the CNAME: it is proxied or flattened by the DNS provider, or matches a wildcard. Set the record to "DNS only", without a proxy.`,
  }
  return { verdict: 'wrong', found, problems: [problem], ttlSeconds }
}

function textProblems(text: string, { host, target }: SelectorProbe): Problem[] {
  const bare = plain(text).replace(/\.$/, '').toLowerCase()
  if (bare === target)
    return [
      {
        code: 'wrong_type',
        message: `${host} is a TXT record with the name ${target}; it must be a CNAME record that points to it.`,
      },
    ]
  if (isQuoted(text)) return [quotedProblem(text)]
  if (publicKeyOf(text) === '') return [{ code: 'revoked_key', message: `${host} has a revoked key.` }]
  const message = `${host} has a different key from the one that signs. Replace the record with a CNAME to ${target}.`
  return [{ code: 'wrong_key', message }]
}

function aliasProblems(found: string, { domain, host, target }: SelectorProbe): Problem[] {
  const problems = targetProblems(found, target, domain)
  if (problems.length > 0) return problems
  return [{ code: 'other_target', message: `${host} points to ${found}; it must point to ${target}.` }]
}

function unpublished(target: string): Problem {
  return {
    code: 'key_not_visible',
    message: `The CNAME is right, but the key at ${target} is not visible: the name servers of the provider zone do not answer for it. The operator of this service must correct that.`,
  }
}

/** Returns the `p=` tag of a key record (RFC 6376 §3.6.1) without whitespace from folding. */
function publicKeyOf(text: string): string | undefined {
  return /(?:^|;)\s*p\s*=([^;]*)/.exec(text)?.[1]?.replace(/\s+/g, '')
}
