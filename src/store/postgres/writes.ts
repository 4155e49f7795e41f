/**
 * Pipelines the statements of one connection: statements without a result are not awaited individually, and
 * their errors are reported when all have ended. After an error the transaction accepts no further
 * statements.
 */
import type { SqlQuery, Statement } from './connection.ts'

export interface Writes {
  /** @throws the first error, if a statement before this one failed */
  query: SqlQuery
  /** Sends a statement. Resolves at once. */
  write(statement: Statement): Promise<void>
  /**
   * Resolves when all statements have been answered.
   * @throws the first error
   */
  done(): Promise<void>
  /** Resolves when all statements have been answered, and ignores errors. */
  dropped(): Promise<void>
}

export function createWrites(ask: SqlQuery): Writes {
  let inProgress: Promise<void>[] = []
  let failure: { error: unknown } | undefined

  const settled = async () => {
    await Promise.all(inProgress)
    inProgress = []
    const first = failure
    failure = undefined
    return first
  }
  const done = async () => {
    const first = await settled()
    if (first) throw first.error
  }
  return {
    async query(statement) {
      try {
        return await ask(statement)
      } catch (error) {
        await done()
        throw error
      }
    },
    async write(statement) {
      const asking = ask(statement).then(
        () => {},
        error => {
          failure ??= { error }
        },
      )
      inProgress.push(asking)
    },
    done,
    async dropped() {
      await settled()
    },
  }
}
