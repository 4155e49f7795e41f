/**
 * Marks which message the verdict thread works on, so that the main thread knows which one blocked or ended
 * it. The checks of many messages take turns on the thread: a check goes on when bytes of its message or an
 * answer of DNS arrive, and the mark is set right before.
 */
import { type BudgetedResolver, resolverAround } from './dns-budget.ts'
import type { Mail } from './mail.ts'

/** Returns the mail, which calls `mark` with each piece that is read. */
export function markedMail({ sizeBytes, read }: Mail, mark: () => void): Mail {
  return {
    sizeBytes,
    async *read() {
      for await (const piece of read()) {
        mark()
        yield piece
      }
    },
  }
}

/** Returns the resolver, which calls `mark` with each answer. */
export function markedResolver(resolver: BudgetedResolver, mark: () => void): BudgetedResolver {
  return resolverAround(resolver, ask => ask().finally(mark))
}
