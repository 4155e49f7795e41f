/**
 * Keeps background tasks that end the service soon after each start from running, and tells the operator.
 * Part of the composition root.
 */
import { parkTask } from '../lib/tasks.ts'
import { hourOf } from '../resources/alerts/operator-alerts.ts'
import type { AppContext } from './context.ts'
import { parkedTasks } from './crashes.ts'

const TASK_PARKED_ALERT = 'task-parked'

/** To be called before any task starts. */
export async function parkTasks({
  config,
  clock,
  log,
  store,
}: Pick<AppContext, 'config' | 'clock' | 'log' | 'store'>): Promise<void> {
  const raisedAt = clock.now()
  for (const { task, until, reason } of parkedTasks(config.dataDir, raisedAt)) {
    parkTask(task, until)
    const retryAt = new Date(until).toISOString()
    log.error(
      { event: 'task_parked', task, reason, retry_at: retryAt },
      `The background task "${task}" has ended the service three times and is not run until ${retryAt}`,
    )
    await store.run('raiseAlert', {
      kind: TASK_PARKED_ALERT,
      provider: task,
      sourceIp: '',
      mxHost: null,
      hour: hourOf(raisedAt),
      raisedAt,
      domain: '',
      reply: `The task is not run until ${retryAt}. ${reason}`,
    })
  }
}
