/**
 * Marks which message the verdict thread works on, so that the main thread knows which one blocked or ended
 * it. The checks of many messages take turns on the thread: a check goes on when bytes of its message or an
 * answer of DNS arrive, and the mark is set right before.
 */
import type { BudgetedResolver } from './dns-budget.ts'
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
  const marked =
    <A extends unknown[], T>(ask: (...question: A) => Promise<T>) =>
    (...question: A): Promise<T> =>
      ask(...question).finally(mark)
  return {
    txt: marked(resolver.txt),
    addresses4: marked(resolver.addresses4),
    addresses6: marked(resolver.addresses6),
    mx: marked(resolver.mx),
    ptr: marked(resolver.ptr),
    cname: marked(resolver.cname),
  }
}
