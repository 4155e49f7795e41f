/** Defines what a benchmark measures: a mail server that is started, fed and stopped for each round. */
import type { Weight } from './process.ts'

export interface StartOptions {
  /** Takes mail and delivers none until it is released. */
  held: boolean
  /** File that gets a line for every call that forces data to the disk; slows everything down. */
  syncTrace?: string
}

export interface FeedOptions {
  count: number
  connections: number
  /** 1 for `one.test`, else so many destination domains in turn. */
  domainCount: number
}

export interface FeedResult {
  /** When the feeder was about to connect, epoch ms. */
  beganAt: number
  /** From then to the last confirmation. */
  elapsedMs: number
  /**
   * The slowest hundredth of the messages took at least so long to be confirmed; NaN where the feeder does
   * not tell.
   */
  p99Ms: number
  /** CPU of the feeder itself, s. */
  feederCpuSeconds: number
}

export interface Release {
  /** When the order to deliver went out, epoch ms. */
  at: number
  /** CPU its processes had used by then, s. */
  cpuSeconds: number
}

export interface Contender {
  name: string
  start(options: StartOptions): Promise<void>
  /** @throws when a message is refused */
  feed(options: FeedOptions): Promise<FeedResult>
  /** Messages it holds. */
  queuedCount(): number
  /**
   * Resolves when it has done what it does with messages after it has confirmed them; where that is held,
   * absent.
   */
  settled?(): Promise<void>
  /** Lets what is held go out. */
  release(): Promise<Release>
  /** Has what was deferred, all of it for `one.test`, tried again at once, by the operator's command. */
  flush(): Promise<Release>
  weigh(): Weight
  roots(): readonly number[]
  stop(): Promise<void>
}
