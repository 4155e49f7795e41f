/** Sets an email to `sent` when its first attempt takes long, while the attempt is still in progress. */
import type { Clock, Timer } from '../../lib/clock.ts'
import { Slab } from '../../lib/slab.ts'
import type { ClaimedDelivery, Run } from '../../store/model/command.ts'
import type { queueCommands } from '../queue/commands.ts'

export interface SlowDeliveryTimer {
  /** @returns the number to pass to `end` */
  begin(delivery: ClaimedDelivery, startedAt: number): number
  end(number: number): void
  close(): void
}

interface Watched {
  delivery: ClaimedDelivery
  startedAt: number
  isRecorded: boolean
}

/** One timer scans all attempts in progress, so that none needs a timer. */
const SCAN_INTERVAL_MS = 500
const SLOW_AFTER_MS = 1_000

export function createSlowDeliveryTimer(
  run: Run<Pick<typeof queueCommands, 'handedOver'>>,
  clock: Clock,
  onError: (error: unknown) => void,
): SlowDeliveryTimer {
  const underWay = new Slab<Watched>()
  let timer: Timer | undefined

  const scan = () => {
    timer = undefined
    const now = clock.now()
    for (const watched of underWay) {
      if (watched.isRecorded || now - watched.startedAt < SLOW_AFTER_MS) continue
      watched.isRecorded = true
      const { accountId, emailId } = watched.delivery
      run('handedOver', { accountId, emailId, at: watched.startedAt }).catch(onError)
    }
    if (underWay.size > 0) timer = clock.timer(SCAN_INTERVAL_MS, scan)
  }

  return {
    begin(delivery, startedAt) {
      timer ??= clock.timer(SCAN_INTERVAL_MS, scan)
      return underWay.put({ delivery, startedAt, isRecorded: false })
    },
    end: number => underWay.drop(number),
    close: () => timer?.cancel(),
  }
}
