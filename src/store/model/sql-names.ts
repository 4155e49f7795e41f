/** Column and table names in SQL. */

/** Converts a property name to the name of its column, such as `accountId` to `account_id`. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
