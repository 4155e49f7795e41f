/** Extracts from a source map what stack traces need, in a compact form: where each source line begins. */
import type { SourcePlaces } from '../src/lib/source-traces.ts'

export interface SourceMapText {
  sources: string[]
  mappings: string
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const CONTINUES = 32

export function sourcePlacesOf({ sources, mappings }: SourceMapText): SourcePlaces {
  const places: number[] = []
  let source = 0
  let line = 0
  mappings.split(';').forEach((segments, outLine) => {
    let outColumn = 0
    for (const segment of segments ? segments.split(',') : []) {
      const [columns, sourceStep, lineStep] = numbersIn(segment)
      outColumn += columns!
      if (sourceStep === undefined) continue
      source += sourceStep
      line += lineStep!
      if (places.at(-2) !== source || places.at(-1) !== line + 1)
        places.push(outLine, outColumn, source, line + 1)
    }
  })
  return { sources, places }
}

/** Base64 digits of five bits each, the lowest first; the lowest bit of a number is its sign. */
function* numbersIn(segment: string): Generator<number> {
  let value = 0
  let shift = 0
  for (const character of segment) {
    const digit = DIGITS.indexOf(character)
    value += (digit & ~CONTINUES) << shift
    shift += 5
    if (digit & CONTINUES) continue
    yield value & 1 ? -(value >> 1) : value >> 1
    value = 0
    shift = 0
  }
}
