/**
 * Removes what deleted accounts have left, in small steps between which other commands run: webhooks and
 * domains first, so that others can use the names, then mail, contacts, templates and records.
 *
 * Every step looks for what is left, so that the next round continues after a crash. An account whose mail is
 * being attempted is finished in a later round. Started by `app/maintenance.ts`.
 */
import type { Clock } from '../../lib/clock.ts'
import type { Id } from '../../lib/ids.ts'
import type { audienceCommands } from '../../resources/contacts/audience-commands.ts'
import {
  type deletedAudienceCommands,
  sweepDeletedAudiences,
} from '../../resources/contacts/deleted-audiences.ts'
import type { topicCommands } from '../../resources/contacts/topic-commands.ts'
import type { domainCommands } from '../../resources/domains/commands.ts'
import type { Deleted, retentionCommands } from '../../resources/retention/commands.ts'
import type { inboundRetentionCommands } from '../../resources/retention/inbound-commands.ts'
import type { templateCommands } from '../../resources/templates/commands.ts'
import type { BlobFiles } from '../../store/blobs/blobs.ts'
import type { Run } from '../../store/model/command.ts'
import type { Db } from '../../store/model/schema.ts'
import type { scheduledCommands } from '../accept/scheduled.ts'
import { ANY_MAIL } from '../queue/hold-rows.ts'
import type { QueueAdmin } from '../queue/queue-admin.ts'
import type { webhookCommands } from '../webhooks/commands.ts'
import type { DeletedAccount, deletionCommands } from './commands.ts'

type DeletionCommands = typeof deletionCommands &
  typeof webhookCommands &
  typeof domainCommands &
  typeof scheduledCommands &
  typeof retentionCommands &
  typeof inboundRetentionCommands &
  typeof audienceCommands &
  typeof topicCommands &
  typeof deletedAudienceCommands &
  typeof templateCommands

export interface DeletionOptions {
  db: Db
  run: Run<DeletionCommands>
  blobs: BlobFiles
  queueAdmin: Pick<QueueAdmin, 'cancel'>
  clock: Clock
  /** Called when nothing of the account is left. */
  onGone(account: DeletedAccount): void
}

const ROWS_PER_STEP_MAX = 200
const DAY_MS = 86_400_000
/** Requests that began before the deletion may still be written to the log; then none are left. */
const SETTLED_MS = 2 * 60_000

/** Yields after each step. */
export async function* sweepDeletedAccounts(options: DeletionOptions): AsyncGenerator<void> {
  const { db, run, clock, onGone } = options
  const accounts = await db
    .selectFrom('accounts')
    .select(['id', 'name', 'deletedAt'])
    .where('deletedAt', 'is not', null)
    .orderBy('deletedAt')
    .execute()
  for (const { id, name, deletedAt } of accounts) {
    yield* deleteReachable(options, id)
    yield* deleteMail(options, id)
    yield* deleteContacts(options, id)
    for (const template of await idsOf(db, 'templates', id)) {
      await run('deleteTemplate', { accountId: id, id: template })
      yield
    }
    while (await run('deletePlainRowsOf', { accountId: id, limit: ROWS_PER_STEP_MAX })) yield
    if (clock.now() - deletedAt! < SETTLED_MS) continue
    if (await run('forgetAccount', id)) onGone({ id, name })
    yield
  }
}

/** Deletes what others can reach or wait for: webhooks, domains and broadcasts. */
async function* deleteReachable(options: DeletionOptions, accountId: Id): AsyncGenerator<void> {
  const { db, run, clock } = options
  for (const id of await idsOf(db, 'webhooks', accountId)) {
    await run('deleteWebhook', { accountId, id })
    yield
  }
  for (const id of await idsOf(db, 'domains', accountId)) {
    await run('deleteDomain', { accountId, id, at: clock.now() })
    yield
  }
  for (let more = true; more; yield) {
    const deleted = await run('deleteBroadcastOf', accountId)
    await discardFiles(options, deleted)
    more = deleted.more
  }
}

async function discardFiles(
  { blobs, db }: DeletionOptions,
  { unusedFiles }: Pick<Deleted, 'unusedFiles'>,
): Promise<void> {
  for (const name of unusedFiles) await blobs.discard(db, name)
}

/** Cancels queued and scheduled mail, then deletes all mail that is not being attempted. */
async function* deleteMail(options: DeletionOptions, accountId: Id): AsyncGenerator<void> {
  const { run, db, queueAdmin, clock } = options
  for (let hasMore = true; hasMore; yield)
    hasMore = (await queueAdmin.cancel({ ...ANY_MAIL, accountId })).hasMore
  for (const id of await idsOfScheduled(db, accountId)) {
    await run('cancelEmail', { accountId, id, now: clock.now() })
    yield
  }
  const beyond = { accountId, horizon: clock.now() + DAY_MS }
  for (let more = true; more; yield) {
    const deleted = await run('deleteBeyond', beyond)
    await discardFiles(options, deleted)
    more = deleted.more
  }
  for (let more = true; more; yield) {
    const deleted = await run('deleteInboundBeyond', beyond)
    await discardFiles(options, deleted)
    more = deleted.more
  }
}

async function* deleteContacts(options: DeletionOptions, accountId: Id): AsyncGenerator<void> {
  const { db, run, clock } = options
  for (const [table, name] of [
    ['audiences', 'deleteAudience'],
    ['topics', 'deleteTopic'],
  ] as const)
    for (const id of await idsOf(db, table, accountId)) {
      await run(name, { accountId, id, at: clock.now() })
      yield
    }
  yield* sweepDeletedAudiences(options)
}

async function idsOf(
  db: Db,
  table: 'webhooks' | 'domains' | 'audiences' | 'topics' | 'templates',
  accountId: Id,
): Promise<Id[]> {
  const rows = await db.selectFrom(table).select('id').where('accountId', '=', accountId).execute()
  return rows.map(({ id }) => id)
}

/** The rest of more scheduled emails is canceled in the next round. */
async function idsOfScheduled(db: Db, accountId: Id): Promise<Id[]> {
  const rows = await db
    .selectFrom('emails')
    .select('id')
    .where('accountId', '=', accountId)
    .where('status', '=', 'scheduled')
    .limit(10_000)
    .execute()
  return rows.map(({ id }) => id)
}
