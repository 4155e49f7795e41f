/** Requests under way at once, of all endpoints together: who has the fewest is next. */

interface SlotUser {
  readonly inFlight: number
}

interface WebhookSlots<U extends SlotUser> {
  /** False when all are taken; `user` is called when there is one for it. */
  take(user: U): boolean
  free(): void
  /** It does not wait any more. */
  leave(user: U): void
}

/**
 * Half of them are for first requests alone: whoever has none under way finds room, however long those of
 * others take.
 * @param onTurn a slot may be free for this one, which takes it or leaves it
 */
export function createWebhookSlots<U extends SlotUser>(
  most: number,
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
      if (taken >= (user.inFlight === 0 ? most : most / 2)) {
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
