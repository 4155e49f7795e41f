/** Creates the log of API requests, and their bodies apart, so that scans of the log read short rows. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from './columns.ts'

export async function up(
  { schema }: Kysely<unknown>,
  { id, text, integer, bytes, flag, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('logged_requests')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('credential_kind', text, c => c.notNull())
    .addColumn('credential_id', id, c => c.notNull())
    .addColumn('method', text, c => c.notNull())
    .addColumn('path', text, c => c.notNull())
    .addColumn('query', text)
    .addColumn('status', integer, c => c.notNull())
    .addColumn('error_name', text)
    .addColumn('user_agent', text)
    .addColumn('duration_ms', integer, c => c.notNull())
    .addColumn('resource_id', text)
    .addColumn('failed_id', id)
    .addPrimaryKeyConstraint('logged_requests_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('logged_requests_failed')
    .on('logged_requests')
    .columns(['account_id', 'failed_id'])
    .where(sql`failed_id`, 'is not', null)
    .execute()
  await schema
    .createTable('logged_bodies')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('request_id', id, c => c.notNull())
    .addColumn('request_cut', flag, c => c.notNull())
    .addColumn('response_cut', flag, c => c.notNull())
    .addColumn('packed', bytes, c => c.notNull())
    .addPrimaryKeyConstraint('logged_bodies_pk', ['account_id', 'request_id'])
    .modifyEnd(clustered)
    .execute()
}
