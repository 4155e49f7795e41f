/** Creates the tables of the service itself: settings, certificates, alerts and the log of requests. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function service(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createSettings(db, columns)
  await createCertificates(db, columns)
  await createRequestLog(db, columns)
}

/** Alerts to the operator have one row per kind, provider and source address an hour. */
async function createSettings(
  { schema }: Kysely<unknown>,
  { text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('settings')
    .addColumn('key', text, c => c.primaryKey())
    .addColumn('value', text, c => c.notNull())
    .execute()
  await schema
    .createTable('operator_alerts')
    .addColumn('hour', integer, c => c.notNull())
    .addColumn('kind', text, c => c.notNull())
    .addColumn('provider', text, c => c.notNull())
    .addColumn('source_ip', text, c => c.notNull())
    .addColumn('raised_at', integer, c => c.notNull())
    .addColumn('mx_host', text)
    .addColumn('domain', text, c => c.notNull())
    .addColumn('reply', text, c => c.notNull())
    .addPrimaryKeyConstraint('operator_alerts_key', ['hour', 'kind', 'provider', 'source_ip'])
    .modifyEnd(clustered)
    .execute()
}

async function createCertificates(
  { schema }: Kysely<unknown>,
  { text, integer, bytes }: Columns,
): Promise<void> {
  await schema
    .createTable('acme_accounts')
    .addColumn('directory_url', text, c => c.primaryKey())
    .addColumn('key', bytes, c => c.notNull())
    .addColumn('url', text)
    .addColumn('created_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('certificates')
    .addColumn('host', text, c => c.primaryKey())
    .addColumn('directory_url', text, c => c.notNull())
    .addColumn('names', text, c => c.notNull())
    .addColumn('chain', text)
    .addColumn('key', bytes)
    .addColumn('starts_at', integer)
    .addColumn('ends_at', integer)
    .addColumn('next_at', integer, c => c.notNull())
    .addColumn('order_url', text)
    .addColumn('order_key', bytes)
    .addColumn('failures', integer, c => c.notNull())
    .addColumn('fault', text)
    .addColumn('failed_at', integer)
    .addColumn('lease_owner', text)
    .addColumn('lease_until', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('acme_challenges')
    .addColumn('token', text, c => c.primaryKey())
    .addColumn('type', text, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('answer', text, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .execute()
  await schema.createIndex('acme_challenges_of_name').on('acme_challenges').column('name').execute()
}

/** Bodies are stored apart, so that scans of the log read short rows. */
async function createRequestLog(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes, clustered }: Columns,
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
    .where(sql<boolean>`failed_id is not null`)
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
