/** Limits the length of file names. Characters are Unicode code points, as JSON Schema counts them. */

/** Limit of file systems for names in ASCII. With it, the header of a download stays below 4 KB. */
export const FILE_NAME_CHARACTERS_MAX = 255
/** Length of an extension with its dot. */
const EXTENSION_CHARACTERS_MAX = 11

/** Tells whether a text has more code points, without counting those of a long text. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false
  return text.length > 2 * charactersMax || [...text].length > charactersMax
}

/** Shortens a name that is too long, and keeps its extension. */
export function shortFileName(name: string): string {
  if (!isLongerThan(name, FILE_NAME_CHARACTERS_MAX)) return name
  const extension = /\.[A-Za-z0-9]+$/.exec(name.slice(-EXTENSION_CHARACTERS_MAX))?.[0] ?? ''
  const beginning = [...name.slice(0, 2 * FILE_NAME_CHARACTERS_MAX)]
  return beginning.slice(0, FILE_NAME_CHARACTERS_MAX - extension.length).join('') + extension
}
