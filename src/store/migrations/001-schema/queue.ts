/** Creates the tables of deliveries, their attempts, and the state of destinations. */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function queue(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createDeliveries(db, columns)
  await createHolds(db, columns)
  await createDestinations(db, columns)
  await createTlsPolicies(db, columns)
}

async function createDeliveries(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('deliveries')
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('ordinal', integer, c => c.notNull())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('address', text, c => c.notNull())
    .addColumn('domain', text, c => c.notNull())
    .addColumn('kind', text, c => c.notNull())
    .addColumn('class', integer, c => c.notNull())
    .addColumn('state', integer, c => c.notNull())
    .addColumn('status', text, c => c.notNull())
    .addColumn('attempts', integer, c => c.notNull())
    .addColumn('next_at', integer, c => c.notNull())
    .addColumn('expires_at', integer, c => c.notNull())
    .addColumn('lease_owner', text)
    .addColumn('lease_until', integer)
    .addColumn('last_reply', text)
    .addColumn('last_mx_host', text)
    .addColumn('last_attempt_at', integer)
    .addColumn('signed_at', integer)
    .addColumn('signatures', text)
    .addColumn('proof', bytes)
    .addColumn('simulated', flag, c => c.notNull().defaultTo(0))
    .addPrimaryKeyConstraint('deliveries_pk', ['email_id', 'ordinal'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('deliveries_due')
    .on('deliveries')
    .columns(['domain', 'class', 'account_id', 'next_at'])
    .where(sql<boolean>`state = 0`)
    .execute()
  await schema
    .createIndex('deliveries_leased')
    .on('deliveries')
    .column('lease_until')
    .where(sql<boolean>`state = 1`)
    .execute()
  await schema
    .createIndex('deliveries_held')
    .on('deliveries')
    .columns(['email_id', 'ordinal', 'domain', 'class', 'account_id'])
    .where(sql<boolean>`state = 4`)
    .execute()
  await schema
    .createTable('attempts')
    .addColumn('email_id', id, c => c.notNull())
    .addColumn('ordinal', integer, c => c.notNull())
    .addColumn('number', integer, c => c.notNull())
    .addColumn('started_at', integer, c => c.notNull())
    .addColumn('finished_at', integer)
    .addColumn('outcome', text, c => c.notNull())
    .addColumn('phase', text)
    .addColumn('reply', text)
    .addColumn('mx_host', text)
    .addColumn('mx_ip', text)
    .addColumn('tls', text)
    .addColumn('transcript', text)
    .addColumn('broke_off', flag)
    .addColumn('record', bytes)
    .addPrimaryKeyConstraint('attempts_pk', ['email_id', 'ordinal', 'number'])
    .modifyEnd(clustered)
    .execute()
}

async function createHolds({ schema }: Kysely<unknown>, { id, text, integer, flag }: Columns): Promise<void> {
  await schema
    .createTable('queue_holds')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('domain', text)
    .addColumn('account_id', id)
    .addColumn('broadcast_id', id)
    .addColumn('email_id', id)
    .addColumn('reason', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('released_at', integer)
    .addColumn('is_pause', flag, c => c.notNull().defaultTo(0))
    .execute()
}

/** Pauses and limits of destinations, so that a restart does not contact them again at once. */
async function createDestinations(
  { schema }: Kysely<unknown>,
  { text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('domain_sites')
    .addColumn('domain', text, c => c.primaryKey())
    .addColumn('site', text, c => c.notNull())
    .addColumn('seen_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('domain_sites_site').on('domain_sites').columns(['site', 'domain']).execute()
  await schema
    .createTable('destination_replies')
    .addColumn('day', text, c => c.notNull())
    .addColumn('site', text, c => c.notNull())
    .addColumn('form', text, c => c.notNull())
    .addColumn('example', text, c => c.notNull())
    .addColumn('result', text, c => c.notNull())
    .addColumn('class', text, c => c.notNull())
    .addColumn('count', integer, c => c.notNull())
    .addColumn('last_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('destination_replies_pk', ['day', 'site', 'form'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('site_states')
    .addColumn('site', text, c => c.notNull())
    .addColumn('source', text, c => c.notNull())
    .addColumn('paused_until', integer, c => c.notNull())
    .addColumn('pause_ms', integer, c => c.notNull())
    .addColumn('reason', text, c => c.notNull())
    .addColumn('changed_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('site_states_pk', ['site', 'source'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('site_caps')
    .addColumn('site', text, c => c.primaryKey())
    .addColumn('per_minute', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .modifyEnd(clustered)
    .execute()
}

/** MTA-STS policies of other domains, and results of TLS sessions for reports. */
async function createTlsPolicies({ schema }: Kysely<unknown>, { text, integer }: Columns): Promise<void> {
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
  await schema.createIndex('mta_sts_policies_expires').on('mta_sts_policies').column('expires_at').execute()
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
