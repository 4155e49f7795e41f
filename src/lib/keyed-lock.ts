/** Lock per key: tasks of one key run one after another, tasks of different keys run concurrently. */

type KeyedLock = <T>(key: string, task: () => Promise<T>) => Promise<T>

export function createKeyedLock(): KeyedLock {
  const last = new Map<string, Promise<unknown>>()
  return async (key, task) => {
    const former = last.get(key)
    const running = former ? former.then(task, task) : task()
    last.set(key, running)
    try {
      return await running
    } finally {
      if (last.get(key) === running) last.delete(key)
    }
  }
}
