/** Waits for something to be seen from outside; the test's own time limit bounds it. */

/**
 * A look may be a request, and a busy machine has others to answer: what takes long is looked at less often.
 */
const LOOK_EVERY_MS = { lowest: 5, limit: 25 }
const SHARE = 1 / 20

/** Looks again and again until there is something to see. */
export async function until<T>(check: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (const startedAt = performance.now(); ; ) {
    const found = await check()
    if (found) return found as NonNullable<T>
    const waitMs = Math.max(LOOK_EVERY_MS.lowest, (performance.now() - startedAt) * SHARE)
    await new Promise(resolve => setTimeout(resolve, Math.min(waitMs, LOOK_EVERY_MS.limit)))
  }
}
