/** What is measured: a mail server that is started afresh, fed, and stopped. */
import type { Weight } from './process.ts'

export interface FeedResult {
  /** Messages the server confirmed. */
  acceptedCount: number
  /** CPU of the feeder itself, s. */
  feederCpuSeconds: number
}

export interface Contender {
  name: string
  start(options: { held: boolean }): Promise<void>
  /** Feeds about so many messages over so many connections, to `one.test` or spread over destination domains. */
  feed(options: { count: number; connections: number; domainCount: number }): Promise<FeedResult>
  weigh(): Weight
  roots(): readonly number[]
  stop(): Promise<void>
}
