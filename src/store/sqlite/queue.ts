/** Queue statements for SQLite. Placeholders are written `+?`, see `StatementCompiler` in `kysely.ts`. */
import {
  type Claim,
  type ClaimedDelivery,
  type QueueKey,
  type QueueOps,
  queueKeyText,
} from '../model/command.ts'
import type { SqliteConnection } from './connection.ts'

const CLAIM = `
  update deliveries set state = 1, attempts = attempts + 1, lease_owner = +?, lease_until = +?, leased_at = +?
  where (email_id, ordinal) in (
    select email_id, ordinal from deliveries
    where state = 0 and domain = +? and class = +? and account_id = +? and next_at <= +?
    order by next_at limit +?)
  returning email_id as "emailId", ordinal, address, simulated, attempts as attempt, expires_at as "expiresAt"`

const NEXT_DUE = `
  select min(next_at) as "nextAt" from deliveries where state = 0 and domain = +? and class = +? and account_id = +?`

const RELEASE = `
  update deliveries set state = 0, expires_at = expires_at - next_at + ? where email_id = ? and state = 3
  returning domain, class, account_id as "accountId"`

type ClaimedRow = Omit<ClaimedDelivery, 'accountId' | 'domain' | 'class' | 'source'>

export function sqliteQueue(connection: SqliteConnection): QueueOps {
  return {
    async claim(queueKeys, { owner, now, until }) {
      return queueKeys.map(({ domain, class: deliveryClass, accountId, limit }): Claim => {
        const rows = connection
          .prepare(CLAIM)
          .all(owner, until, now, domain, deliveryClass, accountId, now, limit) as ClaimedRow[]
        // deliveries share one account id object, which makes the message to the delivery thread smaller
        const deliveries = rows.map(
          (row): ClaimedDelivery => ({ ...row, accountId, domain, class: deliveryClass }),
        )
        const { nextAt } = connection.prepare(NEXT_DUE).get(domain, deliveryClass, accountId) as {
          nextAt: number | null
        }
        return { deliveries, nextAt }
      })
    },
    async release(emailIds, now) {
      const statement = connection.prepare(RELEASE)
      const queueKeys = emailIds.flatMap(id => statement.all(now, id) as QueueKey[])
      return [...new Map(queueKeys.map(queueKey => [queueKeyText(queueKey), queueKey])).values()]
    },
  }
}
