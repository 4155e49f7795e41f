/** Reports sign-in attempts to the operator: a counter, and a log line while attempts are delayed. */
import type { Clock } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import { type ThrottledLog, throttledLog } from '../../lib/throttled-log.ts'
import type { GuessLimit, GuessVerdict } from './guess-guard.ts'

interface Client {
  /** Address of the client as in `socket.remoteAddress`. */
  address: string
  /** User of the attempt as named in the log; null if there is no such user. */
  user: string | null
}

export interface SignInReport {
  checked(result: 'right' | 'wrong'): void
  /**
   * @param limit reason of the refusal: a counter of wrong guesses, or a full queue of password checks
   * @param waitMs time until the next attempt is checked, if known
   */
  throttled(client: Client, limit: GuessLimit | 'queue', waitMs?: number): void
}

/**
 * Logs at once, and then at most once per minute and limit, with the number of attempts.
 *
 * @param protocol interface of the sign-in: HTTP API or SMTP submission
 */
export function createSignInReport(
  { metrics, log, clock }: { metrics: Metrics; log: Log; clock: Pick<Clock, 'monotonic'> },
  protocol: 'http' | 'smtp',
): SignInReport {
  const attempts = metrics.counter('sign_in_attempts', 'Attempts to sign in over HTTP and SMTP, by result.', [
    ...['right', 'wrong', 'throttled'].map(result => ({ protocol, result })),
  ])
  const lines = new Map<string, ThrottledLog>()
  const lineOf = (limit: string) => {
    const line =
      lines.get(limit) ??
      throttledLog({ log, clock }, 'warn', 'sign_in_throttled', 'Sign-in attempts are throttled')
    lines.set(limit, line)
    return line
  }
  return {
    checked: result => attempts.add({ protocol, result }),
    throttled({ address, user }, limit, waitMs) {
      attempts.add({ protocol, result: 'throttled' })
      const wait = waitMs === undefined ? {} : { retry_in_s: Math.ceil(waitMs / 1000) }
      lineOf(limit)({ event: 'sign_in_throttled', protocol, limit, address, user, ...wait })
    },
  }
}

/** Reports the verdict of the guess guard on an attempt. */
export function reportVerdict(report: SignInReport, verdict: GuessVerdict, client: Client): void {
  if (verdict.kind === 'too-many') report.throttled(client, verdict.limit, verdict.waitMs)
  else report.checked(verdict.kind)
}
