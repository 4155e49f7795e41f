/** What an examination of the installation finds, and all findings together. */
import { type Clock, within } from '../../lib/clock.ts'

/** `unknown`: it could not be found out. */
export type FindingStatus = 'ok' | 'unknown' | 'warning' | 'failed'

/** In wire spelling. */
export interface DoctorFinding {
  check: string
  /** What it is about: an address, a name, a list; null for the installation as a whole. */
  subject: string | null
  status: FindingStatus
  message: string
  /** What to do; null where nothing is to be done. */
  advice: string | null
}

export interface Examination {
  check: string
  /** Ends soon after the signal. */
  examine(signal: AbortSignal): Promise<DoctorFinding[]>
}

/** In wire spelling. */
export interface DoctorReport {
  /** The worst of all. */
  status: FindingStatus
  checked_at: string
  took_ms: number
  findings: DoctorFinding[]
}

/** Of a whole examination. */
const LIMIT_MS = 20_000
const FROM_BEST = ['ok', 'unknown', 'warning', 'failed'] as const

/** All at once. What takes too long, or goes wrong inside, is a finding, too. */
export async function examineAll(examinations: readonly Examination[], clock: Clock): Promise<DoctorReport> {
  const beganAt = clock.monotonic()
  const checkedAt = clock.now()
  const over = new AbortController()
  const found = await Promise.all(
    examinations.map(async ({ check, examine }) => {
      const examining = examine(over.signal).catch(error => [
        unknownFinding(check, null, `It could not be looked at: ${(error as Error).message}.`),
      ])
      const findings = await within(clock, LIMIT_MS, examining)
      return findings ?? [unknownFinding(check, null, `It took longer than ${LIMIT_MS / 1_000} s.`)]
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
