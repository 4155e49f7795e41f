/** An open session and the deliveries that use it at the same time. The last one returns it to the pool. */

import { PREPARED_MESSAGE_BYTES_MAX } from '../message/prepared.ts'
import type { Transaction, TransactionResult } from '../smtp-client/types.ts'
import type { PooledSession, SessionPool } from './session-pool.ts'

export class SharedSession {
  /** Name under which the pool keeps the session. */
  readonly hostSet: string
  readonly pooled: PooledSession
  readonly #pool: SessionPool
  #userCount = 0
  /** Whether a message was transmitted completely and left the session usable. */
  #hasCarried = false

  constructor(pool: SessionPool, hostSet: string, pooled: PooledSession) {
    this.#pool = pool
    this.hostSet = hostSet
    this.pooled = pooled
  }

  /**
   * Whether another delivery may be pipelined behind those in progress. False once the last one has returned
   * the session.
   */
  get isOpen(): boolean {
    return this.#userCount > 0 && this.#pool.canPipeline(this.pooled, this.#userCount)
  }

  /**
   * Sends one message. The last delivery returns the session to the pool; a session that cannot be reused is
   * closed.
   * @param onFollowable called when pipelining another message now is faster than sending it later
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
   * Reports that the envelope of a pipelined delivery was not answered. If the message before it was
   * transmitted, the host loses pipelined commands, and pipelining is disabled for a while.
   */
  envelopeUnanswered() {
    if (this.#hasCarried) this.#pool.disablePipelining(this.pooled)
  }
}
