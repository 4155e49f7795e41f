/** What is kept of other domains' TLS: the policies they have published, and what came of sessions with their hosts. */
import { command } from './command.ts'
import type { MtaStsPolicyRow } from './schema/tls.ts'

export const tlsCommands = {
  putStsPolicy: command<MtaStsPolicyRow, void>(async (tx, { domain, ...policy }) => {
    await tx.db
      .insertInto('mtaStsPolicies')
      .values({ domain, ...policy })
      .onConflict(conflict => conflict.column('domain').doUpdateSet(policy))
      .execute()
  }),

  /** Those that have ended. */
  dropStsPolicies: command<{ now: number }, void>(async (tx, { now }) => {
    await tx.db.deleteFrom('mtaStsPolicies').where('expiresAt', '<=', now).execute()
  }),
}
