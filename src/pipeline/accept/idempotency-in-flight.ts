/**
 * Where repeated requests meet before anything of them is checked: one whose first has been answered gets
 * that answer, one whose first is under way waits for it. The transaction that accepts decides all the same.
 */
import { type Clock, within } from '../../lib/clock.ts'
import type { Find } from '../../store/read.ts'
import { idempotencyKeyText, idempotentAnswer, lookUpKeys } from './idempotency.ts'
import { isRefusal, type Refusal } from './refusal.ts'
import type { Accepted, IdempotencyToken, Sender } from './submission.ts'

interface InFlightRequests {
  /** Does the work, or answers as it was answered before. Without a token it is always done. */
  once(
    sender: Sender,
    idempotency: IdempotencyToken | null,
    work: () => Promise<Accepted | Refusal>,
  ): Promise<Accepted | Refusal>
}

/** A request that is being answered. */
interface InFlight {
  bodyHash: Uint8Array
  answer: Promise<Accepted | Refusal>
}

const WAIT_MS_MAX = 10_000

export function createInFlightRequests({ find, clock }: { find: Find; clock: Clock }): InFlightRequests {
  const underWay = new Map<string, InFlight>()

  return {
    async once(sender, idempotency, work) {
      if (!idempotency) return work()
      const { bodyHash } = idempotency
      const request = { sender, idempotency, now: clock.now() }
      const key = idempotencyKeyText(request)
      const until = clock.monotonic() + WAIT_MS_MAX
      for (let first = underWay.get(key); first; first = underWay.get(key)) {
        const ended = await within(clock, until - clock.monotonic(), outcomeOf(first))
        if (!ended) return stillRunning()
        if (ended.accepted)
          return idempotentAnswer(bodyHash, { bodyHash: first.bodyHash, accepted: ended.accepted })
      }
      const answer = lookUpKeys(find, [request]).then(keys => keys.answerFor(request) ?? work())
      underWay.set(key, { bodyHash, answer })
      return answer.finally(() => underWay.delete(key))
    },
  }
}

/** What was refused, or has failed, leaves its key to the next. */
async function outcomeOf({ answer }: InFlight): Promise<{ accepted?: Accepted }> {
  try {
    const given = await answer
    return isRefusal(given) || given.ids.length === 0 ? {} : { accepted: given }
  } catch {
    return {} // its own request tells of it
  }
}

function stillRunning(): Refusal {
  return {
    refused: 'idempotency_running',
    message: 'A request with this idempotency key is still being answered; try again later.',
  }
}
