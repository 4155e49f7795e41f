/** Environment files: lines `NAME=value`, comments, and settings that are commented out. */

/**
 * Sets settings in the text of an environment file. A setting takes the place of the line that sets it, or of
 * the comment that shows it; settings without such a line are appended. All other lines are kept.
 *
 * @param text empty for a new file
 */
export function mergedSettings(text: string, settings: readonly (readonly [string, string])[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  for (const [name, value] of settings) {
    const sets = lines.findLastIndex(line => line.trimStart().startsWith(`${name}=`))
    const shows = lines.findIndex(line => line.replace(/^[#\s]*/, '').startsWith(`${name}=`))
    const at = sets === -1 ? shows : sets
    lines.splice(at === -1 ? lines.length : at, at === -1 ? 0 : 1, `${name}=${value}`)
  }
  return `${lines.join('\n')}\n`
}
