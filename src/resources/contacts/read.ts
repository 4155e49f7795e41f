/**
 * Reads audiences, contacts, segments, topics and imports, individually and by page. Called by the API, the
 * dashboard and other resources; commands read inside their transaction instead.
 */
import type { Id } from '../../lib/ids.ts'
import { findOwn } from '../../store/model/own-row.ts'
import type {
  AudienceRow,
  ContactImportRow,
  ContactRow,
  Db,
  ImportState,
  SegmentRow,
  TopicRow,
} from '../../store/model/schema.ts'
import { type FoundPage, findPage, type ListPage } from '../../store/reading/list-page.ts'
import type { Find } from '../../store/reading/read.ts'
import { type ContactPlace, type ContactRef, type ContactView, contactView } from './contact.ts'
import { unsubscribedTopicsOf } from './subscriptions.ts'
import { findContacts } from './write-contacts.ts'

type Page = Omit<ListPage, 'cursor'>

export function findAudience(db: Db, accountId: Id, id: Id): Promise<AudienceRow | undefined> {
  return findOwn(db, 'audiences', { accountId, id })
}

/** Returns undefined if the account has no audience. */
export function oldestAudience(db: Db, accountId: Id): Promise<AudienceRow | undefined> {
  return db
    .selectFrom('audiences')
    .selectAll()
    .where('accountId', '=', accountId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** Selects contacts of existing audiences, those of the oldest audience first. */
function contactsInAudiences(db: Db, accountId: Id) {
  return db
    .selectFrom('audiences')
    .innerJoin('contacts', join =>
      join
        .onRef('contacts.accountId', '=', 'audiences.accountId')
        .onRef('contacts.audienceId', '=', 'audiences.id'),
    )
    .where('audiences.accountId', '=', accountId)
    .orderBy('audiences.id')
}

/** Returns all contacts of an account with the address, at most one per audience. */
export function contactsByAddress(db: Db, accountId: Id, email: string): Promise<ContactRow[]> {
  return contactsInAudiences(db, accountId)
    .selectAll('contacts')
    .where('contacts.email', '=', email)
    .execute()
}

/** Returns the audiences that contain the address, oldest first. */
export function audiencesWith(db: Db, accountId: Id, email: string): Promise<AudienceRow[]> {
  return contactsInAudiences(db, accountId)
    .selectAll('audiences')
    .where('contacts.email', '=', email)
    .execute()
}

/** Finds a contact in the oldest audience that has it. */
export function findAccountContact(db: Db, accountId: Id, ref: ContactRef): Promise<ContactRow | undefined> {
  const contacts = contactsInAudiences(db, accountId).selectAll('contacts').limit(1)
  return 'id' in ref
    ? contacts.where('contacts.id', '=', ref.id).executeTakeFirst()
    : contacts.where('contacts.email', '=', ref.email).executeTakeFirst()
}

/** Lists the audiences, newest first. */
export async function listAudiences(db: Db, accountId: Id, page: ListPage): Promise<FoundPage<AudienceRow>> {
  const own = db.selectFrom('audiences').where('accountId', '=', accountId)
  return findPage(own, own.selectAll(), page)
}

/** Finds a contact of an existing audience. */
export async function findContact(
  { db, find }: { db: Db; find: Find },
  place: ContactPlace,
  ref: ContactRef,
): Promise<ContactView | undefined> {
  const [row] = await findContacts(find, place, [ref])
  return row && (await viewsOf(db, place.accountId, [row]))[0]
}

/** Renders contacts of one account. */
export async function viewsOf(db: Db, accountId: Id, rows: readonly ContactRow[]): Promise<ContactView[]> {
  const topicsOf = await unsubscribedTopicsOf(
    db,
    accountId,
    rows.map(({ id }) => id),
  )
  return rows.map(row => contactView(row, topicsOf(row.id)))
}

/** Finds a segment of an existing audience. */
export function findSegment(db: Db, audienceId: Id, id: Id): Promise<SegmentRow | undefined> {
  return db
    .selectFrom('segments')
    .selectAll()
    .where('audienceId', '=', audienceId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Lists the segments, newest first. */
export async function listSegments(db: Db, audienceId: Id, page: Page): Promise<FoundPage<SegmentRow>> {
  const own = db.selectFrom('segments').where('audienceId', '=', audienceId)
  return findPage(own, own.selectAll(), { ...page, cursor: null })
}

export function findTopic(db: Db, accountId: Id, id: Id): Promise<TopicRow | undefined> {
  return findOwn(db, 'topics', { accountId, id })
}

/** Lists the topics, newest first. */
export async function listTopics(db: Db, accountId: Id, page: ListPage): Promise<FoundPage<TopicRow>> {
  const own = db.selectFrom('topics').where('accountId', '=', accountId)
  return findPage(own, own.selectAll(), page)
}

/** Finds an import of an existing audience. */
export function findImport(db: Db, audienceId: Id, id: Id): Promise<ContactImportRow | undefined> {
  return db
    .selectFrom('contactImports')
    .selectAll()
    .where('audienceId', '=', audienceId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** Selects imports into all existing audiences of the account. */
function accountImports(db: Db, accountId: Id) {
  const audiences = db.selectFrom('audiences').select('id').where('accountId', '=', accountId)
  return db.selectFrom('contactImports').where('audienceId', 'in', audiences)
}

export function findAccountImport(db: Db, accountId: Id, id: Id): Promise<ContactImportRow | undefined> {
  return accountImports(db, accountId).selectAll().where('id', '=', id).executeTakeFirst()
}

/** Lists imports of the account, newest first. */
export async function listAccountImports(
  db: Db,
  accountId: Id,
  states: readonly ImportState[],
  page: ListPage,
): Promise<FoundPage<ContactImportRow>> {
  if (states.length === 0) return { total: 0, hasMore: false, rows: [] }
  const own = accountImports(db, accountId).where('state', 'in', states)
  return findPage(own, own.selectAll(), page)
}

/** Lists imports of an audience, newest first. */
export async function listImports(db: Db, audienceId: Id, page: Page): Promise<FoundPage<ContactImportRow>> {
  const own = db.selectFrom('contactImports').where('audienceId', '=', audienceId)
  return findPage(own, own.selectAll(), { ...page, cursor: null })
}
