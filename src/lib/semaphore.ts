/** Semaphore with a limit on running tasks and a limit on waiting tasks. */

export class TooManyWaiting extends Error {}

export interface Semaphore {
  /** @throws TooManyWaiting when the queue is full */
  run<T>(task: () => Promise<T>): Promise<T>
}

export function createSemaphore(running: number, waiting: number): Semaphore {
  let free = running
  const queue: (() => void)[] = []
  return {
    async run(task) {
      if (free > 0) free--
      else {
        if (queue.length >= waiting) throw new TooManyWaiting(`more than ${waiting} tasks are waiting`)
        await new Promise<void>(resolve => queue.push(resolve))
      }
      try {
        return await task()
      } finally {
        const next = queue.shift()
        if (next) next()
        else free++
      }
    },
  }
}
