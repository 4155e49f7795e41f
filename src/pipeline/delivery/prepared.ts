/** Messages made before their turn, while others are under way, so that they have not to be waited for. */
import type { Clock } from '../../lib/clock.ts'
import type { ClaimedDelivery } from '../../store/command.ts'
import type { MessageMaker, NoMessage, OutgoingMessage } from './message/message.ts'

type Made = OutgoingMessage | NoMessage

interface PreparedMessages {
  make(delivery: ClaimedDelivery): void
  /** Undefined where it was not made, too long ago, or without success. */
  take(delivery: ClaimedDelivery, now: number): Promise<Made | undefined>
}

/** Behind a larger message nothing is made ahead: memory is for what is under way. */
export const PREPARED_MESSAGE_BYTES_MAX = 256 * 1024
/** What was made so long ago is made anew: keys and domains may be others by now. */
const PREPARED_MS_MAX = 2_000

export function createPreparedMessages(clock: Clock, maker: MessageMaker): PreparedMessages {
  const prepared = new WeakMap<ClaimedDelivery, { at: number; message: Promise<Made | undefined> }>()
  return {
    make(delivery) {
      if (prepared.has(delivery)) return
      const at = clock.now()
      // made anew when its turn comes, and told of then
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
