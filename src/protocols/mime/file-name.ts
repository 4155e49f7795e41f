/** How long the name of a file may be. Characters are Unicode code points, as JSON Schema counts them. */

/** As many as file systems take of ASCII; a download's header stays below 4 KB with it. */
export const FILE_NAME_CHARACTERS_MAX = 255
/** Length of an extension with its dot. */
const ENDING_CHARACTERS_MAX = 11

/** Whether a text has more code points than that, without counting those of a long one. */
export function isLongerThan(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false
  return text.length > 2 * charactersMax || [...text].length > charactersMax
}

/** The name, cut before its ending where it is too long. */
export function shortFileName(name: string): string {
  if (!isLongerThan(name, FILE_NAME_CHARACTERS_MAX)) return name
  const ending = /\.[A-Za-z0-9]+$/.exec(name.slice(-ENDING_CHARACTERS_MAX))?.[0] ?? ''
  const beginning = [...name.slice(0, 2 * FILE_NAME_CHARACTERS_MAX)]
  return beginning.slice(0, FILE_NAME_CHARACTERS_MAX - ending.length).join('') + ending
}
