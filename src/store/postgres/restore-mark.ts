/** Name of the table that marks a database into which a restore has not been completed. */
export const RESTORE_MARK = 'mailhorn_restore'
