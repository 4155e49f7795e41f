/**
 * Detects repeated requests before they are validated. A request is answered at once if the first request
 * with its key has been answered, and waits for the answer if the first is in progress. The accepting
 * transaction checks the key again.
 */
import { type Clock, within } from '../../lib/clock.ts'
import type { Find } from '../../store/reading/read.ts'
import { idempotencyKeyText, idempotentAnswer, lookUpKeys } from './idempotency.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import type { Accepted, IdempotencyToken, Sender } from './submission.ts'

interface InFlightRequests {
  /**
   * Does the work, or returns the answer of the first request with this key. Without a token it always does
   * the work.
   */
  once(
    sender: Sender,
    idempotency: IdempotencyToken | null,
    work: () => Promise<Accepted | Refusal>,
  ): Promise<Accepted | Refusal>
}

/** A request in progress. */
interface InFlight {
  bodyHash: Uint8Array
  answer: Promise<Accepted | Refusal>
}

const WAIT_MS_MAX = 10_000

export function createInFlightRequests({ find, clock }: { find: Find; clock: Clock }): InFlightRequests {
  const inFlight = new Map<string, InFlight>()

  return {
    async once(sender, idempotency, work) {
      if (!idempotency) return work()
      const { bodyHash } = idempotency
      const request = { sender, idempotency, now: clock.now() }
      const key = idempotencyKeyText(request)
      const until = clock.monotonic() + WAIT_MS_MAX
      for (let first = inFlight.get(key); first; first = inFlight.get(key)) {
        const ended = await within(clock, until - clock.monotonic(), outcomeOf(first))
        if (!ended) return stillRunning()
        if (ended.accepted)
          return idempotentAnswer(bodyHash, { bodyHash: first.bodyHash, accepted: ended.accepted })
      }
      const answer = lookUpKeys(find, [request]).then(keys => keys.answerFor(request) ?? work())
      inFlight.set(key, { bodyHash, answer })
      return answer.finally(() => inFlight.delete(key))
    },
  }
}

/** A refused or failed request leaves its key to the next request. */
async function outcomeOf({ answer }: InFlight): Promise<{ accepted?: Accepted }> {
  try {
    const result = await answer
    return isRefusal(result) || result.ids.length === 0 ? {} : { accepted: result }
  } catch {
    return {} // The first request reports its own error.
  }
}

function stillRunning(): Refusal {
  return {
    refused: 'idempotency_running',
    message: 'Another request with this idempotency key is in progress. Retry later.',
  }
}
