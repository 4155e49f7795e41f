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
    const faults = texts.filter(text => publicKeyOf(text) === publicKey).map(faultOf)
    if (faults.includes(undefined)) return { verdict: 'right', found: texts, problems: [], ttlSeconds }
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

function textProblems(text: string, { host, target, publicKey }: SelectorProbe): Problem[] {
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
  const fault = publicKeyOf(text) === publicKey ? faultOf(text) : undefined
  if (fault !== undefined)
    return [
      { code: 'dkim_syntax', message: `${host} has the right key, but receivers do not use it: ${fault}.` },
    ]
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
  return tagsOf(text)
    .find(({ name }) => name === 'p')
    ?.value.replace(/\s+/g, '')
}

/** Returns why verifiers discard a key record, or must not use its key for mail (RFC 6376 §3.2, §3.6.1). */
function faultOf(text: string): string | undefined {
  const tags = tagsOf(text)
  const tag = (wanted: string) => tags.find(({ name }) => name === wanted)?.value
  const twice = tags.find(({ name }, i) => tags.findIndex(other => other.name === name) !== i)
  if (twice) return `the tag ${twice.name}= occurs twice`
  if (tags.some(({ name }) => !/^[a-z][a-z0-9_]*$/i.test(name))) return 'it has text that is not a tag'
  const version = tags.findIndex(({ name }) => name === 'v')
  if (version > 0) return 'v= must be the first tag'
  if (version === 0 && tags[0]!.value !== 'DKIM1') return 'the version must be written "v=DKIM1"'
  if (!/^(?:rsa|ed25519)$/i.test(tag('k') ?? 'rsa')) return `the key type k=${tag('k')} is unknown`
  if (!listed(tag('h'), ['sha256'])) return `h=${tag('h')} excludes sha256`
  if (!listed(tag('s'), ['*', 'email'])) return `s=${tag('s')} excludes email`
  return undefined
}

/** Tells whether a list with colons has one of the values, or is absent. */
function listed(list: string | undefined, values: readonly string[]): boolean {
  return list === undefined || list.split(':').some(item => values.includes(item.trim().toLowerCase()))
}

/** Splits a tag list (RFC 6376 §3.2). A part without `=` is a tag without a name. */
function tagsOf(text: string): { name: string; value: string }[] {
  return text
    .replace(/;\s*$/, '')
    .split(';')
    .map(part => {
      const [, name = '', value = ''] = /^\s*([^\s=]+)\s*=(.*)$/s.exec(part) ?? []
      return { name, value: value.trim() }
    })
}
