/**
 * Prints the size of `src`: code lines (without blank lines and comments), comment lines and files of each
 * folder, beside those of the last release.
 *
 *   npm run size [-- --release]
 *
 * With --release, the present figures become those of the last release.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Size {
  code: number
  comments: number
  files: number
}

const root = join(import.meta.dirname, '..')
const releaseFile = join(import.meta.dirname, 'size-of-release.json')

/** Counts a line with code and a comment as code. */
function sizeOf(text: string): Size {
  const size: Size = { code: 0, comments: 0, files: 1 }
  let isInComment = false
  for (const line of text.split('\n').map(line => line.trim())) {
    if (line === '') continue
    const isComment = isInComment || line.startsWith('//') || line.startsWith('/*')
    if (isComment) size.comments++
    else size.code++
    if (isComment && !line.startsWith('//')) isInComment = !line.includes('*/')
  }
  return size
}

/** Folder of a file: two levels, since most parts are that deep. */
function folderOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || '.'
}

function measure(): Record<string, Size> {
  const sizes: Record<string, Size> = { total: { code: 0, comments: 0, files: 0 } }
  for (const file of globSync('**/*.{ts,tsx}', { cwd: join(root, 'src') }).sort()) {
    const size = sizeOf(readFileSync(join(root, 'src', file), 'utf8'))
    for (const name of ['total', folderOf(file)]) {
      sizes[name] ??= { code: 0, comments: 0, files: 0 }
      const sum = sizes[name]
      for (const key of ['code', 'comments', 'files'] as const) sum[key] += size[key]
    }
  }
  return sizes
}

const now = measure()
if (process.argv.includes('--release')) writeFileSync(releaseFile, `${JSON.stringify(now, null, 2)}\n`)
const released = JSON.parse(readFileSync(releaseFile, 'utf8')) as Record<string, Size>
const row = (...cells: (string | number)[]) =>
  console.log(
    cells.map((cell, i) => (i === 0 ? String(cell).padEnd(28) : String(cell).padStart(12))).join(''),
  )

row('src', 'code', 'comments', 'files', 'code then', 'files then')
for (const name of [...new Set([...Object.keys(now), ...Object.keys(released)])].sort()) {
  const [size, then] = [now[name], released[name]]
  row(name, size?.code ?? 0, size?.comments ?? 0, size?.files ?? 0, then?.code ?? '–', then?.files ?? '–')
}
