/** The schema that holds the tables of a store. */

/** SQL for the schema into which new tables come. Its name may need quotes, which a cast would require. */
export const OWN_SCHEMA = '(select oid from pg_namespace where nspname = current_schema())'
/** Name of the table that marks a database into which a restore has not been completed. */
export const RESTORE_MARK = 'mailhorn_restore'
