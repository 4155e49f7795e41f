/** Messages built before their delivery starts, while other deliveries are in progress. */
import type { Clock } from '../../../lib/clock.ts'
import type { ClaimedDelivery } from '../../../store/model/command.ts'
import type { MessageMaker, NoMessage, OutgoingMessage } from './message.ts'

type Made = OutgoingMessage | NoMessage

export interface PreparedMessages {
  make(delivery: ClaimedDelivery): void
  /** Undefined when the message was not built, is too old, or could not be built. */
  take(delivery: ClaimedDelivery, now: number): Promise<Made | undefined>
}

/** Nothing is prepared behind a larger message, so that memory is left for deliveries in progress. */
export const PREPARED_MESSAGE_BYTES_MAX = 256 * 1024
/** Older messages are built again, because keys and domains may have changed. */
const PREPARED_MS_MAX = 2_000

export function createPreparedMessages(clock: Clock, maker: MessageMaker): PreparedMessages {
  const prepared = new WeakMap<ClaimedDelivery, { at: number; message: Promise<Made | undefined> }>()
  return {
    make(delivery) {
      if (prepared.has(delivery)) return
      const at = clock.now()
      // the message is built again when the delivery starts, which reports the error
      const message = maker.make(delivery, at).catch(() => undefined)
      prepared.set(delivery, { at, message })
    },
    async take(delivery, now) {
      const known = prepared.get(delivery)
      prepared.delete(delivery)
      return known && now - known.at < PREPARED_MS_MAX ? known.message : undefined
    },
  }
}
