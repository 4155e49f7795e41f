/**
 * Peers whose last word is held back. Of two short writes that follow each other the second waits, on many systems, until the
 * first is acknowledged (RFC 896), and we acknowledge 40 ms later where there is nothing to say meanwhile (RFC 1122 §4.2.3.2).
 * Who answers to a message in one piece with its envelope in two writes, as Postfix does, so costs 40 ms more than by DATA.
 */

/** How long acknowledgements are put off, and how much later than that an answer may come that waited for one. */
const DELAY_MS = 40
const EARLIER_MS = 2
const LATER_MS = 20
/** Farther away, BDAT may save more than it costs, and thinking looks like waiting. */
const FARTHEST_MS = 40
/** One after the other: peers that think for so long do not do it to the millisecond. */
const SEEN_TIMES = 3

export interface DelayedAckWatch {
  /**
   * Told of each message that left in one piece with its envelope.
   * @param gapMs from the answer to the envelope to the one to the message
   * @returns whether it is what the peer does
   */
  note(gapMs: number): boolean
}

/** @param roundTripMs to the peer, about */
export function watchDelayedAck(roundTripMs: number): DelayedAckWatch {
  let seen = 0
  return {
    note(gapMs) {
      const isHeldBack = gapMs >= DELAY_MS - EARLIER_MS && gapMs <= DELAY_MS + roundTripMs + LATER_MS
      seen = isHeldBack && roundTripMs <= FARTHEST_MS ? seen + 1 : 0
      return seen === SEEN_TIMES
    },
  }
}
