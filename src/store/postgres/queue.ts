/**
 * Queue statements for PostgreSQL. Due deliveries are claimed in one statement that skips rows locked by
 * other claims.
 */
import {
  type Claim,
  type ClaimedDelivery,
  type QueueKey,
  type QueueOps,
  queueKeyText,
} from '../model/command.ts'
import type { SqlQuery } from './connection.ts'

const QUEUE_KEYS = `unnest($1::text[], $2::int8[], $3::bytea[]`

export const CLAIM = `
  with due as materialized (
    select l.place, d.email_id, d.ordinal
    from ${QUEUE_KEYS}, $4::int8[]) with ordinality as l(domain, class, account_id, most, place)
    cross join lateral (
      select email_id, ordinal from deliveries
      where state = 0 and domain = l.domain and class = l.class and account_id = l.account_id and next_at <= $5
      order by next_at limit l.most for update skip locked) d)
  update deliveries d set state = 1, attempts = d.attempts + 1, lease_owner = $6, lease_until = $7,
    leased_at = $5
  from due where d.email_id = due.email_id and d.ordinal = due.ordinal
  returning due.place, d.email_id as "emailId", d.ordinal, d.address, d.simulated, d.attempts as attempt,
    d.expires_at as "expiresAt"`

export const NEXT_DUE = `
  select l.place, d.next_at as "nextAt"
  from ${QUEUE_KEYS}) with ordinality as l(domain, class, account_id, place)
  cross join lateral (
    select next_at from deliveries
    where state = 0 and domain = l.domain and class = l.class and account_id = l.account_id
    order by next_at limit 1) d`

const RELEASE = `
  update deliveries set state = 0, expires_at = expires_at - next_at + $2 where email_id = any($1::bytea[]) and state = 3
  returning domain, class, account_id as "accountId"`

type ClaimedRow = Omit<ClaimedDelivery, 'accountId' | 'domain' | 'class' | 'source'> & { place: number }

export function postgresQueue(query: SqlQuery): QueueOps {
  return {
    async claim(queueKeys, { owner, now, until }) {
      const names = [
        queueKeys.map(({ domain }) => domain),
        queueKeys.map(queueKey => queueKey.class),
        queueKeys.map(({ accountId }) => accountId),
      ]
      const limits = queueKeys.map(({ limit }) => limit)
      const [claimed, next] = await Promise.all([
        query({ sql: CLAIM, values: [...names, limits, now, owner, until], isPrepared: true }),
        query({ sql: NEXT_DUE, values: names, isPrepared: true }),
      ])
      const claims = queueKeys.map((): Claim => ({ deliveries: [], nextAt: null }))
      for (const { place, ...row } of claimed.rows as ClaimedRow[]) {
        // deliveries share one account id object, which makes the message to the delivery thread smaller
        const { accountId, domain, class: deliveryClass } = queueKeys[place - 1]!
        claims[place - 1]!.deliveries.push({ ...row, accountId, domain, class: deliveryClass })
      }
      for (const { place, nextAt } of next.rows as { place: number; nextAt: number }[])
        claims[place - 1]!.nextAt = nextAt
      return claims
    },
    async release(emailIds, now) {
      const { rows } = await query({ sql: RELEASE, values: [emailIds, now], isPrepared: true })
      return [...new Map((rows as QueueKey[]).map(queueKey => [queueKeyText(queueKey), queueKey])).values()]
    },
  }
}
