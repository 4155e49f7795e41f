/** Names in the database: the schema that holds the tables of a store, and names in statements. */

/** SQL for the schema into which new tables come. Its name may need quotes, which a cast would require. */
export const OWN_SCHEMA = '(select oid from pg_namespace where nspname = current_schema())'
/** Name of the table that marks a database into which a restore has not been completed. */
export const RESTORE_MARK = 'mailhorn_restore'

/** Quotes an identifier of SQL. For `pg_dump`, it is a pattern without wildcards. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
