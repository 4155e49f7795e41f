/** Reading of a database before it is opened as a store, and so before its schema is known. */

/** Runs a SQL text that both databases understand. */
export type AskDatabase = (sql: string) => Promise<Record<string, unknown>[]>

export type Inspection<T> = (ask: AskDatabase) => Promise<T>
