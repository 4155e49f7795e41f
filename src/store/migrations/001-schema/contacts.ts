/** Creates the tables of audiences, contacts, segments, topics and imports. */
import type { Kysely } from 'kysely'
import type { Columns } from '../../model/columns.ts'

export async function contacts(db: Kysely<unknown>, columns: Columns): Promise<void> {
  await createAudiences(db, columns)
  await createContacts(db, columns)
  await createProperties(db, columns)
  await createTopics(db, columns)
}

async function createAudiences(
  { schema }: Kysely<unknown>,
  { id, text, integer, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('audiences')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('contact_count', integer, c => c.notNull())
    .addColumn('unsubscribed_count', integer, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('audiences_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('deleted_audiences')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('deleted_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('segments')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('audience_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('filters', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('segments_pk', ['audience_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('contact_imports')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('audience_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('state', text, c => c.notNull())
    .addColumn('row_count', integer, c => c.notNull())
    .addColumn('created_count', integer, c => c.notNull())
    .addColumn('updated_count', integer, c => c.notNull())
    .addColumn('unchanged_count', integer, c => c.notNull())
    .addColumn('skipped_count', integer, c => c.notNull())
    .addColumn('failed_count', integer, c => c.notNull())
    .addColumn('errors', text, c => c.notNull())
    .addColumn('fault', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addColumn('ended_at', integer)
    .addPrimaryKeyConstraint('contact_imports_pk', ['audience_id', 'id'])
    .modifyEnd(clustered)
    .execute()
}

async function createContacts(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('contacts')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('audience_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('email', text, c => c.notNull())
    .addColumn('folded_email', text, c => c.notNull())
    .addColumn('first_name', text)
    .addColumn('folded_first_name', text)
    .addColumn('last_name', text)
    .addColumn('folded_last_name', text)
    .addColumn('unsubscribed', flag, c => c.notNull())
    .addColumn('properties', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('contacts_pk', ['audience_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('contacts_email')
    .on('contacts')
    .columns(['account_id', 'email', 'audience_id'])
    .unique()
    .execute()
  // the index covers every column that a search compares, so that the search does not read the table
  await schema
    .createIndex('contacts_search')
    .on('contacts')
    .columns(['audience_id', 'id', 'folded_email', 'folded_first_name', 'folded_last_name', 'unsubscribed'])
    .execute()
}

async function createProperties(
  { schema }: Kysely<unknown>,
  { id, text, integer, serial, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('contact_properties')
    .addColumn('id', serial, c => c.primaryKey())
    .addColumn('audience_id', id, c => c.notNull())
    .addColumn('key', text, c => c.notNull())
    .addColumn('contact_count', integer, c => c.notNull())
    .execute()
  await schema
    .createIndex('contact_properties_key')
    .on('contact_properties')
    .columns(['audience_id', 'key'])
    .unique()
    .execute()
  await schema
    .createTable('contact_values')
    .addColumn('contact_id', id, c => c.notNull())
    .addColumn('property_id', integer, c => c.notNull())
    .addColumn('folded_value', text, c => c.notNull())
    .addPrimaryKeyConstraint('contact_values_pk', ['contact_id', 'property_id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('contact_values_value')
    .on('contact_values')
    .columns(['property_id', 'folded_value', 'contact_id'])
    .execute()
  await schema
    .createTable('property_definitions')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('key', text, c => c.notNull())
    .addColumn('type', text, c => c.notNull())
    .addColumn('fallback', text)
    .addColumn('created_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('property_definitions_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('property_definitions_key')
    .on('property_definitions')
    .columns(['account_id', 'key'])
    .unique()
    .execute()
}

/** Opt-outs are stored by address and outlive contacts. */
async function createTopics(
  { schema }: Kysely<unknown>,
  { id, text, integer, flag, bytes, clustered }: Columns,
): Promise<void> {
  await schema
    .createTable('topics')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('id', id, c => c.notNull())
    .addColumn('name', text, c => c.notNull())
    .addColumn('description', text)
    .addColumn('default_subscription', text, c => c.notNull())
    .addColumn('created_at', integer, c => c.notNull())
    .addColumn('updated_at', integer, c => c.notNull())
    .addColumn('visibility', text, c => c.notNull().defaultTo('public'))
    .addPrimaryKeyConstraint('topics_pk', ['account_id', 'id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createTable('contact_topics')
    .addColumn('contact_id', id, c => c.notNull())
    .addColumn('topic_id', id, c => c.notNull())
    .addColumn('subscribed', flag, c => c.notNull())
    .addColumn('changed_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('contact_topics_pk', ['contact_id', 'topic_id'])
    .modifyEnd(clustered)
    .execute()
  await schema
    .createIndex('contact_topics_topic')
    .on('contact_topics')
    .columns(['topic_id', 'contact_id'])
    .execute()
  await schema
    .createTable('deleted_topics')
    .addColumn('id', id, c => c.primaryKey())
    .addColumn('deleted_at', integer, c => c.notNull())
    .execute()
  await schema
    .createTable('opt_outs')
    .addColumn('account_id', id, c => c.notNull())
    .addColumn('email', text, c => c.notNull())
    .addColumn('scope', bytes, c => c.notNull())
    .addColumn('said_at', integer, c => c.notNull())
    .addPrimaryKeyConstraint('opt_outs_pk', ['account_id', 'email', 'scope'])
    .modifyEnd(clustered)
    .execute()
  await schema.createIndex('opt_outs_scope').on('opt_outs').columns(['scope', 'email']).execute()
}
