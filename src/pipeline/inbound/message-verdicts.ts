/**
 * Verdicts on received mail, within a time limit. The checks are passed in (`judge`); without them, or after
 * an error or timeout, the verdicts say so.
 */
import { type Clock, within } from '../../lib/clock.ts'
import type { Log } from '../../lib/log.ts'
import type { InboundMessageRow, Verdict } from '../../store/model/schema/inbound.ts'

/** A message to be checked: its envelope, and where its bytes are. */
interface MailToJudge {
  /** Envelope sender; empty for the null sender. */
  sender: string
  recipients: readonly string[]
  /** Address of the client; null for local delivery, which uses no network. */
  clientIp: string | null
  helo: string | null
  /** TLS version such as `TLSv1.3`; null for plain text. */
  tls: string | null
  /** Time of receipt, in ms since the epoch. */
  receivedAt: number
  sizeBytes: number
  /** Hash of the raw message in the store. */
  rawHash: Uint8Array
  /** The whole message if it is small and in memory; null if it must be read from the store. */
  bytes: Uint8Array | null
}

export interface Verdicts {
  spam: Verdict
  virus: Verdict
  spf: Verdict
  dkim: Verdict
  dmarc: Verdict
  /** Findings behind the verdicts, as the API shows them. */
  detail: object | null
  /** Value of an `Authentication-Results` field. */
  authenticationResults: string | null
}

/** Checks a message after it has been parsed and before it is listed. */
export type JudgeMail = (mail: MailToJudge) => Promise<Verdicts>

interface JudgingOptions {
  /** Runs the checks; null where none is configured. */
  judge: JudgeMail | null
  clock: Clock
  log: Log
}

/** Overall time limit. Each check has a shorter limit of its own. */
const JUDGING_MS_MAX = 90_000

/** Never rejects. */
export function createJudging({ judge, clock, log }: JudgingOptions): JudgeMail {
  return async mail => {
    if (!judge) return allOf('DISABLED')
    try {
      const verdicts = await within(clock, JUDGING_MS_MAX, judge(mail))
      if (verdicts) return verdicts
      log.warn(
        { event: 'verdict_timeout' },
        'The checks of a received message (SPF, DKIM, DMARC, filters) did not finish in time',
      )
    } catch (error) {
      log.error(
        { event: 'verdict_failed', err: error },
        'The checks of a received message (SPF, DKIM, DMARC, filters) failed',
      )
    }
    return NOT_JUDGED
  }
}

export const NOT_JUDGED = allOf('PROCESSING_FAILED')

function allOf(verdict: Verdict): Verdicts {
  return {
    spam: verdict,
    virus: verdict,
    spf: verdict,
    dkim: verdict,
    dmarc: verdict,
    detail: null,
    authenticationResults: null,
  }
}

type VerdictColumns = Pick<
  InboundMessageRow,
  | 'spamVerdict'
  | 'virusVerdict'
  | 'spfVerdict'
  | 'dkimVerdict'
  | 'dmarcVerdict'
  | 'verdictDetail'
  | 'authenticationResults'
>

export function verdictColumns(verdicts: Verdicts): VerdictColumns {
  const { spam, virus, spf, dkim, dmarc, detail, authenticationResults } = verdicts
  return {
    spamVerdict: spam,
    virusVerdict: virus,
    spfVerdict: spf,
    dkimVerdict: dkim,
    dmarcVerdict: dmarc,
    verdictDetail: detail && JSON.stringify(detail),
    authenticationResults,
  }
}
