/** Column and table names in SQL. */

/** `accountId` is `account_id` there. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}
