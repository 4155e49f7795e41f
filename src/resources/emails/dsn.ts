/** The column `dsn` of an email. */
import type { DsnRequest } from '../../protocols/smtp/dsn.ts'
import type { Json } from '../../store/model/schema.ts'

/** Notifications that were requested for the email, or that the email is one itself. */
export type Dsn = DsnRequest | 'notice'

export function readStoredDsn(stored: Json | null): Dsn | null {
  return stored === null ? null : (JSON.parse(stored) as Dsn)
}
