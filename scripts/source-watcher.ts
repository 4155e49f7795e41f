/** Reports changes of source files, for `npm run dev` and `npm run test:one -- --watch`. */
import { watch } from 'node:fs'
import { join } from 'node:path'

/** Editors write a file in several steps, and a checkout writes many files: changes this close together count as one. */
const SETTLE_MS = 200
const SOURCE_FILE = /\.(?:ts|tsx|js|css|json|html|svg)$/

export interface SourceWatcher {
  close(): void
}

/**
 * Watches folders with everything below them.
 * @param folders relative to `root`
 * @param onChange gets the changed files, relative to `root`; it is called again only after its promise has settled
 */
export function watchSources(
  root: string,
  folders: readonly string[],
  onChange: (files: string[]) => void | Promise<void>,
): SourceWatcher {
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let isBusy = false
  let isClosed = false

  const schedule = () => {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(report, SETTLE_MS)
  }
  const report = async () => {
    if (isBusy || changed.size === 0) return
    isBusy = true
    const files = [...changed].sort()
    changed.clear()
    try {
      await onChange(files)
    } finally {
      isBusy = false
      if (changed.size > 0) schedule()
    }
  }
  const watchers = folders.map(folder =>
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (name === null || !SOURCE_FILE.test(name)) return
      changed.add(join(folder, name))
      schedule()
    }),
  )
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const watcher of watchers) watcher.close()
    },
  }
}
