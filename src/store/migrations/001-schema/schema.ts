/** Creates the schema of version 0.1. */
import type { Kysely } from 'kysely'
import type { Columns } from '../../model/columns.ts'
import { accounts } from './accounts.ts'
import { broadcasts } from './broadcasts.ts'
import { contacts } from './contacts.ts'
import { domains } from './domains.ts'
import { emails } from './emails.ts'
import { events } from './events.ts'
import { inbound } from './inbound.ts'
import { queue } from './queue.ts'
import { service } from './service.ts'
import { webhooks } from './webhooks.ts'

export async function up(db: Kysely<unknown>, columns: Columns): Promise<void> {
  for (const create of [
    accounts,
    domains,
    emails,
    queue,
    events,
    inbound,
    contacts,
    broadcasts,
    webhooks,
    service,
  ])
    await create(db, columns)
}
