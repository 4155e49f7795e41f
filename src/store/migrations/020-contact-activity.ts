/**
 * Creates the table of the last email to each contact, and of the last open and click. Begins with what the
 * emails tell that are still kept. Called by `migrate.ts`.
 */
import { type Kysely, sql } from 'kysely'
import type { Columns } from '../model/columns.ts'

export async function up(db: Kysely<unknown>, { id, integer, clustered }: Columns): Promise<void> {
  await db.schema
    .createTable('contact_activity')
    .addColumn('contact_id', id, c => c.notNull())
    .addColumn('last_sent_at', integer)
    .addColumn('last_opened_at', integer)
    .addColumn('last_clicked_at', integer)
    .addPrimaryKeyConstraint('contact_activity_pk', ['contact_id'])
    .modifyEnd(clustered)
    .execute()
  // the time of the last visit may be that of a machine; visits of machines alone do not count
  await sql`
    insert into contact_activity (contact_id, last_sent_at, last_opened_at, last_clicked_at)
    select contacts.id, max(deliveries.last_attempt_at),
      max(case when visits.link < 0 then visits.last_at end),
      max(case when visits.link >= 0 then visits.last_at end)
    from deliveries
    join contacts on contacts.account_id = deliveries.account_id and contacts.email = lower(deliveries.address)
    left join visits on visits.email_id = deliveries.email_id and visits.ordinal = deliveries.ordinal
      and visits.count > 0
    where deliveries.last_attempt_at is not null and exists (select 1 from contacts)
    group by contacts.id`.execute(db)
}
