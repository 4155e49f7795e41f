/** What the client says about columns of a contact file that may tell who has left. */
import { shortened } from '../../../lib/shortened.ts'
import { ImportFault } from './fault.ts'

/**
 * Meaning of a column: `property` if it does not say who has left, `ignore` if it is not imported either, or
 * whether the contacts with a value have left. The value `''` stands for empty cells, `*` for all that are
 * not named.
 */
export type ColumnMeaning = 'property' | 'ignore' | ReadonlyMap<string, boolean>

/** Meanings by names of columns. */
export type ColumnMeanings = ReadonlyMap<string, ColumnMeaning>

export const OTHER_VALUES = '*'

/** Longer values are shortened in questions, and compared by their beginning. */
export const VALUE_CHARACTERS_MAX = 100

/** Values are compared without regard to case and to blanks around them. */
export function answeredValue(cell: string): string {
  return shortened(cell.trim(), VALUE_CHARACTERS_MAX).toLowerCase()
}

/** @throws ImportFault if a column is not in the header row */
export function requireColumns(names: readonly string[], meanings: ColumnMeanings): void {
  for (const name of meanings.keys())
    if (!names.includes(name))
      throw new ImportFault(
        'column_meanings',
        `\`column_meanings\` names the column \`${name}\`, which the header row does not contain.`,
      )
}
