/** What the client says about columns of a contact file. */
import { shortened } from '../../../lib/shortened.ts'
import type { FieldColumn } from '../properties.ts'
import { ImportFault } from './fault.ts'

/**
 * Meaning of a column: `property` if it does not say who has left, `ignore` if it is not imported either, or
 * whether the contacts with a value have left. The value `''` stands for empty cells, `*` for all that are
 * not named.
 */
export type ColumnMeaning = 'property' | 'ignore' | ReadonlyMap<string, boolean>

/** Meanings by names of columns. */
export type ColumnMeanings = ReadonlyMap<string, ColumnMeaning>

/** A field of the contact, `ignore` for a column that is not imported, or the key of a property. */
export type ColumnUse = FieldColumn | 'ignore' | { property: string }

/** Uses by names of columns. Other columns are what their names say. */
export type ColumnUses = ReadonlyMap<string, ColumnUse>

export const OTHER_VALUES = '*'

/** Longer values are shortened in questions, and compared by their beginning. */
export const VALUE_CHARACTERS_MAX = 100

/** Values are compared without regard to case and to blanks around them. */
export function answeredValue(cell: string): string {
  return shortened(cell.trim(), VALUE_CHARACTERS_MAX).toLowerCase()
}

/**
 * @param by name of the parameter that names the columns
 * @throws ImportFault if a column is not in the header row
 */
export function requireColumns(names: readonly string[], by: string, named: Iterable<string>): void {
  for (const name of named)
    if (!names.includes(name))
      throw new ImportFault(
        by,
        `\`${by}\` names the column \`${name}\`, which the header row does not contain.`,
      )
}
