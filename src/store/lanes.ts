/** Finds the lanes that have waiting deliveries, by stepping over the index of due deliveries. */
import { sql } from 'kysely'
import type { Lane } from './command.ts'
import type { Db } from './schema.ts'

/** A lane and when its first delivery is due. */
export interface DueLane extends Lane {
  at: number
}

/** All of them. */
export async function listDueLanes(db: Db): Promise<DueLane[]> {
  return Array.fromAsync(stepDueLanes(db, null))
}

/** One index step a lane, however many deliveries it holds. @param domain the only one to look at, where it is given */
export async function* stepDueLanes(db: Db, domain: string | null): AsyncGenerator<DueLane> {
  const ofDomain = domain === null ? sql`` : sql`and domain = ${domain}`
  for (let last: DueLane | undefined; ; ) {
    const after = last
      ? sql`and (domain, class, account_id) > (${last.domain}, ${last.class}, ${last.accountId})`
      : sql``
    const { rows } = await sql<DueLane>`
      select domain, class, account_id, next_at as at from deliveries
      where state = 0 ${ofDomain} ${after} order by domain, class, account_id, next_at limit 1`.execute(db)
    last = rows[0]
    if (!last) return
    yield last
  }
}
