/** `mailhorn doctor`: checks the installation and prints how to fix each issue. */
import type { DoctorFinding, DoctorReport, FindingStatus } from '../doctor/finding.ts'
import type { CliCommand, CommandInput } from './command.ts'
import { CommandError, printable } from './control/result.ts'

const WORDS: Record<FindingStatus, string> = { ok: 'ok', unknown: '?', warning: 'warning', failed: 'FAILED' }

export const doctorCommands: CliCommand[] = [
  {
    name: 'doctor show',
    usage: '',
    summary: 'Check port 25, reverse DNS, DNS zone, blocklists, certificate, clock and disk',
    details: '  Exits with code 1 if a check failed. Takes up to 20 seconds.',
    async run(input) {
      const report = await input.examine(
        await databaseOf(input),
        input.values['data-dir'] as string | undefined,
      )
      return { json: report, text: reportText(report), isBad: report.status === 'failed' }
    },
  },
]

/** Null if there is no database, as before the first start. */
async function databaseOf({ open }: CommandInput) {
  try {
    return (await open()).db
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return null
  }
}

function reportText({ findings, took_ms: tookMs }: DoctorReport): string {
  const width = Math.max(...findings.map(({ check }) => check.length))
  const lines = findings.flatMap(finding => lineOf(finding, width))
  const count = (status: FindingStatus) => findings.filter(finding => finding.status === status).length
  const sums = `${count('ok')} ok, ${count('warning')} warnings, ${count('failed')} failed, ${count('unknown')} unknown`
  return [...lines, '', `${sums}, in ${(tookMs / 1_000).toFixed(1)} s`].join('\n')
}

function lineOf({ check, subject, status, message, advice }: DoctorFinding, width: number): string[] {
  const about = subject === null ? '' : `${printable(subject)}: `
  const line = `${WORDS[status].padEnd(7)}  ${check.padEnd(width)}  ${about}${printable(message)}`
  return advice === null ? [line] : [line, `${' '.repeat(width + 11)}${printable(advice)}`]
}
