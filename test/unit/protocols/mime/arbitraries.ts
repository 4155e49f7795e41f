/**
 * Properties over awkward text, for a seed that is printed and can be given: `TEST_SEED=7 node
 * scripts/test.ts …`.
 */
import { fc } from '../../../kit/property.ts'

export const seed = Number(process.env.TEST_SEED ?? 20_261_121)
const numRuns = Number(process.env.TEST_RUNS ?? 300)
console.log(`seed ${seed}, ${numRuns} runs`)

const naughty = [
  ...['=?UTF-8?Q?x?=', '=?', '?=', '=', '=3D', '%41', "utf-8''", '--=_mixed', '--', '.', '..', 'From '],
  ...['\r\n', '\n', '\r', '\n\n\n', ' ', '   ', '\t', '\0', '\x07', '\x0b', '\f', '\x1b', '\x7f', '\x85'],
  ...['\u00a0', '\u2028', '\u2029', '\u3000', '\u200b', '\u200d', '\u202e', '\ud800', '\udc00', '\ufffd'],
  ...[
    'é',
    'e\u0301',
    'ß'.repeat(40),
    '日本語',
    '👩‍👩‍👧',
    '𝒳',
    'ﷺ',
    'x'.repeat(77),
    'y'.repeat(1200),
    'word '.repeat(30),
  ],
  ...['"', '\\', '\\"', "'", '<', '>', '<b>', '&nbsp;', ';', ',', ':', '@', '(', ')', '[', '*', '/', '../'],
]

/** Text as no sensible person writes it. */
export const awkwardText = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...naughty) },
      { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
      { weight: 2, arbitrary: fc.string({ maxLength: 40 }) },
    ),
    { maxLength: 14 },
  )
  .map(pieces => pieces.join(''))

export function checked<T>(values: fc.Arbitrary<T>, predicate: (value: T) => void): void {
  fc.assert(fc.property(values, predicate), { seed, numRuns })
}

export async function checkedAsync<T>(
  values: fc.Arbitrary<T>,
  predicate: (value: T) => Promise<void>,
): Promise<void> {
  await fc.assert(fc.asyncProperty(values, predicate), { seed, numRuns })
}
