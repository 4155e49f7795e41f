/**
 * Checks the system clock against the Date header of a web server. Signatures, certificates and tokens depend
 * on it.
 */
import type { Clock } from '../../lib/clock.ts'
import { OutboundFault } from '../../protocols/http-client/fault.ts'
import type { Outbound } from '../../protocols/http-client/outbound.ts'
import { bad, type Examination, good, unknownFinding } from './finding.ts'

interface WallClockOptions {
  outbound: Outbound
  clock: Clock
  /** URL of a web server with an accurate clock. */
  url: string
}

const CHECK = 'clock'
const LIMIT_MS = 8_000
const REPLY_BYTES = 64 * 1024
/** The Date header has a resolution of one second, and the response takes time to arrive. */
const WARN_MS = 10_000
const FAIL_MS = 5 * 60_000

export function wallClock({ outbound, clock, url }: WallClockOptions): Examination {
  return {
    check: CHECK,
    async examine() {
      const askedAt = clock.now()
      const reply = await outbound.send({
        url,
        limitMs: LIMIT_MS,
        limitBytes: REPLY_BYTES,
        whenLonger: 'cut',
      })
      if (reply instanceof OutboundFault)
        return [unknownFinding(CHECK, url, `The time could not be fetched: ${reply.message}.`)]
      const date = Date.parse(reply.headers.date ?? '')
      if (Number.isNaN(date)) return [unknownFinding(CHECK, url, 'The response has no Date header.')]
      const offMs = (askedAt + clock.now()) / 2 - date
      const off = `${Math.round(Math.abs(offMs) / 1_000)} s ${offMs > 0 ? 'ahead of' : 'behind'} ${new URL(url).host}`
      if (Math.abs(offMs) < WARN_MS) return [good(CHECK, null, 'The system clock is correct.')]
      const status = Math.abs(offMs) < FAIL_MS ? 'warning' : 'failed'
      return [
        bad(status, CHECK, null, `The system clock is ${off}.`, 'Synchronize the system clock with NTP.'),
      ]
    },
  }
}
