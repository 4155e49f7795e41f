/**
 * Reports on a mail listener to the operator: metrics of accepted and refused mail, and a log line for each
 * refusal. A client cannot fill the log with its refusals: lines are limited by client network and in total,
 * and the next line has the number of those that were left out.
 */

import type { Clock } from '../../lib/clock.ts'
import { type Id, wireId } from '../../lib/ids.ts'
import { onOneLine } from '../../lib/line-text.ts'
import type { Log } from '../../lib/log.ts'
import type { Metrics } from '../../lib/metrics.ts'
import { plainAddress } from '../../lib/networks.ts'
import { countPerMinute } from '../../lib/per-minute.ts'
import { clientNetworkOf } from '../../protocols/dns/netblock.ts'
import type { RefusedCommand } from './refused-command.ts'

export interface RefusedClient {
  /** Address as in `socket.remoteAddress`. */
  address: string
  /** Name that the client gave with EHLO or HELO. */
  helo?: string | undefined
  /** Account that the client sends for; undefined on port 25 and before a login. */
  user?: { accountId: Id; credential: string | null } | undefined
}

export interface MailReport {
  /** Counts an accepted message. */
  taken(): void
  /**
   * Counts and logs a negative reply.
   *
   * @param code reply code
   * @param text reply text, which may begin with an enhanced status code
   * @param command undefined for a connection that was refused or ended
   */
  turnedAway(code: number, text: string, client: RefusedClient, command?: RefusedCommand): void
}

type MailListener = 'inbound' | 'submission' | 'submission_tls' | 'relay'

const STATUS = /^(?:Error: )?([45]\.\d{1,3}\.\d{1,3}) /
const LINES_PER_MINUTE = 10
/** Lines about clients that are not signed in, of all networks together. */
const STRANGERS_LINES_PER_MINUTE = 100
/** RFC 5321 §4.5.3.1.3, with the angle brackets. */
const ADDRESS_CHARACTERS_MAX = 256
const HELO_CHARACTERS_MAX = 255
const REPLY_CHARACTERS_MAX = 500
const RECIPIENTS_SHOWN_MAX = 5

export function createMailReport(
  { metrics, log, clock }: { metrics: Metrics; log: Log; clock: Pick<Clock, 'monotonic'> },
  listener: MailListener,
): MailReport {
  const taken = metrics.counter('smtp_taken', 'Messages that a mail listener has accepted.', [{ listener }])
  const refused = metrics.counter(
    'smtp_refused',
    'Permanent negative replies (5xx), by reply and enhanced status code.',
  )
  const deferred = metrics.counter(
    'smtp_deferred',
    'Transient negative replies (4xx), by reply and enhanced status code.',
  )
  const isWithinNetwork = countPerMinute(LINES_PER_MINUTE, clock)
  const isWithinAll = countPerMinute(STRANGERS_LINES_PER_MINUTE, clock)
  let leftOut = 0
  return {
    taken: () => taken.add({ listener }),
    turnedAway(code, text, client, command) {
      const counter = code >= 500 ? refused : deferred
      counter.add({ listener, code: String(code), status: STATUS.exec(text)?.[1] ?? '' })
      if (!log.isLevelEnabled('info')) return
      if (!isWithinNetwork(clientNetworkOf(client.address)) || !(client.user || isWithinAll(''))) {
        leftOut += 1
        return
      }
      const fields = { ...clientFields(client), ...commandFields(command), left_out: leftOut }
      const reply = onOneLine(`${code} ${text}`, REPLY_CHARACTERS_MAX)
      log.info({ event: 'smtp_refused', listener, ...fields, reply }, 'An SMTP client was refused')
      leftOut = 0
    },
  }
}

function clientFields({ address, helo, user }: RefusedClient) {
  return {
    address: plainAddress(address),
    helo: helo === undefined ? null : onOneLine(helo, HELO_CHARACTERS_MAX),
    account: user ? wireId('acc', user.accountId) : null,
    credential: user?.credential ?? null,
  }
}

function commandFields(command: RefusedCommand | undefined) {
  const { verb, sender, recipients = [] } = command ?? {}
  const address = (text: string) => onOneLine(text, ADDRESS_CHARACTERS_MAX)
  return {
    command: verb ?? null,
    sender: sender === undefined ? null : address(sender),
    recipients: recipients.slice(0, RECIPIENTS_SHOWN_MAX).map(address),
    recipient_count: recipients.length,
  }
}
