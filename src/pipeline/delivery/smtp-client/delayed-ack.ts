/**
 * Peers whose last word is held back. Of two short writes that follow each other the second waits, on many systems, until the
 * first is acknowledged (RFC 896), and we acknowledge 40 ms later where there is nothing to say meanwhile (RFC 1122 §4.2.3.2).
 * Who answers to a message in one piece with its envelope in two writes, as Postfix does, so costs 40 ms more than by DATA.
 */

/** How long acknowledgements are put off, and how much later than that an answer may come that waited for one. */
const ACK_DELAY_MS = 40
const EARLY_TOLERANCE_MS = 2
const LATE_TOLERANCE_MS = 20
/** Farther away, BDAT may save more than it costs, and thinking looks like waiting. */
const ROUND_TRIP_MS_MAX = 40
/** One after the other: peers that think for so long do not do it to the millisecond. */
const CONSECUTIVE_SIGHTINGS = 3

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
      const isHeldBack =
        gapMs >= ACK_DELAY_MS - EARLY_TOLERANCE_MS && gapMs <= ACK_DELAY_MS + roundTripMs + LATE_TOLERANCE_MS
      seen = isHeldBack && roundTripMs <= ROUND_TRIP_MS_MAX ? seen + 1 : 0
      return seen === CONSECUTIVE_SIGHTINGS
    },
  }
}
