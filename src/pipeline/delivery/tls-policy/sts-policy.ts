/** Parses MTA-STS policies (RFC 8461): the TXT record that announces a policy, and the policy file. */

export interface StsRules {
  mode: 'enforce' | 'testing' | 'none'
  /** Host names in lower case, or `*.` followed by a name. */
  mx: readonly string[]
  maxAgeSeconds: number
}

/** One year (RFC 8461 §3.2). */
const POLICY_AGE_SECONDS_MAX = 31_557_600
const RECORD = /^v=STSv1[ \t]*;/
const ID = /^id[ \t]*=[ \t]*([A-Za-z0-9]{1,32})$/
const LINE = /^([A-Za-z0-9][A-Za-z0-9_.-]{0,31})[ \t]*:[ \t]*(.*?)[ \t]*$/
const MX = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * Returns the id of the policy. Undefined when there is no record, more than one, or an invalid one
 * (RFC 8461 §3.1).
 */
export function stsIdOf(texts: readonly string[]): string | undefined {
  const records = texts.filter(text => RECORD.test(text))
  if (records.length !== 1) return undefined
  const fields = records[0]!.split(';').map(field => field.trim())
  const ids = fields.flatMap(field => ID.exec(field)?.[1] ?? [])
  return ids.length === 1 ? ids[0] : undefined
}

/**
 * Parses the policy file (RFC 8461 §3.2). Unknown fields are ignored; of repeated fields the first one
 * counts.
 */
export function parseStsPolicy(text: string): StsRules | { fault: string } {
  const fields = new Map<string, string>()
  const mx: string[] = []
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '') continue
    const [, name, value] = LINE.exec(line) ?? []
    if (name === undefined) return { fault: `not a field: ${JSON.stringify(line.slice(0, 80))}` }
    if (name === 'mx') mx.push(value!.toLowerCase())
    else if (!fields.has(name)) fields.set(name, value!)
  }
  if (fields.get('version') !== 'STSv1') return { fault: 'the version is not STSv1' }
  const mode = fields.get('mode')
  if (mode !== 'enforce' && mode !== 'testing' && mode !== 'none')
    return { fault: 'the mode is not enforce, testing or none' }
  const maxAge = fields.get('max_age') ?? ''
  if (!/^\d{1,10}$/.test(maxAge)) return { fault: 'max_age is not a number of seconds' }
  const bad = mx.find(pattern => !MX.test(pattern))
  if (bad !== undefined) return { fault: `not a host name: ${JSON.stringify(bad.slice(0, 80))}` }
  if (mx.length === 0 && mode !== 'none') return { fault: 'no mx is named' }
  return { mode, mx, maxAgeSeconds: Math.min(Number(maxAge), POLICY_AGE_SECONDS_MAX) }
}

/**
 * Whether the policy names the MX host. The `*` of a pattern stands for one label, the leftmost
 * (RFC 8461 §4.1).
 */
export function fitsPolicy({ mx }: Pick<StsRules, 'mx'>, host: string): boolean {
  const parent = `*${host.slice(host.indexOf('.'))}`
  return mx.some(pattern => pattern === host || pattern === parent)
}
