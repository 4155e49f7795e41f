/** Limits the concurrent requests of all endpoints; the endpoint with the fewest requests is served first. */

interface SlotUser {
  readonly inFlight: number
}

interface WebhookSlots<U extends SlotUser> {
  /** Returns false when no slot is free; `onTurn` is then called when one is. */
  take(user: U): boolean
  free(): void
  /** Stops waiting. */
  leave(user: U): void
}

/**
 * Half of the slots are reserved for first requests, so that an endpoint without a request in progress finds
 * a slot, however long the requests of others take.
 * @param onTurn is called when a slot may be free; the user takes it or not
 */
export function createWebhookSlots<U extends SlotUser>(
  slotsMax: number,
  onTurn: (user: U) => void,
): WebhookSlots<U> {
  const waiting = new Set<U>()
  let taken = 0

  const next = () => {
    let first: U | undefined
    for (const user of waiting) if (!first || user.inFlight < first.inFlight) first = user
    return first
  }
  return {
    take(user) {
      if (taken >= (user.inFlight === 0 ? slotsMax : slotsMax / 2)) {
        waiting.add(user)
        return false
      }
      waiting.delete(user)
      taken++
      return true
    },
    free() {
      taken--
      const user = next()
      if (!user) return
      waiting.delete(user)
      onTurn(user)
    },
    leave: user => void waiting.delete(user),
  }
}
