/** Parses SPF records (RFC 7208 §4.6.1) into terms and errors. */

export interface SpfTerm {
  /** `+` if none is written. */
  qualifier: '+' | '-' | '~' | '?'
  /** Name in lower case: `include`, `all`, `redirect`, … */
  name: string
  isModifier: boolean
  /** Text after `:` or `=`; empty if there is none. */
  value: string
}

interface SpfRecord {
  terms: SpfTerm[]
  /** Terms that make the record invalid (permerror), as written. */
  faults: string[]
}

const VERSION = /^v=spf1(?: |$)/i
const MECHANISM = /^([+?~-]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:([:/])(.*))?$/i
const MODIFIER = /^([a-z][a-z0-9._-]*)=(.*)$/i
const NEEDS_VALUE = new Set(['include', 'exists', 'ip4', 'ip6', 'redirect'])

export function isSpf(text: string): boolean {
  return VERSION.test(text)
}

/** @param text text for which `isSpf` returns true */
export function parseSpf(text: string): SpfRecord {
  const words = text.replace(/ +$/, '').split(/ +/).slice(1)
  const record: SpfRecord = { terms: [], faults: [] }
  for (const word of words) {
    const term = parseTerm(word)
    if (!term || (NEEDS_VALUE.has(term.name) && term.value === '')) record.faults.push(word)
    else record.terms.push(term)
  }
  return record
}

function parseTerm(word: string): SpfTerm | undefined {
  const mechanism = MECHANISM.exec(word)
  if (mechanism) {
    const [, qualifier, name, sign, rest = ''] = mechanism
    const term = { qualifier: (qualifier || '+') as '+', name: name!.toLowerCase(), isModifier: false }
    return { ...term, value: sign === ':' ? rest : '' }
  }
  const modifier = MODIFIER.exec(word)
  if (!modifier) return undefined
  return { qualifier: '+', name: modifier[1]!.toLowerCase(), isModifier: true, value: modifier[2]! }
}
