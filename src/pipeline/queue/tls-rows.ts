/**
 * Stores the MTA-STS policies of other domains, and the TLS results of sessions with their hosts (RFC 8460).
 */
import type { Clock } from '../../lib/clock.ts'
import { command, type Run } from '../../store/model/command.ts'
import type { MtaStsPolicyRow, TlsResultRow } from '../../store/model/schema/tls.ts'
import type { Db } from '../../store/model/schema.ts'

export const tlsCommands = {
  putStsPolicy: command<MtaStsPolicyRow, void>(async (tx, { domain, ...policy }) => {
    await tx.db
      .insertInto('mtaStsPolicies')
      .values({ domain, ...policy })
      .onConflict(conflict => conflict.column('domain').doUpdateSet(policy))
      .execute()
  }),

  /** Deletes policies that have expired. */
  dropStsPolicies: command<{ now: number }, void>(async (tx, { now }) => {
    await tx.db.deleteFrom('mtaStsPolicies').where('expiresAt', '<=', now).execute()
  }),

  /** Adds to the counts of the same day, domain, policy, result and host. */
  addTlsResults: command<TlsResultRow[], void>(async (tx, rows) => {
    for (const row of rows)
      await tx.db
        .insertInto('tlsResults')
        .values(row)
        .onConflict(conflict =>
          conflict
            .columns(['day', 'domain', 'policyType', 'result', 'mxHost'])
            .doUpdateSet(eb => ({ count: eb('tlsResults.count', '+', eb.ref('excluded.count')) })),
        )
        .execute()
  }),

  dropTlsResults: command<{ day: string; domain: string }, void>(async (tx, { day, domain }) => {
    await tx.db.deleteFrom('tlsResults').where('day', '=', day).where('domain', '=', domain).execute()
  }),
}

const REPORTS_MAX = 1_000

/** Days before `day` with results, by domain, the oldest first. */
export function listTlsDays(db: Db, day: string): Promise<Pick<TlsResultRow, 'day' | 'domain'>[]> {
  return db
    .selectFrom('tlsResults')
    .select(['day', 'domain'])
    .distinct()
    .where('day', '<', day)
    .orderBy('day')
    .orderBy('domain')
    .limit(REPORTS_MAX)
    .execute()
}

export function listTlsResults(db: Db, day: string, domain: string): Promise<TlsResultRow[]> {
  return db
    .selectFrom('tlsResults')
    .selectAll()
    .where('day', '=', day)
    .where('domain', '=', domain)
    .orderBy('policyType')
    .orderBy('result')
    .orderBy('mxHost')
    .execute()
}

/** Deletes expired policies in one step. */
export async function* sweepStsPolicies({
  run,
  clock,
}: {
  run: Run<Pick<typeof tlsCommands, 'dropStsPolicies'>>
  clock: Clock
}): AsyncGenerator<void> {
  yield await run('dropStsPolicies', { now: clock.now() })
}
