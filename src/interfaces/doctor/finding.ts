/**
 * Runs the checks of the doctor. In: a list of `Examination`s. Out: a report with one or more findings per
 * check. Called by `app/doctor.ts` for the dashboard, the API and the command line.
 */
import { type Clock, within } from '../../lib/clock.ts'

/** `unknown` means that the check could not be completed. */
export type FindingStatus = 'ok' | 'unknown' | 'warning' | 'failed'

/** Finding in the spelling of the API. */
export interface DoctorFinding {
  check: string
  /** Subject of the finding: an address, a name or a blocklist; null for the installation as a whole. */
  subject: string | null
  status: FindingStatus
  message: string
  /** How to fix the issue; null if there is none. */
  advice: string | null
}

export interface Examination {
  check: string
  /** Runs the check. It must end soon after the signal aborts. */
  examine(signal: AbortSignal): Promise<DoctorFinding[]>
}

/** Report in the spelling of the API. */
export interface DoctorReport {
  /** The most severe status of all findings. */
  status: FindingStatus
  checked_at: string
  took_ms: number
  findings: DoctorFinding[]
}

/** Time limit of one check. */
const LIMIT_MS = 20_000
const FROM_BEST = ['ok', 'unknown', 'warning', 'failed'] as const

/** Runs all checks concurrently. A check that times out or throws becomes a finding with status `unknown`. */
export async function examineAll(examinations: readonly Examination[], clock: Clock): Promise<DoctorReport> {
  const beganAt = clock.monotonic()
  const checkedAt = clock.now()
  const over = new AbortController()
  const found = await Promise.all(
    examinations.map(async ({ check, examine }) => {
      const examining = examine(over.signal).catch(error => [
        unknownFinding(check, null, `The check failed: ${(error as Error).message}.`),
      ])
      const findings = await within(clock, LIMIT_MS, examining)
      return findings ?? [unknownFinding(check, null, `The check timed out after ${LIMIT_MS / 1_000} s.`)]
    }),
  )
  over.abort(new Error('the examination is over'))
  const findings = found.flat()
  return {
    status: FROM_BEST.findLast(status => findings.some(finding => finding.status === status)) ?? 'ok',
    checked_at: new Date(checkedAt).toISOString(),
    took_ms: Math.round(clock.monotonic() - beganAt),
    findings,
  }
}

export function good(check: string, subject: string | null, message: string): DoctorFinding {
  return { check, subject, status: 'ok', message, advice: null }
}

export function unknownFinding(check: string, subject: string | null, message: string): DoctorFinding {
  return { check, subject, status: 'unknown', message, advice: null }
}

export function bad(
  status: 'warning' | 'failed',
  check: string,
  subject: string | null,
  message: string,
  advice: string,
): DoctorFinding {
  return { check, subject, status, message, advice }
}
