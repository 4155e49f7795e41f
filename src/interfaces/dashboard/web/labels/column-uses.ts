/** What the columns of a contact file are imported as, and the `column_uses` of the API. Pure functions. */
import type { ImportPreview } from '../api/types.ts'

type SeenColumn = ImportPreview['columns'][number]

/** Uses that a person has chosen, by names of columns: as in the options, such as `property:city`. */
export type ChosenUses = Readonly<Record<string, string>>

interface UsedColumn {
  name: string
  /** As in the options, such as `property:city`. */
  use: string
}

const FIELDS = [
  ['email', 'Email address'],
  ['first_name', 'First name'],
  ['last_name', 'Last name'],
  ['unsubscribed', 'Unsubscribed (yes or no)'],
] as const
const isField = (use: string) => FIELDS.some(([field]) => field === use)
const propertyUse = (key: string) => `property:${key}`

/**
 * Returns what each column is imported as. A property goes to the key of the audience that differs from its
 * name in case only.
 *
 * @param keys keys of the properties of the audience
 */
export function usesOf(
  columns: readonly SeenColumn[],
  chosen: ChosenUses,
  keys: readonly string[],
): UsedColumn[] {
  return columns
    .filter(({ name }) => name !== '')
    .map(({ name, use }) => {
      const known = keys.find(key => key.toLowerCase() === name.toLowerCase())
      const usual = use === 'property' ? propertyUse(keys.includes(name) ? name : (known ?? name)) : use
      return { name, use: chosen[name] ?? usual }
    })
}

/** Returns the choices with another one. The column that had the same field before is left out. */
export function withUse(
  columns: readonly UsedColumn[],
  chosen: ChosenUses,
  name: string,
  use: string,
): ChosenUses {
  const former = isField(use) ? columns.find(one => one.use === use && one.name !== name) : undefined
  return { ...chosen, ...(former && { [former.name]: 'ignore' }), [name]: use }
}

/** @returns the value of `column_uses`; undefined if every column is what its name says */
export function usesQuery(columns: readonly SeenColumn[], uses: readonly UsedColumn[]): string | undefined {
  const changed = uses.flatMap(({ name, use }): [string, unknown][] => {
    const usual = columns.find(column => column.name === name)!.use
    if (use === (usual === 'property' ? propertyUse(name) : usual)) return []
    return [[name, use.startsWith('property:') ? { property: use.slice('property:'.length) } : use]]
  })
  return changed.length > 0 ? JSON.stringify(Object.fromEntries(changed)) : undefined
}

/** Returns the uses to choose from for a column. */
export function useOptions(
  { name, use }: SeenColumn,
  keys: readonly string[],
): (readonly [use: string, label: string])[] {
  const own = isField(name) || keys.includes(name) ? [] : [name]
  return [
    ...(use === 'consent' ? [['consent', 'Says who has left'] as const] : []),
    ...FIELDS,
    ...own.map(key => [propertyUse(key), `New property “${key}”`] as const),
    ...keys.map(key => [propertyUse(key), `Property “${key}”`] as const),
    ['ignore', 'Leave out'],
  ]
}
