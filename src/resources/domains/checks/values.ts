/** Describes how the value of a record differs from the expected one, and the likely cause. */
import type { DnsRecord } from '../../../protocols/dns/wire.ts'
import type { Problem } from './observation.ts'

/** Removes the spaces and quotes that DNS panels add. */
export function plain(text: string): string {
  return text.replace(/["“”]/g, '').replace(/\s+/g, ' ').trim()
}

/** Returns the texts of TXT records. */
export function textsOf(records: readonly DnsRecord[]): string[] {
  return records.flatMap(record => (record.type === 'TXT' ? [record.text] : []))
}

/** Describes the difference between a value and the expected value. */
export function valueProblems(found: string, expected: string): Problem[] {
  const bare = plain(found)
  const problems: Problem[] = []
  if (isQuoted(found)) problems.push(quotedProblem(found))
  if (bare.length > expected.length && bare.startsWith(expected))
    problems.push({
      code: 'trailing_characters',
      message: `The value has "${bare.slice(expected.length)}" after its end. Remove that.`,
    })
  else if (bare.length > 10 && expected.startsWith(bare) && bare !== expected)
    problems.push({ code: 'cut_off', message: `The value "${bare}" is truncated. Enter the whole value.` })
  else if (bare !== expected && bare.toLowerCase() === expected.toLowerCase())
    problems.push({ code: 'letter_case', message: 'The value differs in letter case.' })
  return problems
}

export function isQuoted(text: string): boolean {
  return /^\s*["“]|["”]\s*$/.test(text)
}

export function quotedProblem(text: string): Problem {
  return {
    code: 'quoted',
    message: `The value was entered with quotes (${text.trim().slice(0, 100)}). Enter it without quotes: the DNS provider adds them where they are needed.`,
  }
}

/** Tells whether a record begins with a blank, behind which receivers do not look for its version. */
export function startsBlank(text: string): boolean {
  return /^\s/.test(text)
}

export function blankProblem(text: string): Problem {
  return {
    code: 'leading_blank',
    message: `The value begins with a blank, so that receivers ignore it (${JSON.stringify(text.slice(0, 60))}). Enter it without the blank.`,
  }
}

/** Describes a wrong target name. DNS panels often append the zone to a name without a final dot. */
export function targetProblems(found: string, expected: string, domain: string): Problem[] {
  const added = found.startsWith(`${expected}.`) ? found.slice(expected.length + 1) : undefined
  if (added === undefined || !`.${domain}`.endsWith(`.${added}`)) return valueProblems(found, expected)
  const message = `The target is ${found}: the DNS provider appended the zone to it. End the value with a dot: "${expected}."`
  return [{ code: 'doubled_target', message }]
}
