/** Waits for something to be seen from outside; the test's own time limit bounds it. */

const LOOK_EVERY_MS = 5

/** Looks again and again until there is something to see. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const found = await look()
    if (found) return found as NonNullable<T>
    await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
