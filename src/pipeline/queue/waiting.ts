/** What deferred mail was told, for the operator's eyes. */
import type { Id } from '../../lib/ids.ts'
import { type Db, DELIVERY_CLASS, DELIVERY_STATE } from '../../store/schema.ts'

/**
 * What the deferred delivery of the domain that is due first was told; undefined when none is deferred.
 * @param accountId the only one whose deliveries count, which spares a look at all of them; that of any when
 * absent
 */
export async function findLastReply(
  db: Db,
  domain: string,
  accountId?: Id,
): Promise<{ lastReply: string | null; lastMxHost: string | null } | undefined> {
  return db
    .selectFrom('deliveries')
    .select(['lastReply', 'lastMxHost'])
    .where('state', '=', DELIVERY_STATE.waiting)
    .where('domain', '=', domain)
    .where('class', '=', DELIVERY_CLASS.retry)
    .$if(accountId !== undefined, query => query.where('accountId', '=', accountId!))
    .orderBy('nextAt')
    .limit(1)
    .executeTakeFirst()
}
