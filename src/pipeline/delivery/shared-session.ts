/**
 * An open session and the deliveries on it: one may be sent behind another, and the last gives the session
 * back.
 */

import { PREPARED_MESSAGE_BYTES_MAX } from './prepared.ts'
import type { PooledSession, SessionPool } from './session-pool.ts'
import type { Transaction, TransactionResult } from './smtp-client/types.ts'

export class SharedSession {
  /** Whose sessions these are, in the pool. */
  readonly hostSet: string
  readonly pooled: PooledSession
  readonly #pool: SessionPool
  #userCount = 0
  /** A message went through it to its end, and it was good for the next. */
  #hasCarried = false

  constructor(pool: SessionPool, hostSet: string, pooled: PooledSession) {
    this.#pool = pool
    this.hostSet = hostSet
    this.pooled = pooled
  }

  /**
   * Another delivery may be sent behind those that are on it; not when the last of them has given it back.
   */
  get isOpen(): boolean {
    return this.#userCount > 0 && this.#pool.canPipeline(this.pooled, this.#userCount)
  }

  /**
   * Sends one message, gives the session back behind the last one, and closes it when it is good for no
   * other.
   * @param onFollowable called when another is better sent behind this one now than after it
   * @throws when the transaction is malformed; nothing is sent
   */
  async send(transaction: Transaction, onFollowable: () => void): Promise<TransactionResult> {
    const { session } = this.pooled
    const address = transaction.recipients[0]!
    const mayBeFollowed = transaction.size <= PREPARED_MESSAGE_BYTES_MAX
    this.#userCount++
    try {
      const result = await session.send(transaction, () => {
        if (mayBeFollowed && this.isOpen) onFollowable()
      })
      if (result.reusable) this.#hasCarried = true
      else session.destroy()
      return result
    } finally {
      if (--this.#userCount === 0) this.#pool.give(this.hostSet, this.pooled, address)
    }
  }

  /**
   * The envelope of a delivery behind another was never answered. Where that one was well, the peer loses
   * what is sent ahead, and nothing is for a while.
   */
  envelopeUnanswered() {
    if (this.#hasCarried) this.#pool.disablePipelining(this.pooled)
  }
}
