/** Sends delivery status notifications as soon as they are due. Part of the composition root. */
import { type Sweeper, startSweeper } from '../lib/sweeper.ts'
import type { Accept } from '../pipeline/accept/accept.ts'
import type { Preparation } from '../pipeline/accept/prepare.ts'
import { sendDsnNotices } from '../pipeline/delivery/dsn/notice-sender.ts'
import { DSN_DUE } from '../resources/events/dsn-notices.ts'
import { MISSED } from '../store/model/command.ts'
import type { AppContext } from './context.ts'

/** After a failure, and for notifications that were refused temporarily. */
const RETRY_MS = 10 * 60_000

export function startDsnNotices(
  { config, store, clock, log }: Pick<AppContext, 'config' | 'store' | 'clock' | 'log'>,
  { accept, preparation }: { accept: Accept; preparation: Preparation },
): Sweeper {
  const { db, run, blobs } = store
  const { mailHost } = config
  const sweeper = startSweeper({
    task: 'send delivery status notifications',
    sweep: () => sendDsnNotices({ db, run, blobs, accept, preparation, mailHost, now: clock.now, log }),
    everyMs: RETRY_MS,
    clock,
    onError: error =>
      log.error(
        { event: 'dsn_failed', err: error },
        'Delivery status notifications could not be sent; retrying in 10 min',
      ),
  })
  store.on(DSN_DUE, sweeper.hurry)
  store.on(MISSED, sweeper.hurry)
  return sweeper
}
