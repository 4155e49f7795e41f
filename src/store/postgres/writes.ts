/**
 * The statements of one connection, of which those that give nothing back are not waited for: they travel one behind the
 * other, and what becomes of them is told when all are done. After one that failed the transaction takes no more.
 */
import type { SqlQuery, Statement } from './connection.ts'

export interface Writes {
  /** @throws what failed first, if a statement before this one did */
  query: SqlQuery
  /** Resolves at once. */
  write(statement: Statement): Promise<void>
  /** Resolves when all are done. @throws what failed first */
  done(): Promise<void>
  /** The same, whatever became of them. */
  dropped(): Promise<void>
}

export function createWrites(ask: SqlQuery): Writes {
  let underWay: Promise<void>[] = []
  let failure: { error: unknown } | undefined

  const settled = async () => {
    await Promise.all(underWay)
    underWay = []
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
      underWay.push(asking)
    },
    done,
    async dropped() {
      await settled()
    },
  }
}
