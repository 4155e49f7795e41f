/**
 * Adds the TLS policy of domains, the MTA-STS policies of other domains, and results of TLS sessions for
 * reports.
 */
import type { Kysely } from 'kysely'
import type { Columns } from './columns.ts'

export async function up({ schema }: Kysely<unknown>, { text, integer }: Columns): Promise<void> {
  await schema
    .alterTable('domains')
    .addColumn('tls', text, c => c.notNull().defaultTo('opportunistic'))
    .execute()
  await schema
    .createTable('mta_sts_policies')
    .addColumn('domain', text, c => c.primaryKey())
    .addColumn('policy_id', text, c => c.notNull())
    .addColumn('mode', text, c => c.notNull())
    .addColumn('mx', text, c => c.notNull())
    .addColumn('max_age_seconds', integer, c => c.notNull())
    .addColumn('fetched_at', integer, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .execute()
  await schema
    .createIndex('mta_sts_policies_expires')
    .on('mta_sts_policies')
    .columns(['expires_at'])
    .execute()
  await schema
    .createTable('tls_results')
    .addColumn('day', text, c => c.notNull())
    .addColumn('domain', text, c => c.notNull())
    .addColumn('policy_type', text, c => c.notNull())
    .addColumn('result', text, c => c.notNull())
    .addColumn('mx_host', text, c => c.notNull())
    .addColumn('policy', text, c => c.notNull())
    .addColumn('reason', text)
    .addColumn('mx_ip', text)
    .addColumn('count', integer, c => c.notNull())
    .addPrimaryKeyConstraint('tls_results_pk', ['day', 'domain', 'policy_type', 'result', 'mx_host'])
    .execute()
}
