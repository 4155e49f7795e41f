/**
 * Maps stack traces of bundled programs to their sources. The source map of `x.js` is the file `x.js.places`
 * beside it, which `scripts/source-places.ts` writes.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** Contents of a `.places` file. */
export interface SourcePlaces {
  /** Paths of the source files, relative to the root of the project. */
  sources: string[]
  /**
   * Four numbers per place: line and column in the bundle, both from 0; index in `sources`; line in the
   * source, from 1.
   */
  places: number[]
}

const STEP = 4
const PLACE = /(file:\/\/[^\s()]+\.js):(\d+):(\d+)/

/**
 * Installs the mapping for this thread. Tables are read when the first stack trace is formatted.
 * @param root folder that the paths of sources are relative to
 */
export function traceSources(root: string): void {
  const known = new Map<string, SourcePlaces | undefined>()
  const placesOf = (url: string) => {
    if (!known.has(url)) known.set(url, readAudiences(url))
    return known.get(url)
  }
  Error.prepareStackTrace = (error, frames) =>
    [
      Error.prototype.toString.call(error),
      ...frames.map(frame => inSources(`${frame}`, root, placesOf)),
    ].join('\n    at ')
}

/** Maps one frame of a stack trace. A frame that is in no bundle stays unchanged. */
export function inSources(
  frame: string,
  root: string,
  placesOf: (url: string) => SourcePlaces | undefined,
): string {
  return frame.replace(PLACE, (whole, url: string, line: string, column: string) => {
    const table = placesOf(url)
    const found = table && lookUp(table, Number(line) - 1, Number(column) - 1)
    return found ? `${pathToFileURL(join(root, found.source))}:${found.line}` : whole
  })
}

/** Finds the last place that is not behind the position. */
function lookUp({ sources, places }: SourcePlaces, line: number, column: number) {
  let low = 0
  let high = places.length / STEP
  while (low < high) {
    const middle = (low + high) >> 1
    const [atLine, atColumn] = [places[middle * STEP]!, places[middle * STEP + 1]!]
    if (atLine < line || (atLine === line && atColumn <= column)) low = middle + 1
    else high = middle
  }
  if (low === 0) return undefined
  const [source, sourceLine] = [places[low * STEP - 2]!, places[low * STEP - 1]!]
  return { source: sources[source]!, line: sourceLine }
}

function readAudiences(url: string): SourcePlaces | undefined {
  try {
    return JSON.parse(readFileSync(`${fileURLToPath(url)}.places`, 'utf8')) as SourcePlaces
  } catch {
    return undefined // the file is not a bundle of this program
  }
}
