/**
 * Has a background task, or no task, of a real program fail with an error that nobody
 * handles; loaded before the program. What fails stands in `planted.json` beside the data folder.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isMainThread } from 'node:worker_threads'

export interface PlantedCrash {
  /** Name of the task that fails at each start. */
  task?: string
  how: 'throw' | 'reject'
}

const file = join(dirname(process.env.MAILHORN_DATA_DIR ?? '/'), 'planted.json')

function fail({ how }: PlantedCrash) {
  const error = new Error(`planted (${how})`)
  if (how === 'throw')
    setTimeout(() => {
      throw error
    })
  else void Promise.reject(error)
}

if (isMainThread) {
  const { run } = AsyncLocalStorage.prototype
  AsyncLocalStorage.prototype.run = function (
    this: AsyncLocalStorage<unknown>,
    store: unknown,
    work: (...args: never[]) => unknown,
    ...args: never[]
  ) {
    return run.call(
      this,
      store,
      (...given: never[]) => {
        const planted = existsSync(file)
          ? (JSON.parse(readFileSync(file, 'utf8')) as PlantedCrash)
          : undefined
        if (planted?.task !== undefined && planted.task === store) fail(planted)
        return work(...given)
      },
      ...args,
    )
  } as typeof run
  // Without a task: at a signal.
  process.on('SIGWINCH', () => {
    const planted = JSON.parse(readFileSync(file, 'utf8')) as PlantedCrash
    rmSync(file)
    fail(planted)
  })
}
