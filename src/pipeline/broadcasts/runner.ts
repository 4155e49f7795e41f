/**
 * Runs the due steps of broadcasts, one step at a time, so that several broadcasts take turns.
 * `app/broadcasts.ts` starts one runner per process that sends.
 */

import type { Clock } from '../../lib/clock.ts'
import { type DueTimer, startDueTimer } from '../../lib/due-timer.ts'
import type { Plans } from '../../resources/accounts/plans.ts'
import { encodeContent } from '../../resources/emails/content.ts'
import type { LinkTermsIds } from '../../resources/emails/link-terms.ts'
import type { Run } from '../../store/model/command.ts'
import type { BroadcastRow, Db } from '../../store/model/schema.ts'
import { isReadOnly } from '../queue/service-mode.ts'
import { findBroadcast, findDueBroadcast } from './broadcast-rows.ts'
import type { broadcastCommands } from './commands.ts'
import type { ExpandInput } from './expand.ts'
import { placeholdersOf, resolvedContent } from './placeholders.ts'
import { storedVariables } from './texts.ts'

export interface RunnerOptions
  extends Pick<ExpandInput, 'expireAfterMs' | 'simulatorDomains' | 'feedbackRegions' | 'linkFault'> {
  db: Db
  run: Run<typeof broadcastCommands>
  clock: Clock
  quotaOf: Plans['quotaOf']
  linkTerms: LinkTermsIds
  /** Returns emails to the queue that the hold of the broadcast has kept. */
  resumeEmails(broadcast: BroadcastRow): void
  onError(error: unknown): void
}

const SLEEP_MS_MAX = 500
/** Delay after a failed step of a broadcast; other broadcasts continue. */
const FAILURE_DELAY_MS = 5_000

/** Starts the timer. `note` must be called with the times of `BROADCAST_DUE`, and at a switch of the mode. */
export function startBroadcastRunner(options: RunnerOptions): DueTimer {
  const { db, clock, onError } = options
  return startDueTimer({
    task: 'expand broadcasts',
    clock,
    async work(now) {
      if (await isReadOnly(db)) return null
      const { due, nextAt } = await findDueBroadcast(db, now)
      if (!due) return nextAt
      const beganAt = clock.monotonic()
      await takeStep(options, due, now).catch(async error => {
        onError(error)
        const { accountId, id } = due
        await options.run('delayBroadcast', { accountId, id, until: now + FAILURE_DELAY_MS })
      })
      // a pause as long as the step leaves the writer to other commands
      return clock.now() + Math.ceil(clock.monotonic() - beganAt)
    },
    longestSleepMs: SLEEP_MS_MAX,
    afterFailureMs: FAILURE_DELAY_MS,
    onError,
  })
}

/** Runs the next step of a broadcast. It does nothing if another process has already run the step. */
export async function takeStep(options: RunnerOptions, row: BroadcastRow, now: number): Promise<void> {
  const { run, quotaOf, resumeEmails } = options
  const { accountId, id, status } = row
  const key = { accountId, id, now }
  if (status === 'canceled') {
    if (await run('cancelEmails', key)) resumeEmails(row)
  } else if (row.sentContentId === null) await begin(options, row, now)
  else if (row.countedAt === null) await run('findMembers', key)
  else {
    const { expireAfterMs, simulatorDomains, feedbackRegions, linkTerms, linkFault } = options
    const terms = { expireAfterMs, simulatorDomains, feedbackRegions, linkTerms, linkFault }
    await run('expandBroadcast', { ...key, ...terms, quota: await quotaOf(accountId) })
  }
}

async function begin(
  { db, run }: RunnerOptions,
  { accountId, id }: BroadcastRow,
  now: number,
): Promise<void> {
  const broadcast = await findBroadcast(db, accountId, id)
  if (!broadcast) return
  const { contentId, previewText, subject, html, text } = broadcast
  const { subject: sentSubject, ...sent } = resolvedContent(broadcast, await placeholdersOf(db, broadcast))
  const names = storedVariables(sent)
  await run('beginBroadcast', {
    accountId,
    id,
    now,
    contentId,
    previewText,
    sent: sent.html === html && sent.text === text ? null : encodeContent(sent),
    sentSubject: sentSubject === subject ? null : sentSubject,
    variables: names && JSON.stringify(names),
  })
}
