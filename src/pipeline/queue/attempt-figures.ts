/**
 * Figures of delivery attempts for the metrics of the process: results by mailbox provider and bounce class,
 * durations, and errors of sessions. In: finished attempts, in the writer. Out: tallies, and the names by
 * which `app/metrics.ts` reads them.
 */
import type { HistogramReading } from '../../lib/histogram.ts'
import type { Tx } from '../../store/model/command.ts'
import type { AttemptOutcome } from '../../store/model/schema.ts'

/** Attributes of an attempt for the metrics. Each has few values. */
export interface MeasuredAttempt {
  /** Mailbox provider, `other`, `smart_host`, or `none` when no connection was needed. */
  provider: string
  /** Bounce class; `none` of a delivered message. */
  class: string
  /** Phases at which sessions ended before mail could be sent, one for each host that was tried. */
  sessionErrors: readonly string[]
}

interface FinishedAttempt {
  outcome: AttemptOutcome
  startedAt: number
  finishedAt: number
  measured?: MeasuredAttempt
}

const RESULTS = 'attempts'
const ERRORS = 'session-errors'
const DURATION = 'attempt-duration'
/** Upper bounds of durations, in seconds: from hosts nearby to the time limits of SMTP. */
const BOUNDS_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
/** Phases before the first command of a message. */
export const SESSION_PHASES = ['connect', 'banner', 'ehlo', 'starttls', 'tls', 'auth'] as const

/** Runs inside the command that finishes attempts. */
export function tallyAttempts(tx: Pick<Tx, 'tally'>, attempts: readonly FinishedAttempt[]): void {
  for (const { outcome, startedAt, finishedAt, measured } of attempts) {
    if (!measured) continue
    tx.tally(`${RESULTS} ${outcome} ${measured.provider} ${measured.class}`, 1)
    for (const phase of measured.sessionErrors) tx.tally(`${ERRORS} ${phase}`, 1)
    if (measured.provider === 'none') continue
    const ms = Math.max(0, finishedAt - startedAt)
    const bucket = BOUNDS_SECONDS.findIndex(bound => ms <= bound * 1_000)
    tx.tally(`${DURATION} ${bucket < 0 ? BOUNDS_SECONDS.length : bucket}`, 1)
    tx.tally(`${DURATION} ms`, ms)
  }
}

type Tallies = Readonly<Record<string, number>>
type Labelled = [Readonly<Record<string, string>>, number][]

/** Returns attempts by `result`, `provider` and `class`. */
export function attemptResults(tallies: Tallies): Labelled {
  return labelled(tallies, RESULTS, ([result = '', provider = '', why = '']) => ({
    ...{ result, provider, class: why },
  }))
}

/** Returns errors of sessions by `phase`, also of those that have not occurred. */
export function sessionErrors(tallies: Tallies): Labelled {
  return SESSION_PHASES.map(phase => [{ phase }, tallies[`${ERRORS} ${phase}`] ?? 0])
}

/** Returns the durations of attempts that reached a host or tried to. */
export function attemptDurations(tallies: Tallies): HistogramReading {
  const counts = [...BOUNDS_SECONDS, Number.POSITIVE_INFINITY].map((_, i) => tallies[`${DURATION} ${i}`] ?? 0)
  return { bounds: BOUNDS_SECONDS, counts, sum: (tallies[`${DURATION} ms`] ?? 0) / 1_000 }
}

function labelled(
  tallies: Tallies,
  figure: string,
  labelsOf: (parts: string[]) => Labelled[number][0],
): Labelled {
  return Object.entries(tallies)
    .filter(([name]) => name.startsWith(`${figure} `))
    .map(([name, count]) => [labelsOf(name.slice(figure.length + 1).split(' ')), count])
}
