/** Check of the background tasks: whether one is parked because it has ended the service repeatedly. */
import { bad, type Examination, good } from './finding.ts'

interface ParkedTaskFacts {
  task: string
  /** ms since the epoch */
  until: number
  reason: string
}

/** @param isRunning whether the service runs; without it, only parked tasks are known */
export function backgroundTasks(parked: () => readonly ParkedTaskFacts[], isRunning: boolean): Examination {
  const check = 'background_tasks'
  return {
    check,
    async examine() {
      const findings = parked().map(({ task, until, reason }) =>
        bad(
          'failed',
          check,
          task,
          `The task has ended the service three times and is not run until ${new Date(until).toISOString()}: ${reason}.`,
          'Report the error in the log (event uncaught_error). To run the task at once, delete crashes.json in the data folder and restart.',
        ),
      )
      return findings.length > 0
        ? findings
        : [good(check, null, isRunning ? 'All background tasks run.' : 'No background task is parked.')]
    },
  }
}
