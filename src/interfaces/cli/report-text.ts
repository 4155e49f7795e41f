/** Report of the doctor as text. */
import type { DoctorFinding, DoctorReport, FindingStatus } from '../doctor/finding.ts'
import { printable } from './control/result.ts'

const WORDS: Record<FindingStatus, string> = { ok: 'ok', unknown: '?', warning: 'warning', failed: 'FAILED' }

/** Returns the failed checks with their remedies, while others wait for them. */
export function failuresText({ findings }: DoctorReport): string {
  const failed = findings.filter(({ status }) => status === 'failed')
  return ['Waiting until these checks pass:', ...linesOf(failed), ''].join('\n')
}

export function reportText({ findings, took_ms: tookMs }: DoctorReport): string {
  const count = (status: FindingStatus) => findings.filter(finding => finding.status === status).length
  const sums = `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('unknown')} unknown`
  return [...linesOf(findings), '', `${sums}, in ${(tookMs / 1_000).toFixed(1)} s`].join('\n')
}

function linesOf(findings: readonly DoctorFinding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length))
  return findings.flatMap(({ check, subject, status, message, advice }) => {
    const about = subject === null ? '' : `${printable(subject)}: `
    const line = `${WORDS[status].padEnd(7)}  ${check.padEnd(width)}  ${about}${printable(message)}`
    return advice === null ? [line] : [line, `${' '.repeat(width + 11)}${printable(advice)}`]
  })
}
