/** Environment files: lines `NAME=value`, comments, and settings that are commented out. */

export interface MergedSettings {
  text: string
  /** Lines that had another value before, for people. */
  changes: string[]
}

/**
 * Sets settings in the text of an environment file. A setting takes the place of the line that sets it, or of
 * the comment that shows it; settings without such a line are appended. All other lines are kept.
 *
 * @param text empty for a new file
 * @param unused names whose lines are commented out
 */
export function mergedSettings(
  text: string,
  settings: readonly (readonly [name: string, value: string])[],
  unused: readonly string[] = [],
): MergedSettings {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const changes: string[] = []
  for (const [name, value] of settings) {
    const line = `${name}=${value}`
    const at = lines.findLastIndex(other => nameSetBy(other) === name)
    const shows = lines.findIndex(other => nameSetBy(other.replace(/^[#\s]*/, '')) === name)
    if (at >= 0) {
      const former = lines[at]!
      const prefix = /^\s*(?:export\s+)?/.exec(former)![0]
      if (former !== prefix + line) changes.push(`${former.trim()} is now ${line}`)
      lines[at] = prefix + line
    } else if (shows >= 0) lines[shows] = line
    else lines.push(line)
  }
  for (const [at, line] of lines.entries())
    if (unused.includes(nameSetBy(line) ?? '')) {
      changes.push(`${line.trim()} is commented out`)
      lines[at] = `#${line}`
    }
  return { text: `${lines.join('\n')}\n`, changes }
}

function nameSetBy(line: string): string | undefined {
  return /^\s*(?:export\s+)?([A-Z0-9_]+)=/.exec(line)?.[1]
}
