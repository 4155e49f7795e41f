/**
 * Folders that are built from sources and say by a stamp which ones those were.
 * Plain JavaScript without dependencies, because it runs on whatever Node the host has.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a folder is stamped with that was built from these files, and those in these folders, by their paths from the root. */
export function stampFor(root, paths) {
  const hash = createHash('sha256')
  for (const path of paths.flatMap(path => filesIn(root, path)))
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex')
}

export function isStamped(folder, stamp) {
  const path = join(folder, 'stamp')
  return existsSync(path) && readFileSync(path, 'utf8') === stamp
}

/**
 * Has it built beside what is there, and puts it in its place as a whole: several may build at once.
 * @param build is given the folder to write to
 */
export async function replaceStamped(folder, stamp, build) {
  const fresh = `${folder}.${process.pid}`
  const former = `${fresh}.former`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  try {
    await build(fresh)
    writeFileSync(join(fresh, 'stamp'), stamp)
    if (existsSync(folder)) renameSync(folder, former)
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    if (!isStamped(folder, stamp)) throw error
  } finally {
    rmSync(former, { recursive: true, force: true })
  }
}

function filesIn(root, path) {
  try {
    return readdirSync(join(root, path), { withFileTypes: true })
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap(entry =>
        entry.isDirectory() ? filesIn(root, `${path}/${entry.name}`) : [`${path}/${entry.name}`],
      )
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path]
    throw error
  }
}
