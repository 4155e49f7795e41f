/** Reports changes of source files, for `npm run dev` and `npm run test:one -- --watch`. */
import { type FSWatcher, readdirSync, statSync, watch } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * Editors write a file in several steps, and a checkout writes many files: changes this close together count
 * as one.
 */
const SETTLE_MS = 200
const SOURCE_FILE = /\.(?:ts|tsx|js|css|json|html|svg)$/

export interface SourceWatcher {
  close(): void
}

/**
 * Watches folders with everything below them. Each directory has a watcher of its own: the recursive one of
 * Node 24 loses a file on Linux once an editor has replaced it by renaming.
 * @param folders relative to `root`
 * @param onChange gets the changed files, relative to `root`; it is called again only after its promise has
 * settled
 */
export function watchSources(
  root: string,
  folders: readonly string[],
  onChange: (files: string[]) => void | Promise<void>,
): SourceWatcher {
  const watchers = new Map<string, FSWatcher>()
  const changed = new Set<string>()
  let timer: NodeJS.Timeout | undefined
  let isBusy = false
  let isClosed = false

  const note = (directory: string, name: string) => {
    if (SOURCE_FILE.test(name)) changed.add(relative(root, join(directory, name)))
  }
  const schedule = () => {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(report, SETTLE_MS)
  }
  const open = (directory: string): FSWatcher => {
    const watcher = watch(directory, (_event, name) => {
      if (name !== null) note(directory, name)
      schedule()
    })
    // A removed directory; the next scan closes its watcher.
    return watcher.on('error', schedule)
  }
  /**
   * Opens watchers for directories that are new and closes those of removed ones. Returns the new
   * directories.
   */
  const scan = (): string[] => {
    const found = new Map(folders.flatMap(folder => directoriesIn(join(root, folder))))
    for (const [key, watcher] of watchers)
      if (!found.has(key)) {
        watcher.close()
        watchers.delete(key)
      }
    const added = [...found].filter(([key]) => !watchers.has(key))
    for (const [key, directory] of added) watchers.set(key, open(directory))
    return added.map(([, directory]) => directory)
  }
  const report = async () => {
    if (isBusy) return
    for (const directory of scan()) for (const name of readdirSync(directory)) note(directory, name)
    if (changed.size === 0) return
    isBusy = true
    const files = [...changed].sort()
    changed.clear()
    try {
      await onChange(files)
    } finally {
      isBusy = false
      schedule()
    }
  }
  scan()
  return {
    close() {
      isClosed = true
      clearTimeout(timer)
      for (const watcher of watchers.values()) watcher.close()
    },
  }
}

/** Keyed by inode and path, since a directory that was removed and made again needs a new watcher. */
function directoriesIn(directory: string): [key: string, directory: string][] {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (!found) return []
  const below = readdirSync(directory, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .flatMap(({ name }) => directoriesIn(join(directory, name)))
  return [[`${found.ino} ${directory}`, directory], ...below]
}
